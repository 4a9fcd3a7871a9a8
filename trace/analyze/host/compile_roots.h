/* Compilations on host threads (docs/reference/metrics.md#compilation): roots, and the functions
 * they belong to. The caller frees the list. */
#ifndef VP_ANALYZE_COMPILE_ROOTS_H
#define VP_ANALYZE_COMPILE_ROOTS_H

#include "trace/analyze/result/analysis.h"

#define NO_FUNCTION UINT32_MAX

/* An outermost compile span of a thread. */
typedef struct compile_root {
    int64_t start, end;
    uint32_t track;
    uint32_t function; /* index of the outermost enclosing call; NO_FUNCTION: none */
    int64_t prepare;   /* tracing and lowering in that call before it, without earlier roots */
    /* torch.compile: recompile R of frame F, for "F/R"; -1: no such id. */
    int64_t frame, recompile;
    bool helper; /* it is on a thread without calls of functions, possibly of a compiler's pool */
} compile_root;

typedef struct compile_function {
    vp_sid name;                  /* "PjitFunction(f)"; 0: a frame of torch.compile */
    int64_t frame;                /* its number, or -1 */
    int64_t first, last;          /* the smallest and largest number that is compiled */
    int64_t calls, reads, misses; /* reads and misses of the persistent cache */
    uint32_t track;               /* the thread of its open call, until `end` */
    int64_t end;
} compile_function;

typedef struct compile_roots {
    compile_root *v; /* by start, without those that are part of another thread's */
    size_t n, cap;
    compile_function *functions;
    size_t function_count, function_cap;
    int64_t lower_ps; /* tracing and lowering outside of compilation: the union for each thread,
                         added up */
    int64_t reads, misses; /* of the persistent cache */
} compile_roots;

/* For each kind of the trace, the function whose region "Torch-Compiled Region: 0/1" it names;
 * NO_FUNCTION: none. VP_ENOMEM. */
int compile_roots_regions(uint32_t **out, const compile_roots *r, const trace *t,
                          const host_kinds *kinds);
int compile_roots_find(compile_roots *out, const trace *t, const host_kinds *kinds);
void compile_roots_free(compile_roots *r);

#endif
