/* A trace in memory: columns, not objects. One host's events, filled by a reader through its sink,
 * then sealed (sorted per track) and read by analyses. Only analyze/ and export/ include this.
 *
 *   processes ─< tracks ─< events (start, dur, kind)      kinds: what equal events share
 *
 * Events of a track are contiguous after trace_seal(), sorted by (start asc, dur desc, file order).
 * 24 bytes an event plus 16 for tracks that have a device clock: blocks of 64 Ki events while
 * reading, one array per column after sealing. One arena holds all strings; trace_free is one call.
 * A sealed trace is immutable and may be read by many threads. */
#ifndef VP_MODEL_TRACE_H
#define VP_MODEL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/arena.h"
#include "trace/read/sink.h"

typedef struct trace_process {
    vp_sid name;
    int64_t id;
    sink_process_kind kind;
    int32_t ordinal;
} trace_process;

typedef struct trace_track {
    uint32_t process;
    vp_sid name;
    int64_t id;
    sink_role role;
    bool one_timeline;
    bool has_aligned;     /* aligned_start/aligned_dur hold the host's clock */
    uint64_t first, count; /* its events, after sealing */
} trace_track;

typedef struct trace_kind {
    vp_sid name, long_name, category, opcode, hlo_op, module, scope, source, shape, stream_label;
    int64_t program_id, bytes, flops;
    bool is_op;
} trace_kind;

typedef struct trace_quality {
    const char *code;
    sink_severity severity;
    const char *message; /* in the arena */
    int64_t event, byte;
    bool partial;
} trace_quality;

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
    /* after sealing, by event: */
    int64_t *start_ps, *dur_ps;
    uint32_t *kind;
    int64_t *aligned_start_ps, *aligned_dur_ps; /* NULL when no track has_aligned */
    uint64_t event_count;   /* in the columns */
    uint64_t skipped_count; /* counted by the reader, not kept */
    int64_t base_unix_ns;   /* SINK_NO_TIME: unknown */
    int64_t capture_start_ps, capture_end_ps; /* SINK_NO_TIME: unknown */
    trace_quality *quality;
    uint32_t quality_count;
    uint64_t quality_dropped; /* beyond VP_QUALITY_MAX */
    bool partial;
    struct trace_build *build; /* while reading */
    size_t process_cap, track_cap, kind_cap, quality_cap;
} trace;

int trace_new(trace **out);
void trace_free(trace *t);
/* Sorts and freezes. Also counts same-track crossings into quality ("crossing"). */
int trace_seal(trace *t);
static inline vp_str trace_str(const trace *t, vp_sid id)
{
    return vp_intern_get(&t->names, id);
}

#endif
