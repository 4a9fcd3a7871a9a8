#include "server/net/request/negotiate.h"

/* Weights in thousandths; a malformed weight ("q=x", "q=2") counts as 1. */
#define FULL 1000
#define UNNAMED (-1)

/* "0.25" → 250. Digits after the third, which are not allowed, are ignored. */
static int parse_weight(vp_str s)
{
    static const int place[] = {100, 10, 1};
    int q = 0;
    if (!s.n || s.p[0] != '0' || (s.n > 1 && s.p[1] != '.'))
        return FULL;
    for (size_t i = 2; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return FULL;
        if (i - 2 < sizeof place / sizeof *place)
            q += (s.p[i] - '0') * place[i - 2];
    }
    return q;
}

static int weight_of(vp_str params)
{
    while (params.n) {
        vp_str one;
        vp_take_until(&params, ';', SIZE_MAX, &one);
        one = vp_str_trim(one);
        if (vp_str_starts_nocase(one, VP_STR("q=")))
            return parse_weight(vp_str_trim(vp_str_skip(one, 2)));
    }
    return FULL;
}

http_coding http_choose_coding(vp_str list, bool can_gzip)
{
    int gzip = UNNAMED, identity = UNNAMED, star = UNNAMED;
    while (list.n) {
        vp_str item, coding;
        vp_take_until(&list, ',', SIZE_MAX, &item);
        vp_take_until(&item, ';', SIZE_MAX, &coding);
        coding = vp_str_trim(coding);
        if (vp_str_eq_nocase(coding, VP_STR("gzip")) || vp_str_eq_nocase(coding, VP_STR("x-gzip")))
            gzip = weight_of(item);
        else if (vp_str_eq_nocase(coding, VP_STR("identity")))
            identity = weight_of(item);
        else if (vp_str_eq(coding, VP_STR("*")))
            star = weight_of(item);
    }
    bool refused = identity == 0 || (identity == UNNAMED && star == 0);
    if (gzip == UNNAMED)
        gzip = star;
    /* A client that only refuses identity gets gzip. */
    if (can_gzip && (gzip > 0 ? gzip >= identity : refused && gzip == UNNAMED))
        return HTTP_GZIP;
    return refused ? HTTP_NO_CODING : HTTP_IDENTITY;
}

static vp_str etag_opaque_part(vp_str etag, bool *weak)
{
    *weak = vp_str_starts(etag, VP_STR("W/"));
    return *weak ? vp_str_skip(etag, 2) : etag;
}

/* Takes the next entity tag of a list; false at its end or if malformed. */
static bool next_etag(vp_str *list, vp_str *tag)
{
    while (list->n && (list->p[0] == ',' || list->p[0] == ' ' || list->p[0] == '\t'))
        *list = vp_str_skip(*list, 1);
    size_t start = vp_str_starts(*list, VP_STR("W/")) ? 2 : 0;
    if (list->n < start + 2 || list->p[start] != '"')
        return false;
    const char *end = memchr(list->p + start + 1, '"', list->n - start - 1);
    if (!end)
        return false;
    *tag = vp_str_head(*list, (size_t)(end - list->p) + 1);
    *list = vp_str_trim(vp_str_skip(*list, tag->n));
    return !list->n || list->p[0] == ',';
}

static bool is_etag_listed(vp_str list, vp_str etag, bool strong)
{
    bool weak_ours, weak_theirs;
    vp_str ours = etag_opaque_part(etag, &weak_ours), tag;
    if (!etag.n)
        return false;
    if (vp_str_eq(vp_str_trim(list), VP_STR("*")))
        return true;
    while (next_etag(&list, &tag)) {
        vp_str theirs = etag_opaque_part(tag, &weak_theirs);
        if (vp_str_eq(ours, theirs) && !(strong && (weak_ours || weak_theirs)))
            return true;
    }
    return false;
}

bool http_etag_listed(vp_str list, vp_str etag)
{
    return is_etag_listed(list, etag, false);
}

bool http_etag_listed_strong(vp_str list, vp_str etag)
{
    return is_etag_listed(list, etag, true);
}

bool http_if_range(vp_str value, vp_str etag, vp_str last_modified)
{
    value = vp_str_trim(value);
    if (value.n && value.p[0] == '"')
        return vp_str_eq(value, etag);
    return last_modified.n && vp_str_eq(value, last_modified);
}

/* Parses digits; saturates on overflow, so that any number of digits is out of range. */
static bool take_position(vp_str *s, int64_t *out)
{
    int64_t v = 0;
    size_t i = 0;
    for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++)
        v = v > (INT64_MAX - (s->p[i] - '0')) / 10 ? INT64_MAX : v * 10 + (s->p[i] - '0');
    if (!i)
        return false;
    *s = vp_str_skip(*s, i);
    *out = v;
    return true;
}

int http_range(vp_str value, int64_t size, int64_t *first, int64_t *last)
{
    int64_t a = 0, b = INT64_MAX;
    if (!vp_str_starts_nocase(value, VP_STR("bytes=")) || memchr(value.p, ',', value.n))
        return 200;
    value = vp_str_trim(vp_str_skip(value, 6));
    bool has_first = take_position(&value, &a);
    if (!value.n || value.p[0] != '-')
        return 416;
    value = vp_str_skip(value, 1);
    bool has_last = take_position(&value, &b);
    if (value.n || (!has_first && !has_last))
        return 416;
    if (!has_first) {
        if (!b || !size)
            return 416;
        *first = b < size ? size - b : 0;
        *last = size - 1;
        return 206;
    }
    if (a >= size || b < a)
        return 416;
    *first = a;
    *last = b < size ? b : size - 1;
    return 206;
}
