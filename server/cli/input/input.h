/* An operand of `compare`, `merge` and `trend` becomes a report. */
#ifndef VP_CLI_INPUT_H
#define VP_CLI_INPUT_H

#include "include/view_profile.h"
#include "server/cli/language/cli_options.h"

/* The report of an operand: a report in JSON ("-": from standard input), a path whose latest
 * session is analysed, or the key of a session in the profile directory. */
int cli_input(vp_report **out, const char *operand, const cli_options *o);

#endif
