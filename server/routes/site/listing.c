#include "server/routes/site/listing.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* ---- The query ------------------------------------------------------------------------------ */

static const char *const sort_names[LISTING_SORTS] = {"time", "name", "size", "busy", "step"};

const char *listing_sort_name(listing_sort s)
{
    return sort_names[s];
}

static void copy_lower_case(char *dst, const char *src)
{
    size_t n = 0;
    for (; src[n] && n < LISTING_QUERY_MAX - 1; n++)
        dst[n] = src[n] >= 'A' && src[n] <= 'Z' ? (char)(src[n] | 32) : src[n];
    dst[n] = '\0';
}

void listing_query_of(listing_query *out, const char *q, const char *sort, const char *group)
{
    *out = (listing_query){.grouped = group && !strcmp(group, "run")};
    copy_lower_case(out->text, q ? q : "");
    out->backwards = sort && *sort == '-';
    for (int i = 0; sort && i < LISTING_SORTS; i++)
        if (!strcmp(sort + out->backwards, sort_names[i])) {
            out->sort = (listing_sort)i;
            return;
        }
    out->backwards = false;
}

static bool contains_lower(const char *text, vp_str lower_needle)
{
    vp_str s = vp_str_of(text);
    return vp_str_find_nocase(s, lower_needle) < s.n || !lower_needle.n;
}

static bool session_has_word(const cat_session *s, vp_str word)
{
    static const char *const status[] = {"", "unreadable", "unfinished", "empty"};
    if (contains_lower(s->name, word) || contains_lower(s->path, word) ||
        contains_lower(s->kind, word))
        return true;
    for (size_t i = 0; i < s->host_count; i++)
        if (contains_lower(s->hosts[i].name, word))
            return true;
    if (s->file_count && s->files[0].is_member && contains_lower("archive", word))
        return true;
    return s->status != CAT_OK && contains_lower(status[s->status], word);
}

/* True if every word of the query occurs in the text of the row. */
static bool session_matches_query(const cat_session *s, vp_str query)
{
    while (query.n) {
        vp_str word;
        if (!vp_take_until(&query, ' ', LISTING_QUERY_MAX, &word))
            return false;
        if (word.n && !session_has_word(s, word))
            return false;
    }
    return true;
}

/* ---- Figures -------------------------------------------------------------------------------- */

int64_t listing_busy(const vp_report *r)
{
    __int128 busy = 0, window = 0;
    for (size_t i = 0; r->has_devices && i < r->device_count; i++) {
        busy += r->devices[i].breakdown.busy_ps;
        window += r->devices[i].breakdown.window_ps;
    }
    return window > 0 ? (int64_t)(busy * 10000 / window) : VP_UNKNOWN;
}

int64_t listing_step(const vp_report *r)
{
    return r->depth == VP_DEPTH_FULL && r->steps.counted > 0 ? r->steps.median_ps : VP_UNKNOWN;
}

static int64_t figure_of(store *st, const cat_session *s, listing_sort by)
{
    VP_CLEANUP(store_release) store_report *h = NULL;
    if (by == LISTING_BY_SIZE)
        return s->bytes;
    if ((by != LISTING_BY_BUSY && by != LISTING_BY_STEP) || !st || s->status != CAT_OK ||
        !store_peek(&h, st, s, VP_GROUP_NAME))
        return VP_UNKNOWN;
    return by == LISTING_BY_BUSY ? listing_busy(store_report_of(h))
                                 : listing_step(store_report_of(h));
}

/* ---- The order ------------------------------------------------------------------------------ */

vp_str listing_run_of(const cat_session *s)
{
    const char *slash = strrchr(s->name, '/');
    return vp_str_head(vp_str_of(s->name), slash ? (size_t)(slash - s->name) : 0);
}

static int order_ascending(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* In the requested order: unknown figures last, equal ones in the order of the catalog. */
static int in_listing_order(const void *a, const void *b, void *ctx)
{
    const listing_query *q = ctx;
    const listing_row *x = a, *y = b;
    int c = 0;
    if (q->sort == LISTING_BY_NAME)
        c = strcmp(x->session->name, y->session->name);
    else if (q->sort == LISTING_BY_TIME)
        c = order_ascending((int64_t)x->place, (int64_t)y->place);
    else if ((x->figure < 0) != (y->figure < 0))
        return x->figure < 0 ? 1 : -1;
    else
        c = q->sort == LISTING_BY_BUSY ? order_ascending(x->figure, y->figure)
                                       : order_ascending(y->figure, x->figure);
    if (c)
        return q->backwards ? -c : c;
    return order_ascending((int64_t)x->place, (int64_t)y->place);
}

static int compare_runs(const listing_row *x, const listing_row *y)
{
    vp_str a = listing_run_of(x->session), b = listing_run_of(y->session);
    int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return c ? c : order_ascending((int64_t)a.n, (int64_t)b.n);
}

static int by_run(const void *a, const void *b)
{
    const listing_row *x = a, *y = b;
    int c = compare_runs(x, y);
    return c ? c : order_ascending((int64_t)x->place, (int64_t)y->place);
}

static int by_row_group(const void *a, const void *b)
{
    const listing_row *x = a, *y = b;
    int c = order_ascending((int64_t)x->group, (int64_t)y->group);
    return c ? c : order_ascending((int64_t)x->place, (int64_t)y->place);
}

/* A run is at the position of its first member. */
static void group_rows(listing_row *rows, size_t n)
{
    qsort(rows, n, sizeof *rows, by_run);
    for (size_t i = 0; i < n; i++)
        rows[i].group =
            i && !compare_runs(&rows[i - 1], &rows[i]) ? rows[i - 1].group : rows[i].place;
    qsort(rows, n, sizeof *rows, by_row_group);
}

int listing_make(listing *out, store *st, const catalog *c, const listing_query *q)
{
    listing l = {.rows = vp_calloc(catalog_count(c) + 1, sizeof *l.rows)};
    VP_NEED(l.rows);
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        if (!session_matches_query(s, vp_str_of(q->text)))
            continue;
        l.rows[l.count] = (listing_row){s, figure_of(st, s, q->sort), i, 0};
        l.unknown += q->sort >= LISTING_BY_BUSY && l.rows[l.count].figure < 0;
        l.count++;
    }
    qsort_r(l.rows, l.count, sizeof *l.rows, in_listing_order, (void *)(uintptr_t)q);
    for (size_t i = 0; i < l.count; i++)
        l.rows[i].place = i;
    if (q->grouped)
        group_rows(l.rows, l.count);
    *out = l;
    return 0;
}
