/* Index of the tracks that a trace lacks (model/derived.h). They are drawn, searched and summed
 * like those of the file. The caller frees the index with tl_free.
 *
 * Group i and track i of the index are those of the derived value. Numbers of tracks and kinds
 * follow those of the file's index, so that both are shown together. */
#ifndef VP_TIMELINE_TL_DERIVED_H
#define VP_TIMELINE_TL_DERIVED_H

#include "trace/model/derived.h"
#include "trace/timeline/tl_find.h"

/* beside: the index of the file. Groups are named as in exports; their clocks are shifted to the
 * clock of the host. The category of a slice of DERIVED_PARTS is its name, that of idle time its
 * cause; the hue of the first is its derived_part. VP_ENOMEM, VP_ELIMIT. */
int tl_build_derived(tl_index **out, const derived *d, const tl_index *beside);
/* Adds what is recorded for the slice of an event; e is an event of x, and d has notes. */
const derived_note *tl_derived_note(const tl_index *x, const derived *d, const tl_event *e);

#endif
