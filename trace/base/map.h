/* Hash map from 64-bit keys to 32-bit values: open addressing, at most half full. Keys are hashed
 * with a per-process secret, so adjacent and adversarial keys both spread. The owner frees it with
 * vp_map_free. Only vp_map_set can fail (VP_ENOMEM). */
#ifndef VP_BASE_MAP_H
#define VP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/hash.h"

#define VP_MAP_NONE UINT32_MAX

typedef struct vp_map_slot {
    uint64_t key;
    uint32_t value; /* VP_MAP_NONE: free */
} vp_map_slot;

typedef struct vp_map {
    vp_map_slot *slots; /* mask + 1 of them; NULL while empty */
    size_t mask, count;
} vp_map;

void vp_map_init(vp_map *m); /* allocates nothing */
void vp_map_free(vp_map *m);
/* Sets or replaces a value, which must not be VP_MAP_NONE. 0 or VP_ENOMEM. */
int vp_map_set(vp_map *m, uint64_t key, uint32_t value);
/* The value of the key, or VP_MAP_NONE. */
static inline uint32_t vp_map_get(const vp_map *m, uint64_t key)
{
    if (!m->count)
        return VP_MAP_NONE;
    size_t i = vp_mix(key) & m->mask;
    while (m->slots[i].value != VP_MAP_NONE && m->slots[i].key != key)
        i = (i + 1) & m->mask;
    return m->slots[i].value;
}

#endif
