#include "trace/report/trend/trend_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/report/data/field_macros.h"
#include "trace/report/data/report_json.h"
#include "trace/report/labels/words.h"

#define SCHEMA "view_profile.history/1"
#define RUNS_MAX 100000u

static const rep_field op_fields[] = {
    {F("class", REP_WORD, trend_op, op_class), .words = rep_class_words},
    {F("category", REP_TEXT, trend_op, category)},
    {F("name", REP_TEXT, trend_op, name), .needed = true},
    {F("self_ps", REP_COUNT, trend_op, self_ps)},
    {0},
};

static const rep_field session_fields[] = {
    {F("id", REP_TEXT, trend_run, id)},
    {F("name", REP_TEXT, trend_run, name)},
    {F("path", REP_TEXT, trend_run, path)},
    {F("captured_unix_ns", REP_COUNT, trend_run, captured_unix_ns), .unsummed = true},
    {0},
};

static const rep_field run_fields[] = {
    {.key = "session", .type = REP_OBJECT, .fields = session_fields},
    {F("per_step", REP_BOOL, trend_run, per_step)},
    {F("steps", REP_COUNT, trend_run, steps)},
    {F("median_ps", REP_COUNT, trend_run, median_ps)},
    {F("p90_ps", REP_COUNT, trend_run, p90_ps)},
    {F("mad_ps", REP_COUNT, trend_run, mad_ps)},
    {F("first_step", REP_COUNT, trend_run, first_step), .unsummed = true},
    {F("last_step", REP_COUNT, trend_run, last_step), .unsummed = true},
    {F("first_unix_ns", REP_COUNT, trend_run, first_unix_ns), .unsummed = true},
    {F("last_end_unix_ns", REP_COUNT, trend_run, last_end_unix_ns), .unsummed = true},
    {F("device", REP_TEXT, trend_run, device)},
    {F("window_ps", REP_COUNT, trend_run, window_ps)},
    {F("compute_ps", REP_COUNT, trend_run, compute_ps)},
    {F("exposed_comm_ps", REP_COUNT, trend_run, exposed_comm_ps)},
    {F("exposed_copy_ps", REP_COUNT, trend_run, exposed_copy_ps)},
    {F("idle_ps", REP_COUNT, trend_run, idle_ps)},
    {LIST("ops", trend_run, ops, op_count, trend_op, op_fields)},
    {0},
};

void trend_init(trend *t)
{
    *t = (trend){0};
    vp_arena_init(&t->arena);
}

void trend_free(trend *t)
{
    vp_free(t->runs);
    vp_arena_free(&t->arena);
    *t = (trend){0};
}

static int trend_new_run(trend *t, trend_run **out)
{
    VP_TRY(vp_grow(&t->runs, &t->cap, t->count + 1, sizeof *t->runs, RUNS_MAX));
    *out = &t->runs[t->count];
    **out = (trend_run){0};
    return 0;
}

int trend_add(trend *t, const vp_report *r)
{
    trend_run *run;
    VP_TRY(trend_new_run(t, &run));
    VP_TRY(trend_run_of(run, &t->arena, r));
    t->count++;
    return 0;
}

static int by_capture_time(const void *pa, const void *pb)
{
    const trend_run *a = pa, *b = pb;
    int order =
        (a->captured_unix_ns > b->captured_unix_ns) - (a->captured_unix_ns < b->captured_unix_ns);
    return order ? order : strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

void trend_sort(trend *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->runs[i].captured_unix_ns < 0)
            return;
    if (t->count)
        qsort(t->runs, t->count, sizeof *t->runs, by_capture_time);
}

/* ---- Lines ---- */

/* What the tables need of a report: there is none. */
static const vp_report no_report;

int rep_history_line(vp_buf *b, const trend_run *run)
{
    rep_json_out o = {.r = &no_report};
    vp_json_init(&o.j, b);
    rep_json_head(&o.j, SCHEMA);
    rep_put_fields(&o, run_fields, run);
    vp_json_end_object(&o.j);
    return vp_buf_putc(b, '\n');
}

static int trend_read_line(trend *t, vp_str line)
{
    rep_json_in in = {.arena = &t->arena};
    json_error_t e;
    trend_run *run = NULL;
    json_t *root = json_loadb(line.p, line.n, JSON_REJECT_DUPLICATES, &e);
    if (!root)
        return vp_fail(VP_ECORRUPT, "no valid JSON: %.200s", e.text);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    int rc = schema && !strcmp(schema, SCHEMA)
                 ? trend_new_run(t, &run)
                 : vp_fail(VP_EUNSUPPORTED, "no line of a history (" SCHEMA ")");
    if (rc >= 0)
        rc = rep_get_fields(&in, run_fields, root, run, NULL);
    vp_map_free(&in.sum_at);
    json_decref(root);
    t->count += rc >= 0;
    return rc;
}

static int trend_read_lines(trend *t, vp_str text)
{
    vp_str line;
    for (int64_t number = 1; text.n; number++) {
        (void)vp_take_until(&text, '\n', text.n, &line);
        line = vp_str_trim(line);
        int rc = line.n ? trend_read_line(t, line) : 0;
        if (rc < 0) {
            vp_error why = *vp_error_last();
            return vp_fail(rc, "line %lld: %.250s", (long long)number, why.message);
        }
    }
    return 0;
}

int trend_add_history(trend *t, const char *path)
{
    vp_buf b;
    vp_buf_init(&b, VP_REPORT_READ_MAX);
    int rc = rep_read_text(&b, path);
    if (rc >= 0)
        rc = trend_read_lines(t, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc < 0 ? vp_fail_at(rc, path, -1, -1) : 0;
}

bool trend_is_history(const char *path)
{
    return rep_starts_with(path, "\"" SCHEMA "\"");
}

/* ---- JSON ---- */

static void json_put_trend_row(rep_json_out *o, const trend_row *row, size_t runs)
{
    vp_json_begin_object(&o->j);
    vp_json_kcstr(&o->j, "class", rep_class_name(row->op->op_class));
    vp_json_kcstr(&o->j, "category", row->op->category);
    vp_json_kcstr(&o->j, "name", row->op->name);
    vp_json_ki64(&o->j, "moved_ps", row->moved_ps);
    vp_json_key(&o->j, "self_ps");
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < runs; i++) {
        if (row->self_ps[i] < 0)
            vp_json_null(&o->j);
        else
            vp_json_i64(&o->j, row->self_ps[i]);
    }
    vp_json_end_array(&o->j);
    vp_json_end_object(&o->j);
}

int rep_trend_json(vp_buf *b, const trend *t)
{
    rep_json_out o = {.r = &no_report};
    trend_row *rows;
    size_t n;
    vp_arena arena;
    vp_arena_init(&arena);
    int rc = trend_rows(&rows, &n, &arena, t->runs, t->count);
    if (rc >= 0) {
        vp_json_init(&o.j, b);
        rep_json_head(&o.j, "view_profile.trend/1");
        vp_json_key(&o.j, "runs");
        vp_json_begin_array(&o.j);
        for (size_t i = 0; i < t->count; i++)
            rep_put_object(&o, run_fields, &t->runs[i]);
        vp_json_end_array(&o.j);
        vp_json_key(&o.j, "ops");
        vp_json_begin_array(&o.j);
        for (size_t i = 0; i < n; i++)
            json_put_trend_row(&o, &rows[i], t->count);
        vp_json_end_array(&o.j);
        vp_json_end_object(&o.j);
        rc = vp_buf_putc(b, '\n');
    }
    vp_arena_free(&arena);
    return rc;
}
