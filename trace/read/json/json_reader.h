/* State shared by the files of the JSON reader: one cj_reader, which lives for one call of cj_read.
 * The path of an event: chrome_json.c finds it, or json_workers.c on several threads; json_event.c
 * dispatches by phase; json_ops.c decides if it is device work; json_tracks.c, json_kinds.c and
 * json_spans.c determine track, kind and duration; cj_emit adds it to a batch. Nothing is allocated
 * per event.
 *
 * Functions return 0 or a negative code, which callers return. A faulty event is not a failure but
 * a note (cj_note). Values of fields are slices of the chunk. */
#ifndef VP_READ_JSON_READER_H
#define VP_READ_JSON_READER_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/read/bytes/sink.h"
#include "trace/read/json/json_layout.h"
#include "trace/read/json/json_scan.h"
#include "trace/read/json/json_mark.h"
#include "trace/read/json/json_text.h"

#define CJ_BATCH 64u
#define CJ_LAST_MAX 24u

enum cj_field_id {
    CJ_NAME,
    CJ_CAT,
    CJ_PH,
    CJ_PID,
    CJ_TID,
    CJ_TS,
    CJ_DUR,
    CJ_ID,
    CJ_ID2,
    CJ_SCOPE,
    CJ_ARGS,
    CJ_FIELDS,                   /* a field that is not used */
    CJ_CONTAINER = CJ_FIELDS + 1 /* "traceEvents": not an event */
};

typedef struct cj_fields {
    js_value v[CJ_FIELDS];
    bool any;       /* it has a member */
    bool container; /* it has "traceEvents" */
} cj_fields;

/* Problems of a file, counted; the first place is kept. */
typedef enum cj_note_id {
    CJ_BAD_EVENT,
    CJ_BAD_COST,
    CJ_OVERSIZED,
    CJ_NEGATIVE,
    CJ_UNKNOWN_PHASE,
    CJ_END_WITHOUT_BEGIN,
    CJ_UNCLOSED,
    CJ_UNPLACED_OP,
    CJ_NO_TIME,
    CJ_NO_TIME_SHOWN,
    CJ_NOTES
} cj_note_id;

typedef struct cj_count {
    uint64_t n;
    int64_t event, byte;
} cj_count;

/* A pid or tid as written: a number, or a name ("Spans", "stream 7"). */
typedef struct cj_token {
    int64_t number; /* 0 for names */
    vp_sid text;    /* as displayed */
    bool is_name;
} cj_token;

typedef struct cj_process {
    uint32_t token;
    vp_sid name;    /* from process_name, or 0 */
    uint32_t id;    /* in the sink; SINK_NONE until it has an event */
    bool is_device; /* named "/device:…" */
    uint32_t names; /* number of names it was given */
    bool changed;   /* since the last update of the sink */
} cj_process;

/* One half of a span that is written as two events. They are paired at the end of the file, because
 * they need not be in order of time. */
typedef struct cj_edge {
    int64_t ts_ps;
    uint32_t lane, kind;
    js_mark mark;
    uint32_t number; /* file order */
    bool is_end;
} cj_edge;

/* The scope in which halves of spans are paired: a thread (B, E), or the events of one async id. */
typedef struct cj_lane {
    uint32_t thread; /* where it began */
    uint32_t track;  /* async: track in the sink; SINK_NONE: the thread's own */
} cj_lane;

typedef struct cj_thread {
    uint32_t process, token;
    vp_sid name;    /* from thread_name, or 0 */
    uint32_t track; /* in the sink; SINK_NONE until it has an event */
    uint32_t lane;  /* of its B and E, or SINK_NONE */
    sink_role role; /* see cj_role */
    bool has_role;
    uint32_t role_names; /* number of the process's names when the role was determined */
    bool changed;        /* since the last update of the sink */
    bool has_echo;       /* has device annotations and waits, which Kineto writes next to kernels */
    bool has_own;        /* has other events that are not device work */
    int64_t last_ps;     /* the end of its latest event, or SINK_NO_TIME */
    uint64_t maybe_ops;  /* events that look like XLA ops, in a process that has no name so far */
} cj_thread;

