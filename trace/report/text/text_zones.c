/* Threads, and data recorded by the program: arguments of zones, counters, metadata. */
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/report/table/program_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/shown_rows.h"

#define THREADS_MAX 10u
#define ARGS_MAX 12u
#define COUNTERS_MAX 12u
#define META_MAX 16u

/* Writes nothing if there are none. */
static int text_put_optional_table(vp_buf *b, const vp_view *v, tbl *t, size_t most)
{
    t->most = most;
    return tbl_any(t) ? text_titled_table(b, v, t) : b->status;
}

static bool has_numbers(const tbl *t, const void *row)
{
    const vp_values *x = row;
    return x->numbers > 0 && rep_shows_host(t->v, x->host);
}

/* "adam ×120, sgd ×3, 7 others" */
static tbl_style put_said(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_values *x = row;
    (void)t, (void)c;
    for (size_t i = 0; i < x->top_count; i++) {
        vp_buf_puts(b, i ? ", " : "");
        vp_put_escaped(b, vp_str_of(x->top[i].text));
        if (x->texts > 1)
            vp_buf_printf(b, " ×%lld", (long long)x->top[i].count);
    }
    if (x->others)
        vp_buf_printf(b, ", %lld others", (long long)x->others);
    return TBL_PLAIN;
}

int text_zones(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_threads(&t, r, v);
    t.title = "Threads; lost: wait time that could have been work";
    VP_TRY(text_put_optional_table(b, v, &t, THREADS_MAX));
    tbl_args(&t, r, v);
    t.title = "Zone arguments: numbers";
    t.shows = has_numbers;
    VP_TRY(text_put_optional_table(b, v, &t, ARGS_MAX));
    tbl_arg_texts(&t, r, v);
    t.own_text = put_said;
    VP_TRY(text_put_optional_table(b, v, &t, ARGS_MAX));
    tbl_counters(&t, r, v);
    t.shows = has_numbers;
    VP_TRY(text_put_optional_table(b, v, &t, COUNTERS_MAX));
    tbl_meta(&t, r, v);
    return text_put_optional_table(b, v, &t, META_MAX);
}
