#include "trace/report/table/program_tables.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

/* ---- Threads ---- */

static void get_thread(tbl_value *out, const void *row)
{
    const vp_thread *x = row;
    out->text = x->name;
    out->below = x->steps ? "has the steps" : NULL;
    out->style = x->steps ? TBL_BOLD : TBL_PLAIN;
}

static void get_longest_wait(tbl_value *out, const void *row)
{
    const vp_thread *x = row;
    out->n = x->wait ? x->wait_start_ps : VP_NO_TIME;
    out->whole = x->wait_dur_ps;
    out->host = x->device < out->t->r->device_count ? out->t->r->devices[x->device].host : NULL;
}

#define ROW vp_thread
static const tbl_column thread_columns[] = {
    {TBL_NAME, GET(get_thread), PAGE("Thread", NULL), TERM(5, "thread"), SHORT(14, 8)},
    {TBL_DEVICE, AT(device), PAGE("Process", NULL)},
    {TBL_PS, AT(work_ps), PAGE("Work", "Self time outside of waiting zones"), TERM_UNIT(1, "work")},
    {TBL_PS, AT(wait_ps), PAGE("Wait", "Self time of waiting zones, by name or category"),
     TERM(2, "wait")},
    {TBL_PS, AT(lost_ps), PAGE("Lost", "Wait time that could have been work"), TERM(3, "lost"),
     DROP(1)},
    {TBL_TEXT, AT(zone), PAGE("Most work in", NULL), TERM(6, "most work in"), SHORT(14, 8)},
    {TBL_SHARE, AT(zone_ps), ALSO(work_ps), PAGE("Of work", "Share of the thread's work"),
     UNIT(PERCENT), TERM(4, "top%"), DROP(1)},
    {TBL_TEXT, AT(wait), PAGE("Most lost in", NULL), TERM(7, "most lost in"), STYLE(TBL_DIM),
     SHORT(14, 8), DROP(2)},
    {TBL_WHEN, GET(get_longest_wait), PAGE("Longest", "Longest such wait")},
};
#undef ROW

static bool shows_thread(const tbl *t, const void *row)
{
    return rep_shows_device(t->r, t->v, ((const vp_thread *)row)->device);
}

void tbl_threads(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Threads", thread_columns, r->threads, r->thread_count), .r = r, .v = v,
               .shows = shows_thread};
    t->unit[0] = rep_unit_for(v->unit, r->thread_count ? r->threads->work_ps : 0);
}

/* ---- Values ---- */

static void get_value_count(tbl_value *out, const void *row)
{
    const vp_values *x = row;
    out->n = x->numbers + x->texts;
}

#define ROW vp_values
static const tbl_column arg_columns[] = {
    {TBL_NAME, AT(key), ALSO(zone), PAGE("Argument", "Key, with its zone"), TERM(6, "argument"),
     SHORT(14, 8)},
    {TBL_TEXT, AT(zone), TERM(7, "of zone"), STYLE(TBL_DIM), SHORT(20, 8)},
    {TBL_TEXT, AT(host), PAGE("Host", NULL), NEEDS(TBL_HOSTS)},
    {TBL_COUNT, GET(get_value_count), PAGE("Calls", NULL)},
    {TBL_COUNT, AT(numbers), TERM(1, "calls"), DROP(3)},
    {TBL_VALUE, AT(min), PAGE("Min", NULL), TERM(2, "min"), DROP(1)},
    {TBL_VALUE, AT(mean), PAGE("Mean", NULL), TERM(3, "mean")},
    {TBL_VALUE, AT(max), PAGE("Max", NULL), TERM(4, "max"), DROP(1)},
    {TBL_VALUE, AT(sum), PAGE("Sum", NULL), TERM(5, "sum"), DROP(2)},
    {TBL_OWN, PAGE("Texts", "Most frequent values, with their counts")},
};
static const tbl_column counter_columns[] = {
    {TBL_NAME, AT(zone), PAGE("Counter", NULL), TERM(6, "counter"), SHORT(14, 8)},
    {TBL_TEXT, AT(host), PAGE("Host", NULL), NEEDS(TBL_HOSTS)},
    {TBL_COUNT, GET(get_value_count), PAGE("Values", NULL)},
    {TBL_COUNT, AT(numbers), TERM(1, "values"), DROP(3)},
    {TBL_VALUE, AT(min), PAGE("Min", NULL), TERM(2, "min"), DROP(1)},
    {TBL_VALUE, AT(mean), PAGE("Mean", NULL), TERM(3, "mean")},
    {TBL_VALUE, AT(max), PAGE("Max", NULL), TERM(4, "max"), DROP(1)},
    {TBL_VALUE, AT(last), PAGE("Last", NULL), TERM(5, "last"), DROP(2)},
};
static const tbl_column text_columns[] = {
    {TBL_COUNT, AT(texts), TERM(0, "calls"), DROP(1)},
    {TBL_NAME, AT(key), TERM(0, "argument"), SHORT(14, 8)},
    {TBL_TEXT, AT(zone), TERM(0, "of zone"), STYLE(TBL_DIM), SHORT(20, 8)},
    {TBL_OWN, TERM(0, "most frequent"), SHORT(30, 12)},
};
#undef ROW

static bool shows_values(const tbl *t, const void *row)
{
    return rep_shows_host(t->v, ((const vp_values *)row)->host);
}

/* The number of rows that are not listed is known only for all hosts together. */
static size_t count_beyond_listed(const vp_view *v, int64_t total, size_t listed)
{
    return v->host ? 0 : rep_beyond(total, listed);
}

void tbl_args(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Zone arguments", arg_columns, r->args, r->arg_count), .r = r, .v = v,
               .shows = shows_values, .has = tbl_has(r)};
    t->beyond = count_beyond_listed(v, r->arg_total, r->arg_count);
}

void tbl_counters(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Counters", counter_columns, r->counters, r->counter_count), .r = r, .v = v,
               .shows = shows_values, .has = tbl_has(r)};
    t->beyond = count_beyond_listed(v, r->counter_total, r->counter_count);
}

static bool shows_texts(const tbl *t, const void *row)
{
    return ((const vp_values *)row)->texts && shows_values(t, row);
}

void tbl_arg_texts(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){
        TBL_ROWS("Zone arguments: text values with counts", text_columns, r->args, r->arg_count),
        .r = r, .v = v, .shows = shows_texts};
}

/* ---- Facts ---- */

#define ROW vp_meta
static const tbl_column meta_columns[] = {
    {TBL_NAME, AT(key), ALSO_OF_HOSTS(host), PAGE("Key", NULL), TERM(0, "key"), SHORT(24, 8)},
    {TBL_TEXT, AT(value), PAGE("Value", NULL), TERM(0, "value"), SHORT(40, 12)},
    {TBL_TEXT, AT(host), TERM(0, "host"), TERM_NEEDS(TBL_HOSTS), STYLE(TBL_DIM), SHORT(14, 8),
     DROP(1)},
};
#undef ROW

static bool shows_meta(const tbl *t, const void *row)
{
    return rep_shows_host(t->v, ((const vp_meta *)row)->host);
}

void tbl_meta(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Program metadata", meta_columns, r->meta, r->meta_count), .r = r, .v = v,
               .shows = shows_meta, .has = tbl_has(r)};
    t->beyond = count_beyond_listed(v, r->meta_total, r->meta_count);
}
