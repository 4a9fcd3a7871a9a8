#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/json_reader.h"

static inline uint64_t word(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* Up to 16 bytes as two words that overlap. */
static inline void short_words(vp_str s, uint64_t *a, uint64_t *b)
{
    uint32_t low, high;
    if (s.n >= 8) {
        *a = word(s.p);
        *b = word(s.p + s.n - 8);
    } else if (s.n >= 4) {
        memcpy(&low, s.p, 4);
        memcpy(&high, s.p + s.n - 4, 4);
        *a = low;
        *b = high;
    } else if (s.n) {
        *a = (unsigned char)s.p[0];
        *b = (uint64_t)(unsigned char)s.p[s.n / 2] << 8 | (unsigned char)s.p[s.n - 1];
    }
}

/* As vp_hash, of which session ids are made, but twice as fast on names: two chains, and the end
 * is taken whole where it overlaps what was taken before. */
static inline uint64_t hash(vp_str s, uint64_t seed)
{
    const uint64_t m = UINT64_C(0xff51afd7ed558ccd), n = UINT64_C(0x9fb21c651e98df25);
    uint64_t h = seed ^ s.n * UINT64_C(0x9e3779b97f4a7c15), g = 0, a = 0, b = 0;
    if (s.n > 16) {
        const char *p = s.p, *last = s.p + s.n - 16;
        for (; p < last; p += 16) {
            h = (h ^ word(p)) * m;
            g = (g ^ word(p + 8)) * n;
            h ^= h >> 32;
            g ^= g >> 32;
        }
        a = word(last);
        b = word(last + 8);
    } else {
        short_words(s, &a, &b);
    }
    h = (h ^ a) * m;
    g = (g ^ b) * n;
    return h ^ h >> 32 ^ g ^ g >> 29;
}

uint64_t cj_hash(js_value v, uint64_t seed)
{
    return v.type == JS_NONE ? 0 : hash(v.s, seed) | 1;
}

void cj_kind_get(const cj_reader *r, uint64_t key, uint32_t *kind)
{
    *kind = vp_map_get(&r->maps[CJ_BY_KIND], key);
}

int cj_kind_put(cj_reader *r, uint64_t key, const sink_kind *k, uint32_t *kind)
{
    uint32_t id;
    VP_TRY(r->out->kind(r->out, k, &id));
    VP_TRY(vp_map_set(&r->maps[CJ_BY_KIND], key, id));
    *kind = id;
    return 0;
}

int cj_scratch(cj_reader *r, size_t raw_bytes)
{
    r->scratch_used = 0;
    return vp_grow(&r->scratch, &r->scratch_cap, JS_UTF8_MAX(raw_bytes) + 1, 1,
                   JS_UTF8_MAX((size_t)2 * VP_JSON_EVENT_MAX));
}

vp_str cj_text(cj_reader *r, js_value v)
{
    char *at = r->scratch + r->scratch_used;
    vp_str s = {at, js_unescape(v.s, at)};
    r->scratch_used += s.n;
    return s;
}

vp_str cj_lower(cj_reader *r, js_value v)
{
    vp_str s = cj_text(r, v);
    char *at = r->scratch + r->scratch_used - s.n;
    for (size_t i = 0; i < s.n; i++)
        if (at[i] >= 'A' && at[i] <= 'Z')
            at[i] = (char)(at[i] + ('a' - 'A'));
    return s;
}

int cj_kind_named(cj_reader *r, const cj_fields *f, sink_kind *k)
{
    js_value name = f->v[CJ_NAME], cat = f->v[CJ_CAT];
    VP_TRY(cj_scratch(r, name.s.n + cat.s.n));
    *k = (sink_kind){.name = cj_text(r, name),
                     .category = cj_lower(r, cat),
                     .program_id = SINK_UNKNOWN,
                     .group_size = SINK_UNKNOWN,
                     .bytes = SINK_UNKNOWN,
                     .flops = SINK_UNKNOWN};
    return 0;
}

int cj_kind_plain(cj_reader *r, const cj_fields *f, uint32_t *kind)
{
    uint64_t key = cj_hash(f->v[CJ_NAME], 1) ^ cj_hash(f->v[CJ_CAT], 2) * 3;
    sink_kind k;
    cj_kind_get(r, key, kind);
    if (*kind != SINK_NONE)
        return 0;
    VP_TRY(cj_kind_named(r, f, &k));
    return cj_kind_put(r, key, &k, kind);
}
