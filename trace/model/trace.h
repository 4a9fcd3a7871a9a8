/* A trace in memory: columns, not objects. It holds one host's events, is filled by a reader
 * through its sink, then sealed (sorted per track) and read by analyses.
 *
 *   processes ─< tracks ─< events (start, dur, kind)      kinds: what equal events share
 *
 * Each track has its own columns: 12 bytes per event (model/event_times.h), 12 more on tracks with
 * a device clock, and 4 for every attribute (sink_attr) of an event. A reader with a known number
 * of events fills the columns in place (sink_buffer). Otherwise they grow by realloc, which moves
 * large blocks by remapping pages. So nothing is copied when a trace is sealed, and no page is
 * touched before it is used (touching new memory costs more than parsing:
 * docs/reference/formats.md#reading-cost). Sealing sorts by (start asc, dur desc, file order) if a
 * track is not sorted. One arena holds all strings. A sealed trace is immutable, and many threads
 * may read it; trace_free frees everything. Failures: VP_ENOMEM, VP_ELIMIT.
 *
 * Clocks: a device event with device_offset_ps and device_duration_ps has times on both clocks.
 * Durations, unions and windows use the device's clock; positions (slowest calls, links into a
 * timeline) use the host's. Times of an XSpace are relative to the profile's start, like its lines.
 * Times of a JSON trace are relative to its earliest event, and base_unix_ns is the Unix time of
 * that if the file states it. timeline_ns of a report's device converts back to the file's own
 * time, for links. */
#ifndef VP_MODEL_TRACE_H
#define VP_MODEL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/arena.h"
#include "trace/base/map.h"
#include "trace/model/column.h"
#include "trace/model/event_times.h"
#include "trace/read/bytes/sink.h"

typedef struct trace_process {
    vp_sid name, model;
    int64_t id;
    sink_process_kind kind;
    int32_t ordinal;
    bool has_device_id;
    int64_t device_id; /* as in sink_process */
    sink_chip chip;
    /* If the trace was cut to a part: its begin and end on the process's own clock. SINK_NO_TIME:
     * begin and end of the process's ops. */
    int64_t part_start_ps, part_end_ps;
    uint32_t first_track; /* as trace_track.next; set when the trace is sealed */
} trace_process;

#define TRACE_NO_TRACK UINT32_MAX
/* Iterates over the tracks of a process, in file order. */
#define TRACE_EACH_OF(t, process_index, i)                                                         \
    for (uint32_t i = (t)->processes[process_index].first_track; i != TRACE_NO_TRACK;              \
         i = (t)->tracks[i].next)

typedef struct trace_track {
    uint32_t process;
    uint32_t next; /* next track of its process; TRACE_NO_TRACK: none */
    vp_sid name;
    int64_t id;
    sink_role role;
    bool one_timeline, spans;
    bool sorted;
    trace_times own; /* times of `count` events; read by trace_start, trace_dur, trace_kind_of */
    bool own_clock;  /* `own` is on the device's clock; one of the two below is then set */
    trace_times aligned; /* times on the host's clock, durations by sink_dur_beside; v NULL: none */
    sink_longest *longest; /* one per kind, in the order of first occurrence */
    size_t longest_n, longest_cap;
    vp_map longest_at;              /* kind → index */
    trace_column *attr[SINK_ATTRS]; /* NULL: no event has it; read by trace_attr */
    size_t count;
} trace_track;

/* How the instruction of a CUDA graph's kernel was found; its event has only the graph's launch. */
typedef enum trace_placed {
    TRACE_AS_SAID, /* not found: as stated by the event */
    TRACE_BY_NAME,
    TRACE_BY_ORDER,
} trace_placed;

