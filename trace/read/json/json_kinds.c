/* Kinds: properties that events with equal names and equal args share. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/json/json_reader.h"

uint64_t cj_hash(js_value v, uint64_t seed)
{
    return v.type == JS_NONE ? 0 : vp_hash_inline(v.s.p, v.s.n, seed) | 1;
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

int cj_kind_named(cj_reader *r, const cj_fields *f, size_t more, sink_kind *k)
{
    js_value name = f->v[CJ_NAME], cat = f->v[CJ_CAT];
    VP_TRY(cj_scratch(r, name.s.n + cat.s.n + more));
    *k = (sink_kind){.name = cj_text(r, name),
                     .category = cj_lower(r, cat),
                     .program_id = SINK_UNKNOWN,
                     .group_size = SINK_UNKNOWN,
                     .bytes = SINK_UNKNOWN,
                     .flops = SINK_UNKNOWN};
    return 0;
}

/* The file of a Triton kernel, which the operator that launches it has in its args. Operators of
 * libraries have a namespace ("aten::mm"), kernels have none. */
static js_value kernel_file(const cj_reader *r, const cj_fields *f)
{
    static const vp_str quoted = VP_STR_INIT("\"kernel_file\"");
    js_value args = f->v[CJ_ARGS], v;
    vp_str key;
    if (r->opts->device_only || args.type != JS_NESTED || *args.s.p != '{' ||
        !vp_str_eq(f->v[CJ_CAT].s, VP_STR("cpu_op")) ||
        vp_str_find(f->v[CJ_NAME].s, VP_STR("::")) < f->v[CJ_NAME].s.n ||
        vp_str_find(args.s, quoted) == args.s.n)
        return (js_value){VP_STR_NONE, JS_NONE};
    const char *p = args.s.p + 1, *end = args.s.p + args.s.n;
    while (js_next_member(&p, end, r->skip, &key, &v) == JS_MEMBER)
        if (v.type == JS_STRING && vp_str_eq(key, VP_STR("kernel_file")))
            return v;
    return (js_value){VP_STR_NONE, JS_NONE};
}

int cj_kind_plain(cj_reader *r, const cj_fields *f, uint32_t *kind)
{
    uint64_t key = cj_hash(f->v[CJ_NAME], 1) ^ cj_hash(f->v[CJ_CAT], 2) * 3;
    js_value file = kernel_file(r, f);
    sink_kind k;
    key = file.type ? vp_mix(key ^ cj_hash(file, 4)) : key;
    cj_kind_get(r, key, kind);
    if (*kind != SINK_NONE)
        return 0;
    VP_TRY(cj_kind_named(r, f, file.s.n, &k));
    k.source = file.type ? cj_text(r, file) : VP_STR_NONE;
    return cj_kind_put(r, key, &k, kind);
}
