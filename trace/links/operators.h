/* Links device work to the host code that launched it. A kernel, copy or set leads by its
 * correlation id to a launch call; the events that enclose the call on its thread are the
 * framework's operators, nn.Modules, Python frames and annotations. A backward op inherits the
 * modules and frames of its forward op by autograd's sequence number.
 *
 * The result is stored per kind: events of one kind launched from different places become several
 * kinds with their own scope, source and operators. Definitions: docs/reference/links.md. */
#ifndef VP_LINKS_OPERATORS_H
#define VP_LINKS_OPERATORS_H

#include "trace/model/trace.h"

enum links_flags {
    LINKS_OPERATORS_ONLY = 1, /* no scopes and sources: the trace was read with
                                 rd_options.operators */
    LINKS_NOTES = 2           /* add a quality note if ops remain without an operator */
};

/* Links all device ops of a sealed trace that nobody else reads yet. Kinds that have a scope or a
 * source keep it. O(events); does nothing if no event has a correlation id. VP_ENOMEM, VP_ELIMIT.
 */
int links_operators(trace *t, unsigned flags);

#endif
