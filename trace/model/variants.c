/* Copies of kinds: one kind in the file becomes several, depending on where its events belong. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/trace.h"

int trace_variant(trace *t, vp_map *variants, uint64_t key, uint32_t kind, uint32_t *out)
{
    *out = vp_map_get(variants, key);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&t->kinds, &t->kind_cap, (size_t)t->kind_count + 1, sizeof *t->kinds,
                   VP_INTERN_MAX));
    *out = t->kind_count++;
    t->kinds[*out] = t->kinds[kind];
    VP_TRY(vp_map_set(variants, key, *out));
    return 1;
}
