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

static const rep_field trend_op_fields[] = {
    {F("class", REP_WORD, trend_op, op_class), .words = rep_class_words,
     .about = "Class of the work."},
    {F("category", REP_TEXT, trend_op, category), .null = "the profile has no category",
     .about = "Category in the profile."},
    {F("name", REP_TEXT, trend_op, name), .needed = true, .null = "empty",
     .about = "Name of the group."},
    {F("self_ps", REP_COUNT, trend_op, self_ps),
     .about = "Mean self time per step, or of the window if there are no steps."},
    {END("trend_op", "One of the largest ops of a run.")},
};

static const rep_field trend_session_fields[] = {
    {F("id", REP_TEXT, trend_run, id), .about = "Identifier of the run."},
    {F("name", REP_TEXT, trend_run, name), .about = "Name of the run."},
    {F("path", REP_TEXT, trend_run, path), .about = "Path of the run."},
    {F("captured_unix_ns", REP_COUNT, trend_run, captured_unix_ns), .unsummed = true,
     .about = "Time of the capture since 1970."},
    {END("trend_session", "A run of a history.")},
};

const rep_field rep_history_fields[] = {
    {.key = "session", .type = REP_OBJECT, .fields = trend_session_fields, .about = "The run."},
    {F("per_step", REP_BOOL, trend_run, per_step),
     .about = "True if times are means per step, false if they are of the whole window."},
    {F("steps", REP_COUNT, trend_run, steps), .null = "no steps",
     .about = "Steps that count in the statistics."},
    {F("median_ps", REP_COUNT, trend_run, median_ps), .null = "no steps",
     .about = "Median duration of a step."},
    {F("p90_ps", REP_COUNT, trend_run, p90_ps), .null = "no steps",
     .about = "90th percentile of the duration of a step."},
    {F("mad_ps", REP_COUNT, trend_run, mad_ps), .null = "no steps",
     .about = "Median absolute deviation of the duration."},
    {F("first_step", REP_COUNT, trend_run, first_step), .unsummed = true, .unit = "",
     .about = "Number of the first whole step."},
    {F("last_step", REP_COUNT, trend_run, last_step), .unsummed = true, .unit = "",
     .about = "Number of the last whole step."},
    {F("first_unix_ns", REP_COUNT, trend_run, first_unix_ns), .unsummed = true,
     .about = "Start of the first whole step since 1970."},
    {F("last_end_unix_ns", REP_COUNT, trend_run, last_end_unix_ns), .unsummed = true,
     .about = "End of the last whole step since 1970."},
    {F("device", REP_TEXT, trend_run, device), .null = "no devices",
     .about = "Name of the device that takes longest."},
    {F("window_ps", REP_COUNT, trend_run, window_ps),
     .about = "Mean step or window of that device."},
    {F("compute_ps", REP_COUNT, trend_run, compute_ps), .about = "Compute time of that device."},
    {F("exposed_comm_ps", REP_COUNT, trend_run, exposed_comm_ps),
     .about = "Exposed communication of that device."},
    {F("exposed_copy_ps", REP_COUNT, trend_run, exposed_copy_ps),
     .about = "Exposed copies of that device."},
    {F("idle_ps", REP_COUNT, trend_run, idle_ps), .about = "Idle time of that device."},
    {LIST("ops", trend_run, ops, op_count, trend_op, trend_op_fields),
     .about = "Largest ops by self time."},
    {END("trend_run", "The figures of one run in a history.")},
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

/* The data that tables need of a report, which is missing here. */
static const vp_report no_report;

int rep_history_line(vp_buf *b, const trend_run *run)
{
    rep_json_out o = {.r = &no_report};
    vp_json_init(&o.j, b);
    rep_json_head(&o.j, SCHEMA);
    rep_put_fields(&o, rep_history_fields, run);
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
        return vp_fail(VP_ECORRUPT, "invalid JSON: %.200s", e.text);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    int rc = schema && !strcmp(schema, SCHEMA)
                 ? trend_new_run(t, &run)
                 : vp_fail(VP_EUNSUPPORTED, "not a line of a history file (" SCHEMA ")");
    if (rc >= 0)
        rc = rep_get_fields(&in, rep_history_fields, root, run, NULL);
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

/* A row of the comparison over runs, as JSON has it. */
typedef struct trend_json_row {
    vp_op_class op_class;
    const char *category, *name;
    int64_t moved_ps;
    const int64_t *self_ps;
    size_t run_count;
} trend_json_row;

typedef struct trend_json {
    const trend_run *runs;
    trend_json_row *ops;
    size_t run_count, op_count;
} trend_json;

static const rep_field trend_row_fields[] = {
    {F("class", REP_WORD, trend_json_row, op_class), .words = rep_class_words,
     .about = "Class of the work."},
    {F("category", REP_TEXT, trend_json_row, category), .null = "the profile has no category",
     .about = "Category in the profile."},
    {F("name", REP_TEXT, trend_json_row, name), .needed = true, .null = "empty",
     .about = "Name of the group."},
    {F("moved_ps", REP_COUNT, trend_json_row, moved_ps), .needed = true,
     .about = "Largest known self time minus the smallest."},
    {ARRAY("self_ps", REP_COUNTS, trend_json_row, self_ps, run_count), .sparse = true,
     .about =
         "Self time in each run, in the order of `runs`; null if the op is not among the largest."},
    {END("trend_row", "An op over several runs.")},
};

const rep_field rep_trend_fields[] = {
    {LIST("runs", trend_json, runs, run_count, trend_run, rep_history_fields),
     .about = "Runs in order of capture."},
    {LIST("ops", trend_json, ops, op_count, trend_json_row, trend_row_fields),
     .about = "Ops by how much their self time changed, largest first."},
    {0},
};

static int make_trend_json(trend_json *out, vp_arena *arena, const trend *t)
{
    trend_row *rows;
    VP_TRY(trend_rows(&rows, &out->op_count, arena, t->runs, t->count));
    out->runs = t->runs;
    out->run_count = t->count;
    out->ops = vp_arena_zalloc(arena, (out->op_count + 1) * sizeof *out->ops);
    VP_NEED(out->ops);
    for (size_t i = 0; i < out->op_count; i++)
        out->ops[i] = (trend_json_row){.op_class = rows[i].op->op_class,
                                       .category = rows[i].op->category,
                                       .name = rows[i].op->name,
                                       .moved_ps = rows[i].moved_ps,
                                       .self_ps = rows[i].self_ps,
                                       .run_count = t->count};
    return 0;
}

int rep_trend_json(vp_buf *b, const trend *t)
{
    rep_json_out o = {.r = &no_report};
    trend_json made;
    vp_arena arena;
    vp_arena_init(&arena);
    int rc = make_trend_json(&made, &arena, t);
    if (rc >= 0) {
        vp_json_init(&o.j, b);
        rep_json_head(&o.j, "view_profile.trend/1");
        rep_put_fields(&o, rep_trend_fields, &made);
        vp_json_end_object(&o.j);
        rc = vp_buf_putc(b, '\n');
    }
    vp_arena_free(&arena);
    return rc;
}
