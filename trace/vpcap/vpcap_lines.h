/* Converts a recording's image to the planes and lines of a profile, with events ordered by start,
 * in memory that does not grow with the number of zones. A recorder writes zones when they end; a
 * profile lists them by start. The encoder (XSpace here, Trace Event JSON in capture/) provides the
 * functions of vl_encoder. Failures: VP_ENOMEM, VP_ELIMIT, VP_ECORRUPT, and those of the encoder.
 *
 * Zones of a thread are read in the order of their ends. Those that start within the last two
 * blocks of events are sorted in a window. The others, which are long and few, and events of other
 * lines (spans, counters) are found and stored in a first pass. */
#ifndef VP_IMAGE_VPCAP_LINES_H
#define VP_IMAGE_VPCAP_LINES_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/vpcap/vpcap_groups.h"

typedef enum vl_kind { VL_HOST, VL_GPU, VL_TPU, VL_CUSTOM } vl_kind;

typedef struct vl_plane {
    vl_kind kind;
    int64_t id;
    vp_str name;  /* "/host:CPU", "/device:GPU:0" */
    vp_str model; /* product name of the device, or empty */
} vl_plane;

typedef struct vl_line {
    uint32_t plane;
    int64_t id;
    vp_str name;
    uint32_t thread; /* index in the image, or VPCAP_NONE: a line of stored events only */
    uint64_t events;
} vl_line;

typedef struct vl_lines vl_lines;

typedef struct vl_encoder {
    /* Appends the event without its group. Returns 0 or a negative code. */
    int (*encode)(void *ctx, const vl_lines *l, const vl_line *line, const vpcap_event *e,
                  vp_buf *out);
    int (*plane_begin)(void *ctx, const vl_lines *l, const vl_plane *p);
    int (*plane_end)(void *ctx, const vl_lines *l, const vl_plane *p);
    int (*line_begin)(void *ctx, const vl_line *line);
    int (*line_end)(void *ctx, const vl_line *line);
    /* Writes the bytes of `encode`; called in the order of starts. group: that of the step if
     * wants_groups, else VG_NO_GROUP. */
    int (*event)(void *ctx, const char *p, size_t n, int64_t group);
    /* Writes n zones without further attributes, in the order of starts: zones[order[0]],
     * zones[order[1]] and so on. groups: one for each; NULL unless wants_groups. */
    int (*plain)(void *ctx, const vl_lines *l, const vl_line *line, const vpcap_plain *zones,
                 const uint32_t *order, uint32_t n, const int64_t *groups);
    bool wants_groups;
    void *ctx;
} vl_encoder;

/* Callback that adds lines and spans that the image lacks. */
typedef int vl_more_fn(void *ctx, vl_lines *l);

/* Writes a whole image. more may be NULL. */
int vl_write(const vpcap *v, const vl_encoder *enc, vl_more_fn *more, void *more_ctx);

/* For a vl_more_fn: the plane of a device, created on first use; the host's plane for VL_HOST with
 * ordinal 0. */
int vl_plane_of(uint32_t *out, vl_lines *l, vl_kind kind, int64_t ordinal, vp_str name,
                vp_str model);
/* Adds a line; the name is copied. */
int vl_line_add(uint32_t *out, vl_lines *l, uint32_t plane, int64_t id, vp_str name);
/* Adds a name that the image lacks, for use as vpcap_event.name. It is copied. */
int vl_name_add(uint32_t *out, vl_lines *l, vp_str name);
/* Adds an event to an added line. e->track is ignored; the correlation determines the group. */
int vl_span_add(vl_lines *l, uint32_t line, const vpcap_event *e);

/* Index of the thread with this id in the image, and the name of its line; VPCAP_NONE if there is
 * none. */
uint32_t vl_thread_of(const vl_lines *l, int64_t tid, vp_str *line_name);
/* Records a call on an image thread that launches the work with e->correlation, if the image does
 * not contain it. The step that contains the call becomes the group of that work. */
int vl_launch_note(vl_lines *l, uint32_t thread, const vpcap_event *e);

/* For all callbacks. */
const vpcap *vl_image(const vl_lines *l);
const vl_plane *vl_plane_at(const vl_lines *l, uint32_t plane);
/* Upper bound of vpcap_event.name; grows while lines are being added. */
uint32_t vl_names(const vl_lines *l);
vpcap_name vl_name_at(const vl_lines *l, uint32_t i);

#endif
