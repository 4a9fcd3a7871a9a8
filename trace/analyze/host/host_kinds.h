/* Meaning of host events, determined once per kind (docs/reference/metrics.md#host-events): compile
 * roots, waits, launches, profiler frames. Covers names of JAX, TensorFlow, PyTorch, CUDA and ROCm.
 * The analysis owns the table. */
#ifndef VP_ANALYZE_HOST_KINDS_H
#define VP_ANALYZE_HOST_KINDS_H

#include "trace/analyze/result/analysis.h"

enum {
    HK_COMPILE = 1 << 0,  /* a compile root; only the outermost counts */
    HK_LOWER = 1 << 1,    /* tracing and lowering */
    HK_CACHE = 1 << 2,    /* reads the persistent compilation cache */
    HK_CALL = 1 << 3,     /* PjitFunction(f): one call of a compiled function */
    HK_EXECUTE = 1 << 4,  /* runs an executable */
    HK_LAUNCH = 1 << 5,   /* a CUDA/HIP call that launches work on a device */
    HK_GRAPH = 1 << 6,    /* a CUDA/HIP call that launches a recorded graph */
    HK_BLOCKING = 1 << 7, /* waits for a device */
    HK_INPUT = 1 << 8,
    HK_CALLBACK = 1 << 9,
    HK_TRANSFER = 1 << 10,
    HK_STEP = 1 << 11,       /* a step annotation: ProfilerStep#N, StepTraceAnnotation */
    HK_NOISE = 1 << 12,      /* ThreadpoolListener, MemoryDeallocation, …: hidden */
    HK_PROFILER = 1 << 13,   /* start_trace, stop_trace and nested calls: never a cause */
    HK_PYTHON = 1 << 14,     /* a frame of the Python tracer: "$file.py:12 f" */
    HK_CACHE_MISS = 1 << 15, /* compiles after a miss of that cache */
    HK_PULL = 1 << 16,       /* a frame that takes the next item of an iterator or of a queue:
                                input, unless it launches work itself */
    HK_CONTEXT = 1 << 17,    /* a frame that enters or leaves a context manager: items that it
                                takes from a generator are not input */
    HK_GC = 1 << 18,         /* garbage collection of Python */
    HK_WRITE = 1 << 19,      /* writes a checkpoint, or waits until a file is on disk */
    HK_USER = 1 << 21,       /* a frame of the user's program (user_kinds.h) */
    HK_REGION = 1 << 20, /* name of a compiled region of PyTorch: "Torch-Compiled Region: 0/1" */
};

/* Parses a frame of a Python tracer, JAX's "$compiler.py:12 f" and "$builtins len" or Kineto's
 * "torch/utils/data/dataloader.py(12): f": *file "compiler.py", "builtins",
 * "torch/utils/data/dataloader.py"; *function "f". false for other names. */
bool host_frame(vp_str name, vp_str category, vp_str *file, vp_str *function);
/* The HK_ flags of a name that is not a frame, and those of a frame, by the tables of host_names.c.
 */
uint32_t host_name_flags(vp_str name, vp_str category);
uint32_t host_frame_flags(vp_str file, vp_str function);

/* Flags that several analyses search for among all events of the host; few events have one. */
#define HK_MARKED                                                                                  \
    (HK_COMPILE | HK_LOWER | HK_CACHE | HK_CACHE_MISS | HK_CALL | HK_EXECUTE | HK_LAUNCH |         \
     HK_GRAPH | HK_TRANSFER | HK_STEP | HK_PROFILER | HK_REGION)

struct host_kinds {
    const trace *t;
    uint32_t *flags;   /* by kind of the trace */
    uint64_t **marked; /* by track, for host threads: a bit per event, set for HK_MARKED */
    uint64_t *bits;    /* of all of them */
};
/* VP_ENOMEM. */
int host_kinds_new(host_kinds **out, const trace *t);
/* marked_events.c, a part of it: sets the bits, once there are flags. */
int host_mark_events(host_kinds *x);
void host_kinds_free(host_kinds *k);
/* If all devices are CPUs, a call that waits and copies (np.asarray) only copies after they are
 * idle, so HK_BLOCKING is cleared. */
void host_kinds_on_cpu(host_kinds *k, const trace *t);
static inline uint32_t host_kind_flags(const host_kinds *k, uint32_t kind)
{
    return k->flags[kind];
}
/* The first event from `i` on of a host thread whose kind has a flag of HK_MARKED; SIZE_MAX after
 * the last. */
static inline size_t host_marked_from(const host_kinds *x, const trace_track *k, size_t i)
{
    const uint64_t *bits = x->marked[k - x->t->tracks];
    for (size_t w = i / 64; w * 64 < k->count; w++) {
        uint64_t has = bits[w] & (w == i / 64 ? UINT64_MAX << i % 64 : UINT64_MAX);
        if (has)
            return w * 64 + (unsigned)__builtin_ctzll(has);
    }
    return SIZE_MAX;
}
/* The cause of idle time during such an event; VP_CAUSE_HOST for other work. */
vp_cause host_kind_cause(const host_kinds *k, uint32_t kind);
/* The same for a name alone; for tests. */
uint32_t host_kind_flags_of(vp_str name, vp_str category);

#endif
