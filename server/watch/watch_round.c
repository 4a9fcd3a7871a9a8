#include "server/watch/watch_round.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "include/view_profile.h"
#include "server/watch/watch_away.h"
#include "server/watch/watch_deliver.h"
#include "server/watch/watch_say.h"
#include "server/watch/watch_verdict.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/labels/numbers.h"

#define CAPTURE_MORE_MS                                                                            \
    600000 /* in addition to --duration: the transfer of a large trace takes time */
#define ANALYSIS_MS 1800000
#define HOOK_MS 300000
#define ARGS_MAX 64u
#define COMPARE_BYTES_MAX (64u << 20)
#define FAIL_ON_BYTES_MAX (1u << 20) /* more than the limit of an argument */

typedef struct argv_of {
    const char *v[ARGS_MAX + 1];
    size_t n;
} argv_of;

static void argv_add(argv_of *a, const char *word)
{
    if (a->n < ARGS_MAX)
        a->v[a->n++] = word;
    a->v[a->n] = NULL;
}

static void argv_add_pair(argv_of *a, const char *option, const char *value)
{
    if (value) {
        argv_add(a, option);
        argv_add(a, value);
    }
}

/* This program with a command. */
static void argv_add_own_command(argv_of *a, const watch_round *r, const char *command)
{
    a->v[0] = r->o->program;
    a->v[1] = command;
    a->v[a->n = 2] = NULL;
}

void watch_round_init(watch_round *r, size_t slot, const watch_options *o, const watch_store *s,
                      watch_jobs *all)
{
    *r = (watch_round){.o = o, .s = s, .all = all, .child = {.out = -1, .err = -1}};
    snprintf(r->slot, sizeof r->slot, "slot-%zu", slot);
}

void watch_round_free(watch_round *r)
{
    watch_child_free(&r->child);
    vp_free(r->cost);
    r->cost = NULL;
}

static void set_round_problem(watch_round *r, const char *text)
{
    if (!r->problem[0])
        snprintf(r->problem, sizeof r->problem, "%s", text);
}

/* Sets the problem to the last error of this process. */
static void problem_of_error(watch_round *r)
{
    char line[WATCH_ERROR_MAX];
    set_round_problem(r, vp_error_line(vp_error_last(), line, sizeof line));
}

/* Ends the round. */
static bool conclude_round(watch_round *r, watch_status status)
{
    watch_job *j = r->job;
    bool well = status == WATCH_FINE || status == WATCH_IS_SLOWER;
    j->rounds++;
    j->last_empty = !well;
    j->in_a_row = well ? 0 : j->in_a_row + 1;
    j->failures += !well && !r->stopping;
    if (!r->stopping)
        watch_say_state(r->o, j, status, r->problem[0] ? r->problem : NULL);
    (void)malloc_trim(0); /* a comparison of many ops needs much memory, which is not needed until
                             the next round */
    j->running = false;
    r->job = NULL;
    r->stage = ROUND_IDLE;
    watch_round_free(r);
    return true;
}

static bool start_delivery(watch_round *r, watch_status status);

/* Called when the result of the round is known. */
static bool settle_round(watch_round *r, watch_status status)
{
    if (watch_ring_trim(r->s, r->job, r->o->keep) < 0) {
        problem_of_error(r);
        status = WATCH_FAILED;
    }
    bool delivers = r->s->at.url && !r->stopping && watch_away_is_due(r->job, r->all);
    return delivers ? start_delivery(r, status) : conclude_round(r, status);
}

/* Starts the next child; ends the round if that fails. */
static bool start_round_stage(watch_round *r, watch_stage stage, const argv_of *a, bool piped,
                              const char *const *env, int64_t allowed_ms)
{
    watch_child_free(&r->child);
    r->stage = stage;
    if (watch_child_start(&r->child, a->v, piped, env, allowed_ms) >= 0)
        return false;
    problem_of_error(r);
    return settle_round(r, WATCH_FAILED);
}

/* ---- Where --out is an address ----------------------------------------------------------------
 */

static bool start_delivery(watch_round *r, watch_status status)
{
    argv_of a = {0};
    char plan[VP_PATH_MAX];
    r->outcome = status;
    watch_child_free(&r->child);
    int rc = watch_inner_path(r->s, plan, r->slot, "plan");
    if (rc >= 0)
        rc = watch_away_plan(plan, r->s, r->o, r->job, r->all);
    argv_add(&a, r->o->program);
    argv_add(&a, WATCH_DELIVER);
    argv_add(&a, plan);
    if (rc >= 0)
        rc = watch_child_start(&r->child, a.v, true, NULL, ANALYSIS_MS);
    r->stage = ROUND_DELIVER;
    if (rc >= 0)
        return false;
    problem_of_error(r);
    return conclude_round(r, WATCH_FAILED);
}