typedef struct trace_kind {
    vp_sid name, long_name, category, opcode, hlo_opcode, hlo_op, module, scope, source, shape,
        stream_label, memcpy, twin_of, groups, program, launch;
    /* Framework ops that launched it (trace/links): the innermost, and the one that the user
     * called.
     */
    vp_sid op_inner, op_outer;
    int64_t program_id, bytes, flops, rows, columns, batch, group_size, hbm_bytes, graph,
        graph_node;
    bool is_op, unfinished, has_hbm;
    bool is_linked; /* trace/links found its launch, whether an operator encloses that or not */
    /* The kind that this one equals in all but its place (scope, source, operators), plus 1; 0: it
     * is no such copy. Its class and name need no second look. */
    uint32_t placed_from;
    uint8_t dtype, placed; /* trace_placed */
} trace_kind;

typedef struct trace_quality {
    const char *code;
    sink_severity severity;
    const char *message; /* in the arena */
    int64_t event, byte;
    bool partial;
} trace_quality;

/* Statistics of the values of one key in zones of one name; key 0: the values of a counter. Numbers
 * and texts are counted separately. */
typedef struct trace_arg_value {
    vp_sid text;
    uint64_t count;
} trace_arg_value;

typedef struct trace_arg {
    vp_sid zone, key;
    uint64_t numbers, texts, others; /* others: texts beyond VP_ARG_VALUES_MAX distinct ones */
    double min, max, sum, last;
    int64_t last_ps;
    trace_arg_value *values;
    uint32_t value_count;
    size_t value_cap;
} trace_arg;

typedef struct trace_meta {
    vp_sid key, value;
} trace_meta;

/* A program whose HLO proto the file contains, executed or not. Only if programs were requested
 * from the reader. */
typedef struct trace_program {
    uint64_t id;
    vp_str name;  /* "jit_step(5623765097522093075)", as in the file; in the arena */
    vp_str proto; /* a copy, in the arena */
} trace_program;

typedef struct trace {
    sink sink; /* first member: pass &trace->sink to a reader */
    vp_arena arena;
    vp_intern names;
    trace_process *processes;
    uint32_t process_count;
    trace_track *tracks;
    uint32_t track_count;
    trace_kind *kinds;
    uint32_t kind_count;
    uint64_t event_count;                     /* in the columns */
    uint64_t skipped_count;                   /* counted by the reader, not stored */
    int64_t base_unix_ns;                     /* SINK_NO_TIME: unknown */
    int64_t capture_start_ps, capture_end_ps; /* SINK_NO_TIME: unknown */
    int64_t extent_start_ps, extent_end_ps;   /* of all events; SINK_NO_TIME: unknown */
    int64_t file_origin_ns;                   /* the file's own time at relative time 0 */
    trace_quality *quality;
    uint32_t quality_count;
    uint64_t quality_dropped; /* beyond VP_QUALITY_MAX */
    trace_arg *args;
    uint32_t arg_count, meta_count, program_count;
    trace_meta *metas;
    trace_program *programs; /* sorted by id after sealing */
    uint64_t args_dropped;   /* values beyond VP_ARGS_MAX rows */
    vp_map arg_at;           /* zone << 32 | key → row */
    bool partial;
    bool graphs;          /* kinds are nodes of CUDA graphs */
    bool launches_unread; /* the file may link device ops to host events, which were not read */
    bool places_missing;  /* a requested figure needs host times of all ops, which are missing */
    int threads;          /* threads that sealed it, and may analyze it */
    size_t arg_cap, meta_cap, program_cap, process_cap, track_cap, kind_cap, quality_cap;
} trace;

int trace_new(trace **out);
void trace_free(trace *t);
/* args.c: implements arg and meta of the sink; frees what they allocated. */
int trace_put_arg(sink *s, const sink_arg *a);
int trace_put_meta(sink *s, vp_str key, vp_str value);
void trace_free_args(trace *t);
/* trace_programs.c: implements program of the sink; sorts by id, as a part of sealing; finds a
 * program by id (program_count: none). */
