/* A recording's image as an XSpace (docs/reference/xprof.md#xspace): what the recorder leaves as
 * <host>.xplane.pb, and how the viewer reads what a dead process left, so that both say the same.
 * Times are relative to the start of the recording, which "Task Environment" tells, as in jaxlib's
 * files: Unix time in ps overflows XProf's int64.
 *
 * It carries _r, step_num, flows and correlations, but no group_id: XProf derives its line of steps
 * only of files that it groups itself. (The recorder's JSON carries group_id, since its readers
 * group nothing.) Lines of a device that no reader would take for ops become "Stream #N(name)". A
 * step that had not ended is a zone: its number is recorded last. */
#ifndef VP_IMAGE_VPCAP_XSPACE_H
#define VP_IMAGE_VPCAP_XSPACE_H

#include "trace/vpcap/vpcap_lines.h"

typedef struct vx_counts {
    uint64_t bytes, events;
    uint64_t open; /* zones that had not ended */
} vx_counts;

/* Writes to a file that can be written at any offset, beginning at its position, which must be 0.
 * warnings: lines for XSpace.warnings, beside those about what the image has lost; may be empty.
 * counts may be NULL. VP_EIO, VP_ENOSPC, VP_ENOMEM. */
int vx_write(vx_counts *counts, int fd, const vpcap *v, vl_more_fn *more, void *more_ctx,
             const vp_str *warnings, size_t warning_count);

/* Whether a stat of an event is one of this format's own, and not what the program said; and
 * whether it is the one that holds a counter's value. */
bool vx_is_own_stat(vp_str name);
#define VX_COUNTER "counter_value"

/* Gives fn a sentence for everything that the image lost, if anything; a failure of fn ends it. The
 * sentences about a recording that was cut off, that nobody ended, about zones that were open then
 * (with their age), and about a ring that has gone round begin with these words, by which readers
 * know them. */
#define VX_CUT_OFF "the recording was cut off"
#define VX_UNFINISHED "the recording was not finished"
#define VX_OPEN "at its end "
#define VX_RING "the ring holds the last "
typedef int vx_say_fn(void *ctx, vp_str sentence);
int vx_losses(const vpcap *v, vx_say_fn *fn, void *ctx);

#endif