/* A device without a process in the file: Kineto's "GPU 0", XLA's "/host:CPU:0". */
typedef struct cj_device {
    uint32_t id;    /* in the sink */
    uint32_t track; /* CPU: its only track */
    int64_t number; /* GPU: its ordinal; else -1 */
} cj_device;

/* Properties of a device in Kineto's deviceProperties. */
typedef struct cj_model {
    int64_t id;
    vp_sid name;
    sink_chip chip;
} cj_model;

/* A stream of a Kineto device; its name may follow its events. */
typedef struct cj_stream {
    uint32_t device, thread, track;
} cj_stream;

/* Maps from keys to numbers, named after their keys. */
typedef enum cj_map_id {
    CJ_BY_NUMBER, /* numeric pid or tid → token */
    CJ_BY_TEXT,   /* other pid or tid, interned → token */
    CJ_BY_PID,    /* token → process */
    CJ_BY_PAIR,   /* process, tid token → thread */
    CJ_BY_DEVICE, /* Kineto's device or XLA's CPU ordinal → device */
    CJ_BY_STREAM, /* device, thread → stream */
    CJ_BY_CAT,    /* process, category of async events or allocator → track in the sink */
    CJ_BY_ASYNC,  /* common key of async halves → lane */
    CJ_BY_KIND,   /* everything that defines a kind → kind in the sink */
    CJ_BY_SECRET, /* credential keys already reported → 0 */
    CJ_MAPS
} cj_map_id;

/* More text is not held: its events are processed at once, as times of their own. */
#define CJ_HELD_BYTES_MAX (8u << 20)

typedef struct cj_held_event {
    size_t at, n; /* of its text */
    int64_t event, byte;
} cj_held_event;

/* The text of events at time 0 at the begin of a file, until another time shows whether 0 is one.
 */
typedef struct cj_held {
    vp_buf text;
    cj_held_event *v;
    size_t n, cap;
    bool over; /* no more events are held */
} cj_held;

typedef struct cj_reader {
    sink *out;
    const rd_options *opts;
    js_skip_fn *skip;
    cj_layout layout; /* of events */
    /* of the args of such events */
    cj_layout memory_layout;
    int64_t event, byte; /* number and position of the current event */
    int64_t phased;      /* events with a phase; if there are none, the file is not a trace */
    int64_t complete;    /* complete events (X) among them */

    bool has_base;
    int64_t base_us;
    bool any_time;             /* an event has a time other than 0 */
    cj_count zeros;            /* events at time 0, while there are no others */
    cj_held held;              /* json_held.c */
    uint64_t timeless_kernels; /* among the events of the note CJ_NO_TIME */
    int64_t base_ns;           /* Kineto's baseTimeNanoseconds, or SINK_NO_TIME */

    vp_arena arena;
    vp_intern names;
    vp_map maps[CJ_MAPS];
    cj_token *tokens;
    size_t token_count, token_cap;
    cj_process *processes;
    size_t process_count, process_cap;
    cj_thread *threads;
    size_t thread_count, thread_cap;
    cj_device *devices;
    size_t device_count, device_cap;
    cj_model *models;
    size_t model_count, model_cap;
    cj_stream *streams;
    size_t stream_count, stream_cap;
    cj_lane *lanes;
    size_t lane_count, lane_cap;
    cj_edge *edges;
    size_t edge_count, edge_cap;
    int64_t last_ps; /* the end of the latest event of all, or SINK_NO_TIME */
    int64_t extent_first_ps, extent_last_ps; /* of all events with a time; first > last: none */
    char *scratch;
    size_t scratch_cap, scratch_used;

    struct {
        char pid[CJ_LAST_MAX], tid[CJ_LAST_MAX]; /* as written in the file */
        size_t pid_n, tid_n;
        uint32_t thread; /* SINK_NONE: nothing is cached */
    } last;

    bool has_device;     /* has a "/device:" process, or an op */
    bool has_xla_device; /* has a "/device:" process */
    bool has_cpu_ops;
    bool is_xla;    /* processes have XLA's names */
    bool has_marks; /* has Kineto's processes "Spans" or "Traces" */
    cj_count notes[CJ_NOTES];
    sink_event batch[CJ_BATCH];
    sink_extra extras[CJ_BATCH]; /* for events of the batch with attributes */
    size_t batch_n;
} cj_reader;

