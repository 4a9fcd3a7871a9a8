/* The index of the tracks that a trace lacks (model/derived.h), which are drawn, found and summed
 * as the file's own. The server's routes include this; the caller frees the index by tl_free.
 *
 * Group i and track i of the index are those of the derived value. Tracks and kinds are told by
 * numbers that follow those of the file's index, so that both are shown side by side. */
#ifndef VP_TIMELINE_TL_DERIVED_H
#define VP_TIMELINE_TL_DERIVED_H

#include "trace/model/derived.h"
#include "trace/timeline/tl_find.h"

/* beside: of the file. Groups are called as exports call them, their own clocks shifted to the
 * host's. The category of a slice of DERIVED_PARTS is its name, that of idle time its cause;
 * the hue of the first is its derived_part.
 * VP_ENOMEM, VP_ELIMIT. */
int tl_build_derived(tl_index **out, const derived *d, const tl_index *beside);
/* What is noted of an event's slice; e is one of x, and d has notes. */
const derived_note *tl_derived_note(const tl_index *x, const derived *d, const tl_event *e);

#endif
