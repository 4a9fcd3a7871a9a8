/* Reader of the image of a recording. The recorder's threads write the image; its exporter reads it
 * when the recording ends; a file NAME.vpcap contains it if the process dies before that. All three
 * use one layout (vpcap_layout.h), so nothing is lost in between. The caller owns the image and
 * keeps it mapped; a view borrows it. An image from a file is untrusted: every offset and count is
 * checked against its size, and read only once, because a writer may still be alive. */
#ifndef VP_IMAGE_VPCAP_H
#define VP_IMAGE_VPCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

typedef struct vpcap vpcap;

typedef enum vpcap_kind {
    VPCAP_ZONE,
    VPCAP_STEP,    /* a zone; `number` is the step's */
    VPCAP_COMPILE, /* a zone */
    VPCAP_INSTANT, /* dur_ps is 0 */
    VPCAP_COUNTER, /* value in number or real */
    VPCAP_SPAN,    /* on an explicit track */
    VPCAP_LOST,    /* `number` zones are missing on this thread around this time */
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

/* Properties that all events of one call site, or of one run-time name, share. Index:
 * vpcap_event.name. */
typedef struct vpcap_name {
    vp_str name, category, function, file; /* empty: unknown */
    uint32_t line, color;                  /* 0: unknown; 0xRRGGBB */
} vpcap_name;

typedef struct vpcap_event {
    int64_t start_ps, dur_ps; /* relative to vpcap_info.start_unix_ns */
    uint32_t name;            /* < vpcap_names() */
    vpcap_kind kind;
    uint32_t track;       /* SPAN: < vpcap_tracks(); else VPCAP_NONE */
    uint32_t correlation; /* 0: none */
    bool open;            /* had not ended; it ends with the recording */
    bool is_real;         /* COUNTER: the value is in real */
    int64_t number;
    double real;
    uint64_t flow_out, flow_in; /* 0: none */
    uint32_t arg_count;
    const vpcap_arg *args; /* owned by the cursor; valid until its next event */
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
    int64_t start_unix_ns; /* event times are relative to this */
    /* End of the recording; if unfinished, end of its last event. Open zones end at the latest time
     * that any thread recorded; spans of a device may end later. */
    int64_t end_ps;
    bool finished; /* ended by vp_stop */
    bool truncated;
    bool ring;
    bool full;        /* ended because its pool was full … */
    int64_t later_ns; /* … this long before its owner ended it; 0: unknown */
    /* From this time on it has the events of all threads. Above 0 for a ring that discarded old
     * zones, and for a result of vp_capture_past. */
    int64_t begin_ps;
    /* Records that were being written when the process died; they are skipped. */
    uint64_t torn;
} vpcap_info;

/* Checks an image and makes a view of it. VP_ECORRUPT with the byte; VP_EUNSUPPORTED: layout of
 * another version; VP_ENOMEM. */
int vpcap_open(vpcap **out, const void *image, size_t n);
void vpcap_free(vpcap *v);
const vpcap_info *vpcap_info_of(const vpcap *v);

/* The image up to its last page in use. *head becomes a header for this part: together they form a
 * complete image. */
struct vpcap_header;
vp_str vpcap_taken(struct vpcap_header *head, const vpcap *v);

uint32_t vpcap_names(const vpcap *v);
uint32_t vpcap_threads(const vpcap *v);
uint32_t vpcap_devices(const vpcap *v);
uint32_t vpcap_tracks(const vpcap *v);
uint32_t vpcap_metas(const vpcap *v);
/* i must be below the count. */
vpcap_name vpcap_name_at(const vpcap *v, uint32_t i);
vpcap_thread vpcap_thread_at(const vpcap *v, uint32_t i);
vpcap_device vpcap_device_at(const vpcap *v, uint32_t i);
vpcap_track vpcap_track_at(const vpcap *v, uint32_t i);
vpcap_meta vpcap_meta_at(const vpcap *v, uint32_t i);

/* The last thread may represent all threads that a ring has discarded: it has their loss counts and
 * no events. */

/* Iterates over the events of one thread in the order of their ends (spans: in which they were
 * reported). O(1) per event, no allocation. */
typedef struct vpcap_cursor vpcap_cursor;
int vpcap_cursor_new(vpcap_cursor **out, const vpcap *v, uint32_t thread);
/* 1: an event; 0: the end. Never fails: damaged records are skipped and counted in info.torn. */
int vpcap_next(vpcap_cursor *c, vpcap_event *e);
void vpcap_cursor_free(vpcap_cursor *c);
/* Returns the number of open zones of all threads (vpcap_event.open); O(threads). Calls fn (unless
 * NULL) for each, innermost first within a thread; the duration is the zone's age at the end. */
typedef void vpcap_open_fn(void *ctx, uint32_t thread, const vpcap_event *e);
uint64_t vpcap_open_zones(const vpcap *v, vpcap_open_fn *fn, void *ctx);

/* Support for sorting a thread's events by start. After every `block` events (spans and counters
 * don't count), a walk notes the latest end so far. An event is late if it starts at or before the
 * second-to-last note. Two walks with the same block size note the same. Times are ticks since the
 * start. */
typedef struct vpcap_notes {
    int64_t limit, previous, latest;
    uint32_t block, in_block;
    bool late;       /* the current event */
    bool turned;     /* the last call completed a block, so limit has changed */
    uint64_t passed; /* events that vpcap_next_notable skipped */
} vpcap_notes;
#define VPCAP_NOTES_INIT(n)                                                                        \
    (vpcap_notes)                                                                                  \
    {                                                                                              \
        INT64_MIN, INT64_MIN, INT64_MIN, (n), 0, false, false, 0                                   \
    }

/* Counts n events, the latest of which ends at `latest`. They must fit in the block. */
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

/* Late events start at or before this time, in ps; INT64_MIN: no event is late. */
int64_t vpcap_limit_ps(const vpcap *v, const vpcap_notes *m);
/* Like vpcap_next, and notes the event. */
int vpcap_next_noted(vpcap_cursor *c, vpcap_notes *m, vpcap_event *e);
/* Like vpcap_next_noted, but skips all events except spans, counters, steps, late events, and
 * events with a flow or a correlation. Much faster if these are few. */
int vpcap_next_notable(vpcap_cursor *c, vpcap_notes *m, vpcap_event *e);

/* A zone with nothing but a name and times. */
typedef struct vpcap_plain {
    int64_t start_ps, dur_ps;
    uint32_t name;
    uint32_t more; /* 0 here; free for users that store such zones with others */
} vpcap_plain;
/* Reads and notes the plain zones that follow: at most n, none of them late, and none beyond the
 * end of a block. 0: use vpcap_next_noted for the next event. */
uint32_t vpcap_take_plain(vpcap_cursor *c, vpcap_notes *m, vpcap_plain *out, uint32_t n);

#endif