static bool end_delivery(watch_round *r)
{
    char line[WATCH_ERROR_MAX];
    if (!r->child.code)
        return conclude_round(r, r->outcome);
    snprintf(line, sizeof line, "%.380s",
             r->child.said[0] ? r->child.said : "cannot write to --out");
    set_round_problem(r, line);
    watch_inner_remove(r->s, r->slot, "plan");
    return conclude_round(r, r->stopping ? r->outcome : WATCH_FAILED);
}

/* ---- Capture --------------------------------------------------------------------------------- */

static bool is_run_name_taken(const watch_round *r, const char *run)
{
    char path[VP_PATH_MAX];
    const watch_job *j = r->job;
    for (size_t i = 0; i < j->run_count; i++)
        if (!strcmp(j->runs[i].run, run))
            return true;
    for (size_t i = 0; i < j->figure_count; i++)
        if (!strcmp(j->figures[i].run, run))
            return true;
    watch_run_path(path, run);
    return faccessat(r->s->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* 2026_01_11_21_26_41_NAME: the name of the job is part of the run's name if there are several
 * jobs. */
static void name_run(const watch_round *r, char out[WATCH_RUN_MAX])
{
    struct tm t;
    time_t now = time(NULL);
    size_t n = localtime_r(&now, &t) ? strftime(out, WATCH_RUN_MAX, "%Y_%m_%d_%H_%M_%S", &t) : 0;
    n += (size_t)snprintf(out + n, WATCH_RUN_MAX - n, "_%s", r->job->name);
    for (int i = 2; i < 100; i++) {
        if (!is_run_name_taken(r, out))
            break;
        snprintf(out + n, WATCH_RUN_MAX - n, "_%d", i);
    }
}

void watch_round_start(watch_round *r, watch_job *j)
{
    argv_of a = {0};
    char name[WATCH_RUN_MAX];
    r->job = j;
    r->run[0] = r->code[0] = r->problem[0] = 0;
    r->have = r->stopping = false;
    j->running = true;
    argv_add_own_command(&a, r, "capture");
    argv_add_pair(&a, "--format", "json");
    argv_add_pair(&a, "--out", r->s->out);
    name_run(r, name);
    argv_add_pair(&a, "--name", r->s->single && !r->s->at.url ? NULL : name);
    for (size_t i = 0; i < r->o->capture_arg_count; i++)
        argv_add(&a, r->o->capture_args[i]);
    argv_add(&a, "--");
    argv_add(&a, j->target);
    (void)start_round_stage(r, ROUND_CAPTURE, &a, true, NULL, r->o->duration_ms + CAPTURE_MORE_MS);
}

static void take_event_targets(watch_round *r, const json_t *list)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        const char *error = json_string_value(json_object_get(v, "error"));
        const char *code = json_string_value(json_object_get(v, "code"));
        const char *target = json_string_value(json_object_get(v, "target"));
        char line[WATCH_ERROR_MAX];
        r->have = r->have || json_integer_value(json_object_get(v, "bytes")) > 0;
        if (!error)
            continue;
        snprintf(line, sizeof line, "%.100s%s%.280s",
                 json_array_size(list) > 1 && target ? target : "",
                 json_array_size(list) > 1 ? ": " : "", error);
        set_round_problem(r, line);
        if (code && !r->code[0])
            snprintf(r->code, sizeof r->code, "%s", code);
    }
}

static void take_capture_line(watch_round *r, vp_str line)
{
    json_error_t e;
    json_t *v = json_loadb(line.p, line.n, 0, &e);
    const char *event = json_string_value(json_object_get(v, "event"));
    const char *run = json_string_value(json_object_get(v, "run"));
    if (run && strlen(run) < sizeof r->run)
        snprintf(r->run, sizeof r->run, "%s", run);
    if (event && !strcmp(event, "end"))
        take_event_targets(r, json_object_get(v, "targets"));
    json_decref(v);
}

static void take_events(watch_round *r)
{
    vp_str line;
    while (r->stage == ROUND_CAPTURE && watch_child_line(&r->child, &line))
        take_capture_line(r, line);
    while (r->stage == ROUND_DELIVER && watch_child_line(&r->child, &line))
        if (watch_away_take(r->s, r->all, line) < 0)
            problem_of_error(r);
}

