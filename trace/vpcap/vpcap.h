/* The image of a recording: what the recorder's threads write into, what its exporter reads when
 * the recording ends, and what is left in a file NAME.vpcap when the process died before that. One
 * layout for all three (vpcap_layout.h), so nothing is lost in between. This header is its reading
 * side; the recorder's exporter and the reader of unfinished recordings include it. The caller owns
 * the image and keeps it mapped; a view borrows it. An image out of a file is hostile: every
 * offset and count is checked against its size, and nothing of it is believed twice (a writer may
 * still be alive). */
#ifndef VP_IMAGE_VPCAP_H
#define VP_IMAGE_VPCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

typedef struct vpcap vpcap;

typedef enum vpcap_kind {
    VPCAP_ZONE,
    VPCAP_STEP,    /* a zone; number is the step's */
    VPCAP_COMPILE, /* a zone */
    VPCAP_INSTANT, /* dur_ps is 0 */
    VPCAP_COUNTER, /* number, or real */
    VPCAP_SPAN,    /* on an explicit track */
    VPCAP_LOST,    /* zones are missing on this thread around here: `number` of them */
} vpcap_kind;

enum { VPCAP_I64, VPCAP_F64, VPCAP_STR }; /* vpcap_arg.type */
#define VPCAP_ARGS_MAX 15
#define VPCAP_NONE UINT32_MAX

typedef struct vpcap_arg {
    vp_str key, s;
    int type;
    int64_t i;
    double f;
} vpcap_arg;

/* What every event of one call site, or of one run-time name, shares. Index: vpcap_event.name. */
typedef struct vpcap_name {
    vp_str name, category, function, file; /* empty: unknown */
    uint32_t line, color;                  /* 0: unknown; 0xRRGGBB */
} vpcap_name;

typedef struct vpcap_event {
    int64_t start_ps, dur_ps; /* relative to vpcap_info.start_unix_ns */
    uint32_t name;            /* < vpcap_names() */
    vpcap_kind kind;
    uint32_t track;       /* of SPAN: < vpcap_tracks(); else VPCAP_NONE */
    uint32_t correlation; /* 0: none */
    bool open;            /* had not ended: it ends here with the recording */
    bool is_real;         /* COUNTER: real is the value */
    int64_t number;
    double real;
    uint64_t flow_out, flow_in; /* 0: none */
    uint32_t arg_count;
    const vpcap_arg *args; /* the cursor's; valid until its next event */
} vpcap_event;

typedef struct vpcap_thread {
    int64_t tid;
    vp_str name;
    uint64_t written, dropped_full, dropped_signal, dropped_depth, unmatched_ends, overwritten,
        left;
} vpcap_thread;

typedef struct vpcap_device {
    int kind, ordinal; /* vp_capture_device of view_profile_capture.h */
    vp_str model;
} vpcap_device;

typedef struct vpcap_track {
    uint32_t device;
    vp_str name;
} vpcap_track;

typedef struct vpcap_meta {
    vp_str key, value; /* integers in decimal */
} vpcap_meta;

typedef struct vpcap_info {
    vp_str host, program, session;
    int64_t pid;
    int64_t start_unix_ns; /* what event times are relative to */
    int64_t end_ps; /* of the recording; of an unfinished one the end of its last event. Zones that
                       had not ended end when the last of the threads noted a time: what is reported
                       of a device may end later */
    bool finished;  /* vp_stop ended it */
    bool truncated;
    bool ring;
    bool full;        /* its pool was full, which ended it … */
    int64_t later_ns; /* … this long before its owner did; 0: unknown */
    int64_t begin_ps; /* from then on it has the events of all threads: later than 0 in a ring that
                         gave up old zones, and in a past */
    uint64_t torn;    /* records that were being written when the process died: left out */
} vpcap_info;

/* Checks an image and makes a view of it. VP_ECORRUPT with the byte; VP_EUNSUPPORTED: another
 * version made it. */
int vpcap_open(vpcap **out, const void *image, size_t n);
void vpcap_free(vpcap *v);
const vpcap_info *vpcap_info_of(const vpcap *v);

/* The image up to the last page that was given out. *head becomes a header for just that part:
 * written over its first bytes, it makes it a whole image. */
