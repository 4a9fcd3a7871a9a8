/* The programs of a trace. */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/trace.h"

int trace_put_program(sink *s, const sink_program *info)
{
    trace *t = (trace *)s;
    const char *name = vp_arena_strndup(&t->arena, info->name.p, info->name.n);
    const char *proto = vp_arena_strndup(&t->arena, info->proto.p, info->proto.n);
    VP_NEED(name && proto);
    VP_TRY(vp_grow(&t->programs, &t->program_cap, (size_t)t->program_count + 1, sizeof *t->programs,
                   VP_INTERN_MAX));
    t->programs[t->program_count++] =
        (trace_program){info->id, {name, info->name.n}, {proto, info->proto.n}};
    return 0;
}

static int by_program_id(const void *a, const void *b)
{
    const trace_program *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->proto.n != y->proto.n ? (x->proto.n < y->proto.n ? -1 : 1)
                                    : strcmp(x->name.p, y->name.p);
}

void trace_sort_programs(trace *t)
{
    if (t->program_count)
        qsort(t->programs, t->program_count, sizeof *t->programs, by_program_id);
}

uint32_t trace_find_program(const trace *t, int64_t id)
{
    uint32_t low = 0, high = t->program_count;
    if (id == SINK_UNKNOWN)
        return high;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->programs[mid].id < (uint64_t)id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < t->program_count && t->programs[low].id == (uint64_t)id ? low : t->program_count;
}
