/* A trace in memory: columns, not objects. One host's events, filled by a reader through its sink,
 * then sealed (sorted per track) and read by analyses. Only analyze/ and export/ include this.
 *
 *   processes ─< tracks ─< events (start, dur, kind)      kinds: what equal events share
 *
 * Each track has its own columns: 12 bytes an event (model/event_times.h), 12 more on tracks with a
 * device clock, and 4 for every attribute (sink_attr) of an event. A reader that knows how many
 * events come fills them in place (sink_room); else they grow by realloc, which moves large blocks
 * by remapping pages, so nothing is copied when a trace is sealed and no page is touched before it
 * is used (touching fresh memory costs more than parsing: docs/reference/formats.md#reading-cost).
 * Sealing sorts by (start asc, dur desc, file order) where a track is not sorted already. One arena
 * holds all strings. A sealed trace is immutable and may be read by many threads; trace_free is one
 * call.
 *
 * Clocks: a device event that carries device_offset_ps and device_duration_ps is kept on both.
 * Lengths, unions and windows use the device's own; places (slowest, links into a timeline) use the
 * host's. Times of an XSpace are relative to the profile's start, as its lines are; times of a JSON
 * trace are relative to its earliest event, and base_unix_ns says when that was where the file
 * tells. timeline_ns of a report's device leads back into the file's own time, for links. */
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
    /* Of a trace that was cut to a part: when that begins and ends here, on the process's own
     * clock. SINK_NO_TIME: with its first and last op. */
    int64_t part_start_ps, part_end_ps;
    uint32_t first_track; /* as trace_track.next; set when the trace is sealed */
} trace_process;

#define TRACE_NO_TRACK UINT32_MAX
/* The tracks of a process, in the file's order. */
#define TRACE_EACH_OF(t, process_index, i)                                                         \
    for (uint32_t i = (t)->processes[process_index].first_track; i != TRACE_NO_TRACK;              \
         i = (t)->tracks[i].next)

typedef struct trace_track {
    uint32_t process;
    uint32_t next; /* of its process; TRACE_NO_TRACK: the last */
    vp_sid name;
    int64_t id;
    sink_role role;
    bool one_timeline, spans;
    bool sorted;
    trace_times own;       /* of `count` events; read by trace_start, trace_dur, trace_kind_of */
    bool own_clock;        /* its device's; then it has either places on the host's clock: */
    trace_times aligned;   /* lengths as sink_dur_beside; v NULL: as above, or only those of */
    sink_longest *longest; /* each kind, in the order they were met */
    size_t longest_n, longest_cap;
    vp_map longest_at;              /* by kind */
    trace_column *attr[SINK_ATTRS]; /* NULL: no event has it; read by trace_attr */
    size_t count;
} trace_track;

/* How a kernel of a CUDA graph, whose event names the graph's launch only, got its instruction. */
typedef enum trace_placed {
    TRACE_AS_SAID, /* it did not: what the event says stands */
    TRACE_BY_NAME,
    TRACE_BY_ORDER,
} trace_placed;

typedef struct trace_kind {
    vp_sid name, long_name, category, opcode, hlo_opcode, hlo_op, module, scope, source, shape,
        stream_label, memcpy, twin_of, groups, program, launch;
    int64_t program_id, bytes, flops, rows, columns, batch, group_size, hbm_bytes, graph,
        graph_node;
    bool is_op, unfinished, has_hbm;
    uint8_t dtype, placed; /* trace_placed */
} trace_kind;

typedef struct trace_quality {
    const char *code;
    sink_severity severity;
    const char *message; /* in the arena */
    int64_t event, byte;
    bool partial;
} trace_quality;

/* What zones of one name say under one key, added up; key 0: the values of a counter. Numbers and
 * texts are told apart. */
typedef struct trace_arg_value {
    vp_sid text;
    uint64_t count;
} trace_arg_value;

typedef struct trace_arg {
    vp_sid zone, key;
    uint64_t numbers, texts, others; /* others: texts beyond VP_ARG_VALUES_MAX different ones */
    double min, max, sum, last;
    int64_t last_ps;
    trace_arg_value *values;
    uint32_t value_count;
    size_t value_cap;
} trace_arg;

typedef struct trace_meta {
    vp_sid key, value;
} trace_meta;

/* A program whose HLO proto the file holds, whether it ran or not: only where the reader was asked
 * for programs. */
typedef struct trace_program {
    uint64_t id;
    vp_str name;  /* "jit_step(5623765097522093075)", as the file has it; in the arena */
    vp_str proto; /* a copy, in the arena */
} trace_program;