struct vpcap_header;
vp_str vpcap_taken(struct vpcap_header *head, const vpcap *v);

uint32_t vpcap_names(const vpcap *v);
uint32_t vpcap_threads(const vpcap *v);
uint32_t vpcap_devices(const vpcap *v);
uint32_t vpcap_tracks(const vpcap *v);
uint32_t vpcap_metas(const vpcap *v);
/* i is below the count. */
vpcap_name vpcap_name_at(const vpcap *v, uint32_t i);
vpcap_thread vpcap_thread_at(const vpcap *v, uint32_t i);
vpcap_device vpcap_device_at(const vpcap *v, uint32_t i);
vpcap_track vpcap_track_at(const vpcap *v, uint32_t i);
vpcap_meta vpcap_meta_at(const vpcap *v, uint32_t i);

/* The last thread may stand for all threads that a ring has given up: it has what they lost, and no
 * events. */

/* The events of one thread in the order in which they ended (spans: in which they were reported).
 * O(1) an event, no allocation. */
typedef struct vpcap_cursor vpcap_cursor;
int vpcap_cursor_new(vpcap_cursor **out, const vpcap *v, uint32_t thread);
/* 1: an event; 0: the end. Never fails: damaged records are left out and counted in info.torn. */
int vpcap_next(vpcap_cursor *c, vpcap_event *e);
void vpcap_cursor_free(vpcap_cursor *c);
/* How many zones of all threads had not ended (vpcap_event.open); O(threads). Each is given to fn
 * (NULL: to nobody), the innermost of a thread first, with its age at the end as its duration. */
typedef void vpcap_open_fn(void *ctx, uint32_t thread, const vpcap_event *e);
uint64_t vpcap_open_zones(const vpcap *v, vpcap_open_fn *fn, void *ctx);

/* For putting the events of a thread in the order of their starts: a walk notes the latest end so
 * far after every `block` events (spans and counters do not count). An event is late if it does not
 * start after the note before the last one. Two walks with the same block note the same. Times are
 * ticks since the start. */
typedef struct vpcap_notes {
    int64_t limit, previous, latest;
    uint32_t block, in_block;
    bool late;       /* the event at hand */
    bool turned;     /* the last call completed a block, so limit has moved */
    uint64_t passed; /* events that vpcap_next_notable passed over */
} vpcap_notes;
#define VPCAP_NOTES_INIT(n)                                                                        \
    (vpcap_notes)                                                                                  \
    {                                                                                              \
        INT64_MIN, INT64_MIN, INT64_MIN, (n), 0, false, false, 0                                   \
    }

/* Counts n events, the latest of which ends at `latest`. They must fit into the block. */
static inline void vpcap_note(vpcap_notes *m, int64_t latest, uint32_t n)
{
    if (latest > m->latest)
        m->latest = latest;
    m->in_block += n;
    m->turned = m->in_block == m->block;
    if (!m->turned)
        return;
    m->in_block = 0;
    m->limit = m->previous;
    m->previous = m->latest;
}

/* Late events start at this time or before, in picoseconds; INT64_MIN: no event is late. */
int64_t vpcap_limit_ps(const vpcap *v, const vpcap_notes *m);
/* As vpcap_next, and notes the event. */
int vpcap_next_noted(vpcap_cursor *c, vpcap_notes *m, vpcap_event *e);
/* As vpcap_next_noted, but passes over all events except spans, counters, steps, late ones, and
 * those with a flow or a correlation. Much faster where these are few. */
int vpcap_next_notable(vpcap_cursor *c, vpcap_notes *m, vpcap_event *e);

/* A zone with nothing but a name and times. */
typedef struct vpcap_plain {
    int64_t start_ps, dur_ps;
    uint32_t name;
    uint32_t more; /* 0 here; free for whoever keeps such zones beside others */
} vpcap_plain;
/* Takes and notes the plain zones that come next: at most n, none of them late, none beyond the end
 * of a block. 0: what comes next is for vpcap_next_noted. */
uint32_t vpcap_take_plain(vpcap_cursor *c, vpcap_notes *m, vpcap_plain *out, uint32_t n);

#endif
