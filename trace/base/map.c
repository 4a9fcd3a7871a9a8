#include "trace/base/map.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

void vp_map_init(vp_map *m)
{
    *m = (vp_map){0};
}

void vp_map_free(vp_map *m)
{
    vp_free(m->keys);
    vp_free(m->values);
    vp_map_init(m);
}

static bool put(vp_map *m, uint64_t key, uint32_t value)
{
    size_t i = vp_mix(key) & m->mask;
    while (m->values[i] != VP_MAP_NONE && m->keys[i] != key)
        i = (i + 1) & m->mask;
    bool fresh = m->values[i] == VP_MAP_NONE;
    m->keys[i] = key;
    m->values[i] = value;
    return fresh;
}

static int grow(vp_map *m)
{
    size_t cap = m->keys ? (m->mask + 1) * 2 : 64;
    vp_map bigger = {vp_realloc_array(NULL, cap, sizeof *m->keys),
                     vp_realloc_array(NULL, cap, sizeof *m->values), cap - 1, m->count};
    if (!bigger.keys || !bigger.values) {
        vp_map_free(&bigger);
        return vp_fail(VP_ENOMEM, "out of memory");
    }
    memset(bigger.values, 0xff, cap * sizeof *bigger.values);
    for (size_t i = 0; m->keys && i <= m->mask; i++)
        if (m->values[i] != VP_MAP_NONE)
            put(&bigger, m->keys[i], m->values[i]);
    vp_free(m->keys);
    vp_free(m->values);
    *m = bigger;
    return 0;
}

int vp_map_set(vp_map *m, uint64_t key, uint32_t value)
{
    if (!m->keys || m->count * 2 > m->mask)
        VP_TRY(grow(m));
    m->count += put(m, key, value);
    return 0;
}