typedef struct trace {
    sink sink; /* first member: hand &trace->sink to a reader */
    vp_arena arena;
    vp_intern names;
    trace_process *processes;
    uint32_t process_count;
    trace_track *tracks;
    uint32_t track_count;
    trace_kind *kinds;
    uint32_t kind_count;
    uint64_t event_count;                     /* in the columns */
    uint64_t skipped_count;                   /* counted by the reader, not kept */
    int64_t base_unix_ns;                     /* SINK_NO_TIME: unknown */
    int64_t capture_start_ps, capture_end_ps; /* SINK_NO_TIME: unknown */
    int64_t extent_start_ps, extent_end_ps;   /* of all events; SINK_NO_TIME: unknown */
    int64_t file_origin_ns;                   /* the file's own time at relative 0 */
    trace_quality *quality;
    uint32_t quality_count;
    uint64_t quality_dropped; /* beyond VP_QUALITY_MAX */
    trace_arg *args;
    uint32_t arg_count, meta_count, program_count;
    trace_meta *metas;
    trace_program *programs; /* by id once the trace is sealed */
    uint64_t args_dropped;   /* values beyond VP_ARGS_MAX rows */
    vp_map arg_at;           /* zone << 32 | key, to its row */
    bool partial;
    bool graphs;         /* kinds are nodes of CUDA graphs */
    bool places_missing; /* what was asked for cannot be told without places of all ops */
    int threads;         /* that sealed it, and may analyse it */
    size_t arg_cap, meta_cap, program_cap, process_cap, track_cap, kind_cap, quality_cap;
} trace;

int trace_new(trace **out);
void trace_free(trace *t);
/* args.c: the sink's arg and meta, and the end of what they made. */
int trace_put_arg(sink *s, const sink_arg *a);
int trace_put_meta(sink *s, vp_str key, vp_str value);
void trace_free_args(trace *t);
/* trace_programs.c: the sink's program; then, part of sealing, by id; and which of them an id names
 * (program_count: none). */
int trace_put_program(sink *s, const sink_program *info);
void trace_sort_programs(trace *t);
uint32_t trace_find_program(const trace *t, int64_t id);
/* Sorts, places ops that do not name their module in one, and freezes. */
int trace_seal(trace *t);
/* The same, with so many threads. */
int trace_seal_by(trace *t, int threads);
/* Ops that name no module belong to the one whose run holds their aligned start; part of
 * sealing. May add kinds. */
int trace_place_modules(trace *t);
/* Kernels of CUDA graphs belong to the instructions that were recorded, where that is certain; part
 * of sealing. May add kinds, and says in quality how many are left. */
int trace_place_graphs(trace *t);
/* variants.c, for these: a copy of a kind, one for each key of `variants`. 1: it was made now; 0:
 * it was there. VP_ENOMEM, VP_ELIMIT. */
int trace_variant(trace *t, vp_map *variants, uint64_t key, uint32_t kind, uint32_t *out);
/* Name and program id of "jit_step(5623765097522093075)"; without an id *program_id is untouched.
 */
vp_str trace_module_name(vp_str text, int64_t *program_id);
/* Of a sealed track the `n` events order[0] < order[1] < …, and no others, sorted again, with other
 * starts and lengths, which it takes over: `aligned` has as many events as it has clocks. Before
 * anyone reads it. */
int trace_track_keep(trace_track *k, const uint32_t *order, size_t n, trace_times *own,
                     trace_times *aligned);
/* Whether a track has something to say: events, or that there are none in the part. */
static inline bool trace_track_counts(const trace *t, const trace_track *k)
{
    return k->count || t->processes[k->process].part_start_ps != SINK_NO_TIME;
}
/* A device: a process whose op tracks hold events, or did so before the trace was cut. */
bool trace_has_device(const trace *t);
/* Event i's start, length and kind. */
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
/* Whether events have places on the host's clock besides those on their own. */
static inline bool trace_has_aligned(const trace_track *k)
{
    return k->aligned.v != NULL;
}
/* The host's clock, or the only one. */
static inline const trace_times *trace_host_times(const trace_track *k)
{
    return k->aligned.v ? &k->aligned : &k->own;
}
/* Event i's start on the host's clock, its length and its end. */
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
/* Frees an attribute of all events: they are as if they had none. */
void trace_forget(trace *t, sink_attr a);
static inline int64_t trace_attr(const trace_track *k, sink_attr a, size_t i)
{
    return k->attr[a] ? trace_column_get(k->attr[a], i, SINK_NO_VALUE) : SINK_NO_VALUE;
}
static inline vp_str trace_str(const trace *t, vp_sid id)
{
    return vp_intern_get(&t->names, id);
}

#endif
