/* Converts a recording's image to an XSpace (docs/reference/xprof.md#xspace). The recorder writes
 * it as <host>.xplane.pb, and the viewer reads the images of dead processes through it, so both
 * give the same figures. Times are relative to the start of the recording, which "Task Environment"
 * states, as in jaxlib's files: Unix time in ps overflows XProf's int64.
 *
 * The file has _r, step_num, flows and correlations, but no group_id: XProf derives its line of
 * steps only in files that it groups itself. (The recorder's JSON has group_id, because its readers
 * do not group.) Lines of a device that readers would not take for ops become "Stream #N(name)". A
 * step that had not ended is written as a zone, because its number is recorded last. */
#ifndef VP_IMAGE_VPCAP_XSPACE_H
#define VP_IMAGE_VPCAP_XSPACE_H

#include "trace/vpcap/vpcap_lines.h"

typedef struct vx_counts {
    uint64_t bytes, events;
    uint64_t open; /* zones that had not ended */
} vx_counts;

/* Writes to a file at position 0 that supports writes at any offset. warnings: additional lines for
 * XSpace.warnings, after those about losses of the image; may be empty. counts may be NULL. VP_EIO,
 * VP_ENOSPC, VP_ENOMEM. */
int vx_write(vx_counts *counts, int fd, const vpcap *v, vl_more_fn *more, void *more_ctx,
             const vp_str *warnings, size_t warning_count);

/* True if a stat of an event belongs to this format and was not set by the program. VX_COUNTER is
 * the stat with a counter's value. */
bool vx_is_own_stat(vp_str name);
#define VX_COUNTER "counter_value"

/* Calls fn with a sentence for each kind of loss; a failure of fn ends the call. Readers recognize
 * some sentences by these first words: the recording was cut off; it was never finished; zones were
 * open at that time (with their age); a ring has overwritten old zones. */
#define VX_CUT_OFF "the recording was cut off"
#define VX_UNFINISHED "the recording was not finished"
#define VX_OPEN "at its end "
#define VX_RING "the ring holds the last "
typedef int vx_say_fn(void *ctx, vp_str sentence);
int vx_losses(const vpcap *v, vx_say_fn *fn, void *ctx);

#endif
