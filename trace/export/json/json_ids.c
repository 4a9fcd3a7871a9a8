/* Ids of flows and async events, as the importer distinguishes them
 * (docs/reference/perfetto.md#event-ids): 64-bit numbers, for flows also hexadecimal strings, for
 * async events any string. It refuses others, which get new ids. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/export/json/json_plan.h"
#include "trace/read/json/json_text.h"

/* A text without quotes and escapes, valid until the next call. */
static vp_str plain_of(json_plan *p, vp_str json)
{
    vp_str bare = jp_unquoted(json);
    if (bare.n == json.n || !memchr(bare.p, '\\', bare.n))
        return bare;
    p->scratch.n = 0;
    char *plain = vp_buf_reserve(&p->scratch, JS_UTF8_MAX(bare.n));
    return plain ? (vp_str){plain, js_unescape(bare, plain)} : VP_STR_NONE;
}

uint64_t jp_text_hash(json_plan *p, vp_str json, uint64_t seed)
{
    vp_str plain = plain_of(p, json);
    return vp_hash(plain.p, plain.n, seed);
}

static bool parse_hex_id(vp_str s, uint64_t *value)
{
    bool negative = s.n && *s.p == '-';
    s = vp_str_skip(s, negative);
    if (s.n > 1 && s.p[0] == '0' && (s.p[1] | 32) == 'x')
        s = vp_str_skip(s, 2);
    if (!s.n || s.n > 16)
        return false;
    *value = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i], letter = c | 32;
        bool digit = c >= '0' && c <= '9';
        if (!digit && (letter < 'a' || letter > 'f'))
            return false;
        *value = *value << 4 | (digit ? c - '0' : letter - 'a' + 10);
    }
    *value = negative ? 0 - *value : *value;
    return true;
}

static uint64_t number_hash(uint64_t value, uint64_t seed)
{
    return vp_mix(vp_mix(value ^ UINT64_C(0x9e3779b97f4a7c15)) ^ seed);
}

static uint64_t flow_id_hash(json_plan *p, vp_str id, uint64_t seed, bool *odd)
{
    uint64_t value;
    int64_t number;
    bool quoted = *id.p == '"';
    *odd = false;
    if (quoted && parse_hex_id(plain_of(p, id), &value))
        return number_hash(value, seed);
    if (!quoted && vp_str_to_i64(id, &number))
        return number_hash((uint64_t)number, seed);
    *odd = true;
    return jp_text_hash(p, id, seed);
}

uint64_t jp_flow_key(json_plan *p, const jp_event *e, bool *odd)
{
    if (e->phase == 'X' || e->phase == 'B')
        return flow_id_hash(p, jp_text(e, EX_BIND), 1, odd);
    uint64_t seed = jp_text_hash(p, jp_text(e, EX_NAME), 0);
    return flow_id_hash(p, jp_text(e, EX_ID), jp_text_hash(p, jp_text(e, EX_CAT), seed), odd);
}

uint64_t jp_async_key(json_plan *p, const jp_event *e, bool *odd)
{
    jp_scope scope;
    vp_str id = jp_async_id(e, &scope);
    uint64_t seed = jp_text_hash(p, jp_text(e, EX_CAT), 0);
    int64_t number;
    if (scope == JP_OF_PROCESS && e->thread != JP_NONE)
        seed = vp_mix(seed ^ (p->threads[e->thread].process + UINT64_C(1)));
    *odd = false;
    if (*id.p != '"' && vp_str_to_i64(id, &number))
        return number_hash((uint64_t)number, seed);
    *odd = *id.p != '"' || id.n == 2;
    return jp_text_hash(p, id, seed ^ 1);
}
