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
    vp_free(m->slots);
    vp_map_init(m);
}

static bool map_place_slot(vp_map *m, uint64_t key, uint32_t value)
{
    size_t i = vp_mix(key) & m->mask;
    while (m->slots[i].value != VP_MAP_NONE && m->slots[i].key != key)
        i = (i + 1) & m->mask;
    bool fresh = m->slots[i].value == VP_MAP_NONE;
    m->slots[i] = (vp_map_slot){key, value};
    return fresh;
}

static int map_grow(vp_map *m)
{
    size_t cap = m->slots ? (m->mask + 1) * 2 : 64;
    vp_map bigger = {vp_realloc_array(NULL, cap, sizeof *m->slots), cap - 1, m->count};
    VP_NEED(bigger.slots);
    memset(bigger.slots, 0xff, cap * sizeof *bigger.slots);
    for (size_t i = 0; m->slots && i <= m->mask; i++)
        if (m->slots[i].value != VP_MAP_NONE)
            map_place_slot(&bigger, m->slots[i].key, m->slots[i].value);
    vp_free(m->slots);
    *m = bigger;
    return 0;
}

int vp_map_set(vp_map *m, uint64_t key, uint32_t value)
{
    if (!m->slots || m->count * 2 > m->mask)
        VP_TRY(map_grow(m));
    m->count += map_place_slot(m, key, value);
    return 0;
}
