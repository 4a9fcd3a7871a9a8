/* A recording's image as the planes and lines that a profile is made of, its events in the order of
 * their starts, in memory that does not grow with the number of zones: a recorder writes zones when
 * they end, a profile lists them by start. Whoever encodes (XSpace here, Trace Event JSON in
 * capture/) gives the functions of vl_encoder.
 *
 * How: zones of a thread come by their ends, so those that lie within the last two blocks of
 * events are sorted in a window and leave it before the window ends. The others (they are long,
 * and few) and what does not belong to the thread's own line (spans, counters) are found in a pass
 * before, and kept. */
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
    vp_str model; /* what the device is sold as, or empty */
} vl_plane;

typedef struct vl_line {
    uint32_t plane;
    int64_t id;
    vp_str name;
    uint32_t thread; /* of the image, or VPCAP_NONE: a line of kept events only */
    uint64_t events;
} vl_line;

typedef struct vl_lines vl_lines;

typedef struct vl_encoder {
    /* Appends the event, all but its group. Returns 0 or a negative code. */
    int (*encode)(void *ctx, const vl_lines *l, const vl_line *line, const vpcap_event *e,
                  vp_buf *out);
    int (*plane_begin)(void *ctx, const vl_lines *l, const vl_plane *p);
    int (*plane_end)(void *ctx, const vl_lines *l, const vl_plane *p);
    int (*line_begin)(void *ctx, const vl_line *line);
    int (*line_end)(void *ctx, const vl_line *line);
    /* Takes what encode made, in the order of starts. group: the step's if groups were asked for,
     * else VG_NO_GROUP. */
    int (*event)(void *ctx, const char *p, size_t n, int64_t group);
    /* Takes n zones of which there is no more to say, in the order of starts: zones[order[0]],
     * zones[order[1]] and so on. groups: one for each of the n; NULL if they were not asked for. */
    int (*plain)(void *ctx, const vl_lines *l, const vl_line *line, const vpcap_plain *zones,
                 const uint32_t *order, uint32_t n, const int64_t *groups);
    bool wants_groups;
    void *ctx;
} vl_encoder;

/* Adds lines and spans that are not in the image. */
typedef int vl_more_fn(void *ctx, vl_lines *l);

/* Writes a whole image. more may be NULL. */
int vl_write(const vpcap *v, const vl_encoder *enc, vl_more_fn *more, void *more_ctx);

/* For a vl_more_fn. The plane of a device, which is made when first asked for; the host's plane for
 * VL_HOST with ordinal 0. */
int vl_plane_of(uint32_t *out, vl_lines *l, vl_kind kind, int64_t ordinal, vp_str name,
                vp_str model);
/* A line; the name is copied. */
int vl_line_add(uint32_t *out, vl_lines *l, uint32_t plane, int64_t id, vp_str name);
/* A name that the image does not have, to be used as vpcap_event.name. It is copied. */
int vl_name_add(uint32_t *out, vl_lines *l, vp_str name);
/* Adds an event to such a line. e->track is ignored; the correlation decides the group. */
int vl_span_add(vl_lines *l, uint32_t line, const vpcap_event *e);

/* The thread of the image with this id, and the name of its line; VPCAP_NONE if there is none. */
uint32_t vl_thread_of(const vl_lines *l, int64_t tid, vp_str *line_name);
/* Notes a call on such a thread that launches the work with e->correlation, where the image does
 * not know of it: the step that holds the call is the group of that work. */
int vl_launch_note(vl_lines *l, uint32_t thread, const vpcap_event *e);

/* For everybody. */
const vpcap *vl_image(const vl_lines *l);
const vl_plane *vl_plane_at(const vl_lines *l, uint32_t plane);
/* One more than the highest vpcap_event.name. It may still grow while lines are being added. */
uint32_t vl_names(const vl_lines *l);
vpcap_name vl_name_at(const vl_lines *l, uint32_t i);

#endif