int trace_put_program(sink *s, const sink_program *info);
void trace_sort_programs(trace *t);
uint32_t trace_find_program(const trace *t, int64_t id);
/* Sorts the trace, assigns ops without a module to one, and makes it immutable. */
int trace_seal(trace *t);
/* The same, with this number of threads. */
int trace_seal_by(trace *t, int threads);
/* Assigns ops without a module to the module whose run contains their aligned start; a part of
 * sealing. May add kinds. */
int trace_place_modules(trace *t);
/* Assigns kernels of CUDA graphs to the recorded instructions if that is certain; a part of
 * sealing. May add kinds; a quality entry counts the unassigned kernels. */
int trace_place_graphs(trace *t);
/* variants.c, for these two: a copy of a kind, one per key of `variants`. 1: new; 0: existed.
 * VP_ENOMEM, VP_ELIMIT. */
int trace_variant(trace *t, vp_map *variants, uint64_t key, uint32_t kind, uint32_t *out);
/* Splits "jit_step(5623765097522093075)" into name and program id; *program_id is unchanged if
 * there is none. */
vp_str trace_module_name(vp_str text, int64_t *program_id);
/* Reduces a sealed track to the `n` events order[0] < order[1] < …, with new starts and durations,
 * and sorts it again. Takes ownership of own and aligned; `aligned` has as many events as the track
 * has clocks for. Call before the track is read. */
int trace_track_keep(trace_track *k, const uint32_t *order, size_t n, trace_times *own,
                     trace_times *aligned);
/* True if a track is relevant: it has events, or the trace was cut to a part without any. */
static inline bool trace_track_counts(const trace *t, const trace_track *k)
{
    return k->count || t->processes[k->process].part_start_ps != SINK_NO_TIME;
}
/* True if there is a device: a process whose op tracks have events, or had before the trace was
 * cut. */
bool trace_has_device(const trace *t);
/* Start, duration and kind of event i. */
static inline int64_t trace_start(const trace_track *k, size_t i)
{
    return trace_times_start(&k->own, i);
}
static inline int64_t trace_dur(const trace_track *k, size_t i)
{
    return trace_times_dur(&k->own, i);
}
static inline uint32_t trace_kind_of(const trace_track *k, size_t i)
{
    return trace_times_kind(&k->own, i);
}
static inline int64_t trace_end(const trace_track *k, size_t i)
{
    return trace_start(k, i) + trace_dur(k, i);
}
/* True if events have times on the host's clock in addition to their own. */
static inline bool trace_has_aligned(const trace_track *k)
{
    return k->aligned.v != NULL;
}
/* Times on the host's clock, or on the only one. */
static inline const trace_times *trace_host_times(const trace_track *k)
{
    return k->aligned.v ? &k->aligned : &k->own;
}
/* Start, duration and end of event i on the host's clock. */
static inline int64_t trace_aligned_start(const trace_track *k, size_t i)
{
    return trace_times_start(trace_host_times(k), i);
}
static inline int64_t trace_aligned_dur(const trace_track *k, size_t i)
{
    int64_t dur = trace_dur(k, i);
    return k->aligned.v ? sink_dur_from(trace_times_dur(&k->aligned, i), dur) : dur;
}
static inline int64_t trace_aligned_end(const trace_track *k, size_t i)
{
    return trace_aligned_start(k, i) + trace_aligned_dur(k, i);
}
/* Frees an attribute of all events, which then have no value. */
void trace_forget(trace *t, sink_attr a);
static inline int64_t trace_attr(const trace_track *k, sink_attr a, size_t i)
{
    return k->attr[a] ? trace_column_get(k->attr[a], i, SINK_NO_VALUE) : SINK_NO_VALUE;
}
/* The kind that `kind` was placed from (trace_kind.placed_from), which has a smaller number, else
 * `kind`: what does not depend on an op's place is computed once. */
static inline uint32_t trace_kind_origin(const trace *t, uint32_t kind)
{
    uint32_t from = t->kinds[kind].placed_from;
    return from ? from - 1 : kind;
}
static inline vp_str trace_str(const trace *t, vp_sid id)
{
    return vp_intern_get(&t->names, id);
}

#endif