static watch_status status_of_error_code(const char *code)
{
    static const char *const gone[] = {"unreachable", "no_service", "deadline"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (!strcmp(code, gone[i]))
            return WATCH_GONE;
    return !strcmp(code, "busy") ? WATCH_BUSY : WATCH_FAILED;
}

static bool start_report(watch_round *r)
{
    argv_of a = {0};
    int n = snprintf(r->b, sizeof r->b, "%.3800s/plugins/profile/%.200s", r->s->out, r->run);
    if (n < 0 || watch_inner_path(r->s, r->a, r->run, "json") < 0) {
        problem_of_error(r);
        return settle_round(r, WATCH_FAILED);
    }
    argv_add_own_command(&a, r, "report");
    argv_add(&a, "--quiet");
    argv_add_pair(&a, "--format", "json");
    argv_add_pair(&a, "--output", r->a);
    argv_add(&a, "--");
    argv_add(&a, r->b);
    return start_round_stage(r, ROUND_REPORT, &a, false, NULL, ANALYSIS_MS);
}

static bool end_capture_stage(watch_round *r)
{
    char line[WATCH_ERROR_MAX];
    bool kept = r->run[0] && watch_ring_add(r->s, r->job, r->run) >= 0;
    if (kept && r->have && !r->stopping)
        return start_report(r);
    snprintf(line, sizeof line, "the capture failed with exit code %d%s%.300s", r->child.code,
             r->child.said[0] ? ": " : "", r->child.said);
    set_round_problem(r, r->have && !kept && !r->child.code ? vp_error_last()->message : line);
    return settle_round(r, status_of_error_code(r->code));
}

/* ---- Compare --------------------------------------------------------------------------------- */

static bool is_own_kind(const char *baseline)
{
    return !strcmp(baseline, "first") || !strcmp(baseline, "best");
}

static bool has_report(const watch_store *s, const char *run)
{
    return watch_inner_has(s, run, "json");
}

/* Chooses the baseline among the runs of the job. */
static int choose_baseline(watch_round *r)
{
    watch_job *j = r->job;
    const watch_kept *best = NULL;
    if (j->baseline && has_report(r->s, j->baseline))
        return 0;
    for (size_t i = 0; i < j->run_count; i++) {
        const watch_kept *k = &j->runs[i];
        if (!has_report(r->s, k->run))
            continue;
        if (!best || (!strcmp(r->o->baseline, "best") && k->median_ps >= 0 &&
                      (best->median_ps < 0 || k->median_ps < best->median_ps)))
            best = k;
    }
    if (j->baseline)
        vp_log(VP_LOG_WARN, "%s: the report of baseline %s is missing; %s is the new baseline",
               j->target, j->baseline, best ? best->run : r->run);
    return watch_set(&j->baseline, best ? best->run : r->run);
}

/* The path or address of a run in --out. */
static int path_of_run(watch_round *r, const char *run)
{
    if (!r->s->at.url || watch_ring_is_here(r->s, run)) {
        snprintf(r->a, sizeof r->a, "%.3800s/plugins/profile/%.200s", r->s->out, run);
        return 0;
    }
    r->whole = r->o->out;
    return watch_away_run(r->a, r->s, run);
}

/* r->a: the report of the baseline, or the path of --baseline; r->b: the report of this run. */
static int choose_watch_sides(watch_round *r)
{
    const char *named = r->o->baseline;
    r->whole = NULL;
    VP_TRY(watch_inner_path(r->s, r->b, r->run, "json"));
    if (is_own_kind(named)) {
        VP_TRY(choose_baseline(r));
        return watch_inner_path(r->s, r->a, r->job->baseline, "json");
    }
    if (strchr(named, '/')) {
        r->whole = source_is_address(named) ? named : NULL;
        watch_shown(r->a, named);
        return 0;
    }
    VP_TRY(watch_set(&r->job->baseline, named));
    if (has_report(r->s, named))
        return watch_inner_path(r->s, r->a, named, "json");
    return path_of_run(r, named);
}

/* The value for --fail-on of compare: the default plus the user's words, or only these if a time
 * limit is given. Uses `b` if both are combined; NULL: none. */
static const char *fail_on_of(vp_buf *b, const watch_options *o)
{
    if (o->max_regression || o->max_p90_regression)
        return o->fail_on;
    vp_buf_printf(b, "regression%s%s", o->fail_on ? "," : "", o->fail_on ? o->fail_on : "");
    return vp_buf_cstr(b);
}

static bool start_compare(watch_round *r)
{
    argv_of a = {0};
    char out[VP_PATH_MAX], line[VP_PATH_MAX], secrets[2 * VP_PATH_MAX];
    const char *const env[] = {secrets, NULL};
    vp_buf fail_on;
    if (choose_watch_sides(r) < 0 || watch_inner_path(r->s, out, r->slot, "compare") < 0 ||
        watch_inner_path(r->s, line, r->slot, "line") < 0) {
        problem_of_error(r);
        return settle_round(r, WATCH_FAILED);
    }
    watch_inner_remove(r->s, r->slot, "compare");
    watch_inner_remove(r->s, r->slot, "line");
    argv_add_own_command(&a, r, "compare");
    argv_add(&a, "--quiet");
    argv_add_pair(&a, "--format", "json");
    argv_add_pair(&a, "--output", out);
    argv_add_pair(&a, "--append", line);
    vp_buf_init(&fail_on, FAIL_ON_BYTES_MAX);
    argv_add_pair(&a, "--max-regression", r->o->max_regression);
    argv_add_pair(&a, "--max-p90-regression", r->o->max_p90_regression);
    argv_add_pair(&a, "--fail-on-peak", r->o->fail_on_peak);
    argv_add(&a, "--allow-unverified");
    argv_add_pair(&a, "--fail-on", fail_on_of(&fail_on, r->o));
    if (r->o->is_unsigned)
        argv_add(&a, "--no-sign-request");
    argv_add(&a, "--");
    argv_add(&a, r->a);
    argv_add(&a, r->b);
    snprintf(secrets, sizeof secrets, ADDRESS_SECRETS "=%s", r->whole ? r->whole : "");
    bool over = start_round_stage(r, ROUND_COMPARE, &a, false, r->whole ? env : NULL, ANALYSIS_MS);
    vp_buf_free(&fail_on);
    return over;
}

static int put_cost(watch_round *r, const watch_line *line)
{
    vp_buf b;
    vp_buf_init(&b, 4096);
    watch_put_cost(&b, r->job, line, r->o->every_ms, r->o->duration_ms);
    int rc = watch_set(&r->cost, vp_buf_cstr(&b));
    vp_buf_free(&b);
    return rc;
}

/* True if this run is the baseline. */
static bool is_baseline(const watch_round *r)
{
    return r->job->baseline && !strcmp(r->job->baseline, r->run);
}

static int take_words(watch_round *r, const char **verdict, const watch_line *line)
{
    vp_buf json, words;
    vp_buf_init(&json, COMPARE_BYTES_MAX);
    vp_buf_init(&words, 64u << 10);
    int rc = watch_inner_read(r->s, &json, r->slot, "compare");
    bool broke = r->child.code != 0;
    if (rc >= 0)
        rc = watch_verdict(&words, verdict, vp_buf_view(&json), broke, r->o->peak_percent);
    if (rc >= 0 && is_baseline(r)) {
        *verdict = "baseline";
        words.n = 0;
        vp_buf_printf(&words, "%s ", line->steps > 0 ? "median step" : "window");
        (void)rep_duration(&words, line->median_ps, VP_UNIT_AUTO, line->median_ps);
    }
    /* compare also fails for incomplete runs, which were not verified. */
    r->job->last_slower = rc >= 0 && broke && !is_baseline(r) &&
                          (r->o->fail_on || strcmp(*verdict, "unverified") != 0);
    if (rc >= 0 && words.n > WATCH_WORDS_MAX)
        words.n = vp_utf8_span((vp_str){words.p, WATCH_WORDS_MAX});
    if (rc >= 0)
        rc = watch_set(&r->job->words, vp_buf_cstr(&words));
    vp_buf_free(&json);
    vp_buf_free(&words);
    return rc;
}

static int note_figures(watch_round *r, const char *verdict, const watch_line *line)
{
    watch_job *j = r->job;
    watch_figure f = {.run = r->run,
                      .verdict = (char *)(uintptr_t)verdict,
                      .unix_ms = watch_unix_ms(),
                      .steps = line->steps,
                      .median_ps = line->median_ps,
                      .p90_ps = line->p90_ps};
    VP_TRY(put_cost(r, line));
    j->captures++;
    j->last_step = line->last_step;
    j->last_end_unix_ns = line->last_end_unix_ns;
    int64_t best = -1;
    for (size_t i = 0; i < j->run_count; i++) {
        if (!strcmp(j->runs[i].run, r->run))
            j->runs[i].median_ps = line->median_ps;
        else if (j->baseline && !strcmp(j->runs[i].run, j->baseline))
            best = j->runs[i].median_ps;
    }
    if (!strcmp(r->o->baseline, "best") && line->median_ps > 0 &&
        (best < 0 || line->median_ps < best))
        VP_TRY(watch_set(&j->baseline, r->run));
    return watch_job_add_figure(j, &f);
}

/* An error in a later step is reported, but figures already read are kept. */
static int take_results(watch_round *r, const char **verdict)
{
    vp_buf text;
    watch_line line;
    vp_buf_init(&text, 1u << 20);
    int rc = watch_inner_read(r->s, &text, r->slot, "line");
    if (rc >= 0)
        rc = watch_line_read(&line, vp_buf_view(&text));
    if (rc >= 0)
        rc = take_words(r, verdict, &line);
    if (rc >= 0)
        rc = note_figures(r, *verdict, &line);
    if (rc >= 0)
        rc = watch_history_append(r->s, r->job, vp_buf_view(&text));
    vp_buf_free(&text);
    return rc;
}

static bool start_hook(watch_round *r)
{
    argv_of a = {0};
    char target[1200], words[WATCH_WORDS_MAX + 64];
    const char *env[] = {target, words, NULL};
    snprintf(target, sizeof target, "VIEW_PROFILE_WATCH_TARGET=%.1000s", r->job->target);
    snprintf(words, sizeof words, "VIEW_PROFILE_WATCH_WORDS=%s",
             r->job->words ? r->job->words : "");
    argv_add(&a, r->o->on_regression);
    for (size_t i = 0; i < r->o->on_regression_arg_count; i++)
        argv_add(&a, r->o->on_regression_args[i]);
    argv_add(&a, r->a);
    argv_add(&a, r->b);
    watch_child_free(&r->child);
    r->stage = ROUND_HOOK;
    if (watch_child_start(&r->child, a.v, false, env, HOOK_MS) >= 0)
        return false;
    vp_log(VP_LOG_WARN, "--on-regression: %s", vp_error_last()->message);
    return settle_round(r, WATCH_IS_SLOWER);
}

/* A run that cannot be compared, such as an empty one, cannot be the baseline either. */
static bool not_compared(watch_round *r)
{
    char line[WATCH_ERROR_MAX];
    snprintf(line, sizeof line, "%.90s: cannot compare: %.250s", r->run, r->child.said);
    set_round_problem(r, line);
    watch_inner_remove(r->s, r->run, "json");
    if (r->job->baseline && !strcmp(r->job->baseline, r->run))
        (void)watch_set(&r->job->baseline, NULL);
    return settle_round(r, WATCH_FAILED);
}

static bool end_compare_stage(watch_round *r)
{
    const char *verdict = NULL;
    bool was = r->job->last_slower;
    if (r->child.code > 1)
        return not_compared(r);
    int rc = take_results(r, &verdict);
    if (verdict && r->job->words)
        watch_say_capture(r->o, r->job, r->run, verdict, r->cost);
    if (rc < 0) {
        problem_of_error(r);
        return settle_round(r, WATCH_FAILED);
    }
    if (r->job->last_slower && !was && r->o->on_regression && !r->stopping)
        return start_hook(r);
    return settle_round(r, r->job->last_slower ? WATCH_IS_SLOWER : WATCH_FINE);
}

static bool end_hook_stage(watch_round *r)
{
    if (r->child.code)
        vp_log(VP_LOG_WARN, "--on-regression %s: exited with code %d%s%s", r->o->on_regression,
               r->child.code, r->child.said[0] ? ": " : "", r->child.said);
    return settle_round(r, WATCH_IS_SLOWER);
}

static bool end_report_stage(watch_round *r)
{
    char line[WATCH_ERROR_MAX];
    if (!r->child.code && !r->stopping)
        return start_compare(r);
    snprintf(line, sizeof line, "%.90s: cannot analyze: %.250s", r->run,
             r->child.said[0] ? r->child.said : "timed out");
    set_round_problem(r, line);
    return settle_round(r, WATCH_FAILED);
}

bool watch_round_go_on(watch_round *r, int64_t now_ms)
{
    static bool (*const ended[])(watch_round *) = {[ROUND_CAPTURE] = end_capture_stage,
                                                   [ROUND_REPORT] = end_report_stage,
                                                   [ROUND_COMPARE] = end_compare_stage,
                                                   [ROUND_HOOK] = end_hook_stage,
                                                   [ROUND_DELIVER] = end_delivery};
    if (r->stage == ROUND_IDLE)
        return false;
    watch_child_read(&r->child);
    take_events(r);
    if (now_ms >= r->child.term_at_ms)
        watch_child_end(&r->child, now_ms);
    if (!watch_child_reap(&r->child))
        return false;
    take_events(r);
    return ended[r->stage](r);
}

void watch_round_stop(watch_round *r)
{
    if (r->stage == ROUND_IDLE)
        return;
    r->stopping = true;
    r->child.term_at_ms = 0;
}