/* The attributes of one event while its args are read. */
typedef struct cj_attrs {
    sink_extra x;
    uint64_t producer_type, consumer_type, flow;
    js_value allocator; /* allocator of the event's memory */
} cj_attrs;

int cj_reader_init(cj_reader *r, sink *out, const rd_options *opts);
void cj_reader_free(cj_reader *r);

/* json_event.c: reads the fields of the object at p. JS_CLOSE with *after after its end, JS_MORE or
 * JS_BAD. */
js_step cj_event_fields(const char *p, const char *end, js_skip_fn *skip, cj_layout *layout,
                        cj_fields *f, const char **after);
/* Processes an event with these fields, once r->held.over. */
int cj_event(cj_reader *r, const cj_fields *f);

/* json_held.c: the same before. Events at time 0 at the begin of a file are held until one has
 * another time: then they are left out if times count from a distant epoch, else processed before
 * it. text: the event, and what separates it from the next one. */
int cj_early_event(cj_reader *r, const cj_fields *f, vp_str text);
/* Processes what is still held. */
int cj_held_finish(cj_reader *r);
void cj_held_free(cj_held *h);
/* Counts an event that has no time. */
void cj_note_no_time(cj_reader *r, const cj_fields *f);

/* Sets ts relative to the base, which the first event defines. false: no time (noted). */
bool cj_start(cj_reader *r, const cj_fields *f, int64_t *start_ps);
/* True if host events are unwanted; then this one is counted as skipped. */
bool cj_unwanted(cj_reader *r);

/* json_ops.c: X events with relevant args. *thread: the event's thread, or NULL if the event is
 * done. */
int cj_op(cj_reader *r, const cj_fields *f, int64_t start_ps, int64_t dur_ps, cj_thread **thread);

/* json_kineto.c: device work in the form of PyTorch's profiler. */
typedef enum cj_gpu_cat { CJ_GPU_NONE, CJ_GPU_KERNEL, CJ_GPU_COPY, CJ_GPU_MTIA } cj_gpu_cat;
cj_gpu_cat cj_gpu_cat_of(vp_str cat);
int cj_kineto_op(cj_reader *r, const cj_fields *f, cj_gpu_cat cat, sink_event *e);

/* json_attrs.c: attributes in args of single events; only read in full depth. */
static inline void cj_attrs_clear(cj_attrs *a)
{
    a->x.has = 0; /* values are valid only if their bit is set */
    a->producer_type = a->consumer_type = a->flow = 0;
    a->allocator = (js_value){VP_STR_NONE, JS_NONE};
}
/* Adds one of XLA's args; cj_attrs_close returns the resulting attributes, or NULL if there are
 * none. */
void cj_attr_take(cj_attrs *a, vp_str key, js_value v);
const sink_extra *cj_attrs_close(cj_attrs *a, js_value name);
/* Categories of framework operators (cpu_op, Operator) and of calls that launch device work
 * (cuda_runtime, cuda_driver, hip_runtime, Runtime, privateuse1_driver, …). */
typedef enum cj_caller { CJ_NO_CALLER, CJ_OPERATOR, CJ_LAUNCH } cj_caller;
cj_caller cj_caller_of(vp_str cat);
/* The correlation of a launch call, without other attributes; NULL: none. Valid as long as `a`. */
const sink_extra *cj_launch_attrs(cj_attrs *a, const cj_reader *r, const cj_fields *f);
/* Kineto's "correlation"; 0 means none. */
void cj_correlation(sink_extra *x, js_value v);
/* All attributes of a host event of any writer. Valid as long as `a`. */
const sink_extra *cj_host_attrs(cj_attrs *a, cj_reader *r, const cj_fields *f);

