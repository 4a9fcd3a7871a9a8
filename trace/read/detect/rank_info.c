#include "trace/read/detect/rank_info.h"

#include "trace/base/hash.h"

/* More ranks than any job has: a larger number is damage. */
#define RANKS_MAX (1u << 24)
/* 2000 and 2100: times outside are not Unix times, but those of a clock that began at boot. */
#define UNIX_LEAST_NS (INT64_C(946684800) * 1000000000)
#define UNIX_MOST_NS (INT64_C(4102444800) * 1000000000)

static void skip_space(vp_str *t)
{
    while (t->n && (*t->p == ' ' || *t->p == '\n' || *t->p == '\r' || *t->p == '\t'))
        *t = vp_str_skip(*t, 1);
}

/* The content of a string whose opening quote was skipped. */
static vp_str take_quoted(vp_str *t)
{
    size_t i = 0;
    while (i < t->n && t->p[i] != '"')
        i += t->p[i] == '\\' ? 2 : 1;
    vp_str content = vp_str_head(*t, i);
    *t = vp_str_skip(*t, i + 1);
    return content;
}

/* A number or word, or the content of a string; arrays and objects are skipped: VP_STR_NONE. */
static vp_str take_json_value(vp_str *t)
{
    size_t depth = 0, i = 0;
    skip_space(t);
    if (t->n && *t->p == '"') {
        *t = vp_str_skip(*t, 1);
        return take_quoted(t);
    }
    if (!t->n || (*t->p != '[' && *t->p != '{')) {
        while (i < t->n && !strchr(",}] \n\r\t", t->p[i]))
            i++;
        vp_str word = vp_str_head(*t, i);
        *t = vp_str_skip(*t, i);
        return word;
    }
    do {
        char c = *t->p;
        *t = vp_str_skip(*t, 1);
        if (c == '"')
            (void)take_quoted(t);
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
    } while (depth && t->n);
    return VP_STR_NONE;
}

/* Skips `"key" :` and returns the key; false at the end of the object, or of the text. */
static bool take_json_key(vp_str *t, vp_str *key)
{
    skip_space(t);
    if (t->n && *t->p == ',')
        *t = vp_str_skip(*t, 1);
    skip_space(t);
    if (!t->n || *t->p != '"')
        return false;
    *t = vp_str_skip(*t, 1);
    *key = take_quoted(t);
    skip_space(t);
    if (!t->n || *t->p != ':')
        return false;
    *t = vp_str_skip(*t, 1);
    return true;
}

/* The text after `"name" :`, or VP_STR_NONE. In a JSON string the quotes would be escaped. */
static vp_str text_after_key(vp_str text, vp_str quoted_name)
{
    for (;;) {
        size_t at = vp_str_find(text, quoted_name);
        if (at == text.n)
            return VP_STR_NONE;
        text = vp_str_skip(text, at + quoted_name.n);
        vp_str rest = text;
        skip_space(&rest);
        if (rest.n && *rest.p == ':')
            return vp_str_skip(rest, 1);
    }
}

/* Reads the open object into out; false if its rank or world size cannot be right. */
static bool read_distributed_info(rd_rank *out, vp_str t)
{
    bool good = true;
    vp_str key;
    while (take_json_key(&t, &key)) {
        bool is_rank = vp_str_eq(key, VP_STR("rank"));
        bool is_world = vp_str_eq(key, VP_STR("world_size"));
        vp_str value = take_json_value(&t);
        uint64_t number;
        if (vp_str_eq(key, VP_STR("backend")) && value.n)
            out->backend = (uint32_t)vp_fingerprint(value.p, value.n, 0) | 1;
        if (!is_rank && !is_world)
            continue;
        if (!t.n) /* cut off within the number */
            return good;
        if (!vp_str_to_u64(value, &number) || number > RANKS_MAX || (is_world && !number)) {
            good = false;
            continue;
        }
        *(is_rank ? &out->rank : &out->world) = (uint32_t)number;
        out->has_rank |= is_rank;
    }
    return good && !(out->has_rank && out->world && out->rank >= out->world);
}

static bool find_distributed_info(rd_rank *out, vp_str text)
{
    vp_str t = text_after_key(text, VP_STR("\"distributedInfo\""));
    skip_space(&t);
    if (!t.n || *t.p != '{')
        return false;
    if (!read_distributed_info(out, vp_str_skip(t, 1)))
        *out = (rd_rank){.unusable = true};
    return true;
}

/* Nanoseconds of a decimal number of microseconds; digits below 1 ns are dropped. */
static bool us_to_ns(vp_str s, int64_t *ns)
{
    uint64_t whole, part = 0;
    int64_t value;
    if (!vp_take_uint(&s, INT64_MAX / 1000, &whole))
        return false;
    value = (int64_t)whole * 1000;
    if (s.n > 1 && *s.p == '.')
        for (size_t i = 1, unit = 100; unit && i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
            part += (uint64_t)(s.p[i] - '0') * unit;
            unit /= 10;
        }
    return !__builtin_add_overflow(value, (int64_t)part, ns);
}

static void widen_by_event_times(rd_rank *out, vp_str text, int64_t base_ns)
{
    while ((text = text_after_key(text, VP_STR("\"ts\""))).n) {
        vp_str rest = text;
        int64_t ns;
        if (!us_to_ns(take_json_value(&rest), &ns) || !ns ||
            __builtin_add_overflow(ns, base_ns, &ns) || ns < UNIX_LEAST_NS || ns > UNIX_MOST_NS)
            continue;
        if (!out->first_ns || ns < out->first_ns)
            out->first_ns = ns;
        if (ns > out->last_ns)
            out->last_ns = ns;
    }
}

static int64_t base_time(vp_str text)
{
    vp_str t = text_after_key(text, VP_STR("\"baseTimeNanoseconds\""));
    int64_t ns;
    return t.n && vp_str_to_i64(take_json_value(&t), &ns) && ns > 0 ? ns : 0;
}

void rd_rank_of(rd_rank *out, vp_str head, vp_str tail)
{
    int64_t base = base_time(head);
    *out = (rd_rank){.rank = 0};
    if (!find_distributed_info(out, head))
        (void)find_distributed_info(out, tail);
    base = base ? base : base_time(tail);
    widen_by_event_times(out, head, base);
    widen_by_event_times(out, tail, base);
}
