#include "trace/timeline/tl_pairs.h"

#include "trace/base/err.h"
#include "trace/base/hash.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* Seeds, so that keys of different stages never collide. */
enum { SAME_NAME = 1, SAME_KIND, ANY_DEVICE, ALIKE, ROLE_ALONE };

/* The key of an entry, equal for matches; 0: no match in this stage. */
typedef uint64_t key_fn(const void *side, uint32_t i, unsigned way);

/* ---- Pairs of equal keys -------------------------------------------------------------------- */

typedef struct side {
    const tl_index *x;
    uint32_t n;
    uint32_t *mate;
    const uint8_t *used;        /* for groups: whether they have events */
    const uint32_t *group_pair; /* for tracks: a number that both groups of a pair share */
} side;

/* Pairs the i-th of A with a key and the i-th of B with the same key. */
static int pair_by(side *a, side *b, key_fn *key, unsigned way)
{
    VP_CLEANUP(vp_map_free) vp_map first;
    VP_CLEANUP(vp_free_ptr) uint32_t *next = vp_calloc((size_t)b->n + 1, sizeof *next);
    vp_map_init(&first);
    VP_NEED(next);
    for (uint32_t i = b->n; i-- > 0;) {
        uint64_t k = b->mate[i] == TL_NO_MATE ? key(b, i, way) : 0;
        if (!k)
            continue;
        next[i] = vp_map_get(&first, k); /* VP_MAP_NONE: the last of its key */
        VP_TRY(vp_map_set(&first, k, i));
    }
    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t k = a->mate[i] == TL_NO_MATE ? key(a, i, way) : 0;
        uint32_t mate = k ? vp_map_get(&first, k) : VP_MAP_NONE;
        if (mate == VP_MAP_NONE || b->mate[mate] != TL_NO_MATE)
            continue;
        a->mate[i] = mate;
        b->mate[mate] = i;
        if (next[mate] != VP_MAP_NONE)
            VP_TRY(vp_map_set(&first, k, next[mate]));
    }
    return 0;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static uint64_t pair_key(unsigned way, uint64_t number, vp_str name)
{
    return vp_hash(name.p, name.n, vp_mix(number * 8 + way)) | 1;
}

static uint64_t group_key(const void *of, uint32_t i, unsigned way)
{
    const side *s = of;
    const tl_group *g = &s->x->groups[i];
    if (!s->used[i] || (way == ANY_DEVICE && !g->has_ops))
        return 0;
    uint64_t what = way == SAME_KIND ? 2u * (uint64_t)g->kind : 0;
    return pair_key(way, what + g->has_ops,
                    way == SAME_NAME ? tl_text(s->x, g->name) : (vp_str){"", 0});
}

/* The name without digits. */
static uint64_t alike_key(unsigned way, uint64_t number, vp_str name)
{
    char text[256];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < sizeof text; i++)
        if (name.p[i] < '0' || name.p[i] > '9')
            text[n++] = name.p[i];
    return pair_key(way, number, (vp_str){text, n});
}

static uint64_t track_key(const void *of, uint32_t i, unsigned way)
{
    const side *s = of;
    const tl_track *t = &s->x->tracks[i];
    uint32_t group = s->group_pair[t->group];
    uint64_t number = (uint64_t)group * 16 + (uint64_t)t->role;
    if (!t->count || group == TL_NO_MATE)
        return 0;
    if (way == ROLE_ALONE)
        return t->role == SINK_ROLE_PLAIN || t->role == SINK_ROLE_COUNTER
                   ? 0
                   : pair_key(way, number, (vp_str){"", 0});
    vp_str name = tl_text(s->x, t->name);
    return way == ALIKE ? alike_key(way, number, name) : pair_key(way, number, name);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

static uint8_t *used_groups(const tl_index *x)
{
    uint8_t *used = vp_calloc((size_t)x->group_count + 1, 1);
    for (uint32_t i = 0; used && i < x->track_count; i++)
        used[x->tracks[i].group] |= x->tracks[i].count > 0;
    return used;
}

static uint32_t *no_mates(uint32_t n)
{
    uint32_t *v = vp_realloc_array(NULL, (size_t)n + 1, sizeof *v);
    for (uint32_t i = 0; v && i < n; i++)
        v[i] = TL_NO_MATE;
    return v;
}

static int pair_groups(tl_pairs *p, const tl_index *a, const tl_index *b)
{
    VP_CLEANUP(vp_free_ptr) uint8_t *used_a = used_groups(a);
    VP_CLEANUP(vp_free_ptr) uint8_t *used_b = used_groups(b);
    VP_NEED(used_a && used_b);
    side sa = {.x = a, .n = a->group_count, .mate = p->group_b, .used = used_a};
    side sb = {.x = b, .n = b->group_count, .mate = p->group_a, .used = used_b};
    VP_TRY(pair_by(&sa, &sb, group_key, SAME_NAME));
    VP_TRY(pair_by(&sa, &sb, group_key, SAME_KIND));
    return pair_by(&sa, &sb, group_key, ANY_DEVICE);
}

static int pair_tracks(tl_pairs *p, const tl_index *a, const tl_index *b)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *own = no_mates(a->group_count);
    VP_NEED(own);
    for (uint32_t i = 0; i < a->group_count; i++)
        own[i] = p->group_b[i] == TL_NO_MATE ? TL_NO_MATE : i;
    side sa = {.x = a, .n = a->track_count, .mate = p->track_b, .group_pair = own};
    side sb = {.x = b, .n = b->track_count, .mate = p->track_a, .group_pair = p->group_a};
    VP_TRY(pair_by(&sa, &sb, track_key, SAME_NAME));
    VP_TRY(pair_by(&sa, &sb, track_key, ALIKE));
    return pair_by(&sa, &sb, track_key, ROLE_ALONE);
}

int tl_pair(tl_pairs *out, const tl_index *a, const tl_index *b)
{
    *out = (tl_pairs){no_mates(a->group_count), no_mates(b->group_count), no_mates(a->track_count),
                      no_mates(b->track_count)};
    VP_NEED(out->group_b && out->group_a && out->track_b && out->track_a);
    VP_TRY(pair_groups(out, a, b));
    return pair_tracks(out, a, b);
}

void tl_pairs_free(tl_pairs *p)
{
    vp_free(p->group_b);
    vp_free(p->group_a);
    vp_free(p->track_b);
    vp_free(p->track_a);
    *p = (tl_pairs){0};
}