/* json_tracks.c. Pointers to threads are valid until the next call that creates one. */
int cj_thread_of(cj_reader *r, const cj_fields *f, cj_thread **t);
int cj_new_track(cj_reader *r, cj_thread *t);
static inline int cj_track_of(cj_reader *r, cj_thread *t, uint32_t *track)
{
    if (t->track == SINK_NONE)
        VP_TRY(cj_new_track(r, t));
    *track = t->track;
    return 0;
}
/* The thread's own name, without the parts that our exporter adds, based on the names known so
 * far. */
vp_str cj_thread_name(const cj_reader *r, const cj_thread *t);
/* Role of a thread, based on the names known so far. */
sink_role cj_role(const cj_reader *r, cj_thread *t);
int cj_process_of(cj_reader *r, uint32_t process, uint32_t *id);
int cj_async_track(cj_reader *r, const cj_thread *t, const cj_fields *f, uint32_t *track);
/* Track for events of an allocator, named after it: their many attributes would otherwise become
 * columns of a whole thread. */
int cj_memory_track(cj_reader *r, const cj_thread *t, js_value name, uint32_t *track);
int cj_metadata(cj_reader *r, const cj_fields *f);
int cj_tracks_finish(cj_reader *r);
static inline cj_process *cj_process_at(const cj_reader *r, const cj_thread *t)
{
    return &r->processes[t->process];
}

/* Reads the array of deviceProperties, before the events. */
int cj_models(cj_reader *r, vp_str array);

/* json_devices.c: op tracks of devices that have no process in the file. */
int cj_gpu_track(cj_reader *r, const cj_thread *t, js_value key, bool mtia, uint32_t *track);
int cj_cpu_track(cj_reader *r, int64_t ordinal, uint32_t *track);
int cj_devices_finish(cj_reader *r);

/* json_costs.c: PyTorch ops whose shapes give their cost. The kind gets the cost, and x the number
 * that their kernels share. Only in full depth. */
bool cj_is_costed(const cj_reader *r, const cj_fields *f);
int cj_costed_op(cj_reader *r, const cj_fields *f, sink_extra *x, uint32_t *kind);

/* json_kinds.c */
uint64_t cj_hash(js_value v, uint64_t seed); /* 0 only if absent */
int cj_kind_plain(cj_reader *r, const cj_fields *f, uint32_t *kind);
/* Makes a kind with only name and category. Its texts are in the scratch buffer, with space for
 * `more` raw bytes. */
int cj_kind_named(cj_reader *r, const cj_fields *f, size_t more, sink_kind *k);
/* Looks up a key; *kind is SINK_NONE if it is new. */
void cj_kind_get(const cj_reader *r, uint64_t key, uint32_t *kind);
int cj_kind_put(cj_reader *r, uint64_t key, const sink_kind *k, uint32_t *kind);
/* cj_scratch reserves space for the strings of a new kind. cj_text and cj_lower then convert each
 * to UTF-8, valid until the next cj_scratch. */
int cj_scratch(cj_reader *r, size_t raw_bytes);
vp_str cj_text(cj_reader *r, js_value v);
vp_str cj_lower(cj_reader *r, js_value v);

/* json_spans.c: spans written as two events. */
int cj_edge_of(cj_reader *r, const cj_fields *f, bool is_end);
int cj_async(cj_reader *r, const cj_fields *f, char phase);
int cj_spans_finish(cj_reader *r);

/* json_notes.c */
void cj_count_here(cj_count *c, const cj_reader *r); /* counts the current event */
void cj_note(cj_reader *r, cj_note_id id);
int cj_note_credential(cj_reader *r, vp_str key);
int cj_notes_report(cj_reader *r);
int cj_quality(cj_reader *r, const sink_quality *q, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* json_reader.c: emits an event; t may be NULL. */
int cj_emit(cj_reader *r, cj_thread *t, const sink_event *e);
int cj_flush(cj_reader *r);

#endif
