#include "trace/analyze/load.h"

#include <stdio.h>
#include <string.h>

#include "trace/analyze/device/ops.h"
#include "trace/analyze/host_analysis.h"
#include "trace/analyze/idle/idle.h"
#include "trace/analyze/one_step.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/links/operators.h"
#include "trace/model/catalog/timeline.h"

static int note_damage(trace *t, const vp_error *damage)
{
    char text[400];
    if (!damage->code)
        return 0;
    snprintf(text, sizeof text, "%s; the data before that point is shown, the rest is missing",
             damage->message);
    t->partial = true;
    return t->sink.quality(&t->sink, &(sink_quality){"truncated", SINK_ERROR, vp_str_of(text),
                                                     damage->event, damage->offset, true});
}

static int note_cut(trace *t, const char *how)
{
    char text[400];
    snprintf(text, sizeof text, "%s: files of this run may be missing", how);
    t->partial = true;
    return t->sink.quality(&t->sink,
                           &(sink_quality){"truncated", SINK_ERROR, vp_str_of(text), -1, -1, true});
}

/* True if the trace is cut to a time range before it is analyzed. */
static bool is_partial_load(const load_options *opts)
{
    return opts->one_step || opts->one_window;
}

/* Whether launch calls of the host may say where device ops belong. */
static bool has_launches(const cat_file *f)
{
    return f->kind.format == RD_KINETO || f->kind.format == RD_CHROME;
}

/* Groups of kernels that only their launches can tell. */
static bool is_by_launch(vp_group by)
{
    return grouping_by_scope(by) || by == VP_GROUP_SOURCE || by == VP_GROUP_OPERATOR ||
           by == VP_GROUP_OUTERMOST;
}

static int read_trace_file(trace **out, const catalog *c, const cat_file *f,
                           const load_options *opts, bool device_only, bool longest_only)
{
    trace *t = NULL;
    vp_error damage;
    rd_options ro = {.device_only = device_only,
                     .progress = opts->progress,
                     .progress_ctx = opts->progress_ctx,
                     .longest_only = longest_only,
                     .uncounted = opts->uncounted,
                     .operators = has_launches(f),
                     .launches = opts->programs || opts->group == VP_GROUP_RAW,
                     .programs = opts->programs || opts->depth == VP_DEPTH_FULL,
                     .threads = opts->threads};
    VP_TRY(trace_new(&t));
    int rc = timeline_read(&t->sink, c, f, &ro, &damage);
    if (rc >= 0)
        rc = note_damage(t, &damage);
    if (rc >= 0 && f->cut)
        rc = note_cut(t, f->cut);
    if (rc >= 0)
        rc = trace_seal_by(t, opts->threads);
    t->launches_unread = device_only && has_launches(f) && trace_has_device(t);
    if (rc >= 0)
        rc = links_operators(
            t, (device_only ? LINKS_OPERATORS_ONLY : 0u) |
                   (opts->depth == VP_DEPTH_FULL || is_by_launch(opts->group) ? LINKS_NOTES : 0u));
    if (rc >= 0 && grouping_by_scope(opts->group) && !trace_has_device(t))
        rc = call_paths(t);
    if (rc < 0) {
        trace_free(t);
        return vp_fail_at(rc, f->path, -1, -1);
    }
    *out = t;
    return 0;
}

/* The quality code of damage due to which events could not be read; NULL: none. */
static const trace_quality *find_damage(const trace *t)
{
    for (uint32_t i = 0; i < t->quality_count; i++)
        if (t->quality[i].partial || !strcmp(t->quality[i].code, "bad-event"))
            return &t->quality[i];
    return NULL;
}

/* A damaged file without readable events is not an empty profile: no gate may pass on it. */
static int check_has_any_event(const trace *t, const cat_file *f)
{
    const trace_quality *q = t->event_count ? NULL : find_damage(t);
    if (!q)
        return 0;
    bool cut = !strcmp(q->code, "truncated");
    vp_fail(VP_ECORRUPT, "no event can be read: %s",
            cut ? "damaged or truncated before the first event" : q->message);
    return vp_fail_at(VP_ECORRUPT, f->path, q->event, q->byte);
}

/* Groups whose answer is in all host events around the launches, not only in operators. Of XLA's
 * files the ops themselves name scope and source; in a trace JSON only the launches may. */
static bool needs_host_stacks(const cat_file *f, vp_group by)
{
    return has_launches(f) && (grouping_by_scope(by) || by == VP_GROUP_SOURCE);
}

/* Op tables need host events only without a device or for links: most files never need them. */
static int read_needed(trace **out, const catalog *c, const cat_file *f, const load_options *opts)
{
    trace *t = NULL;
    bool ops_only = opts->depth == VP_DEPTH_OPS && opts->where == VP_WHERE_DEVICE &&
                    !is_partial_load(opts) && !needs_host_stacks(f, opts->group);
    VP_TRY(read_trace_file(&t, c, f, opts, ops_only, ops_only));
    bool host = ops_only && (!trace_has_device(t) || !t->event_count) && t->skipped_count;
    if (host || t->places_missing) {
        trace_free(t);
        VP_TRY(read_trace_file(&t, c, f, opts, ops_only && !host, false));
    }
    int rc = check_has_any_event(t, f);
    if (rc < 0) {
        trace_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

/* The options of the caller that also apply to the part. */
typedef struct part {
    const one_step *step;
    const load_options *opts;
} part;

static int look_at_part(void *ctx, const analysis *a)
{
    const part *p = ctx;
    if (p->opts->depth == VP_DEPTH_FULL)
        VP_TRY(one_step_put(p->step, a));
    return p->opts->watch.done ? p->opts->watch.done(p->opts->watch.ctx, a) : 0;
}

static int idle_of_part(void *ctx, const analysis *a, uint32_t device, const idle_gap *g,
                        const idle_piece *piece)
{
    const host_watch *w = &((const part *)ctx)->opts->watch;
    return w->idle ? w->idle(w->ctx, a, device, g, piece) : 0;
}

/* With VP_WHERE_HOST the devices are left out. Steps are found first, since that needs the devices.
 */
static int leave_host(trace *t, const load_options *opts)
{
    if (opts->where == VP_WHERE_DEVICE || !trace_has_device(t))
        return 0;
    host_zones(t);
    return grouping_by_scope(opts->group) ? call_paths(t) : 0;
}

static int fail_no_step(const vp_steps *s, const load_options *opts)
{
    const char *series = opts->step_series ? opts->step_series : "";
    return vp_fail(VP_ENOTFOUND, "no step %s%s%lld; this profile has %s%zu step%s", series,
                   *series ? ":" : "", (long long)opts->step, s->count ? "" : "no steps or ",
                   s->count, s->count == 1 ? "" : "s");
}

static int find_step(one_step *s, trace *t, const load_options *opts)
{
    host_result whole;
    uint32_t programs = t->program_count;
    host_result_init(&whole);
    whole.steps_by = opts->steps_by;
    t->program_count = 0; /* steps are not found by plans or costs */
    int rc = host_analyze_with(&whole, t, opts->group, VP_DEPTH_FULL,
                               (host_watch){.done = one_step_find, .ctx = s});
    t->program_count = programs;
    if (rc >= 0 && !s->found)
        rc = fail_no_step(&whole.steps, opts);
    host_result_free(&whole);
    return rc;
}

static int analyze_part(host_result *out, trace *t, const load_options *opts)
{
    one_step s = {.number = opts->step, .series = opts->step_series};
    int rc = opts->one_step ? find_step(&s, t, opts)
                            : one_step_window(&s, t, opts->from_ps + host_origin_ps(t),
                                              opts->until_ps + host_origin_ps(t));
    if (rc >= 0)
        rc = one_step_cut(t, &s);
    if (rc >= 0)
        rc = leave_host(t, opts);
    part p = {&s, opts};
    if (rc >= 0)
        rc = host_analyze_with(out, t, opts->group, opts->depth,
                               (host_watch){.done = look_at_part, .idle = idle_of_part, .ctx = &p});
    one_step_free(&s);
    return rc;
}

static int analyze_file(host_result *out, const catalog *c, const cat_file *f,
                        const load_options *opts)
{
    trace *t = NULL;
    VP_TRY(read_needed(&t, c, f, opts));
    int rc = opts->look ? opts->look(opts->watch.ctx, t) : 0;
    if (rc >= 0 && !is_partial_load(opts))
        rc = leave_host(t, opts);
    out->wish = opts->wish;
    out->steps_by = opts->steps_by;
    host_watch watch = opts->watch;
    watch.expendable = watch.done ? NULL : t; /* the caller only frees it */
    if (rc >= 0)
        rc = is_partial_load(opts) ? analyze_part(out, t, opts)
                                   : host_analyze_with(out, t, opts->group, opts->depth, watch);
    if (rc >= 0 && opts->left)
        *opts->left = t;
    else
        trace_free(t);
    return rc;
}

int64_t load_memory_max(int64_t bytes)
{
    if (vp_mem_ceiling_is_set())
        return 0;
    bytes = bytes < INT64_MAX / VP_MEMORY_RATIO_MAX ? bytes * VP_MEMORY_RATIO_MAX : INT64_MAX;
    return bytes > VP_MEMORY_LEAST ? bytes : VP_MEMORY_LEAST;
}

/* The memory limit for a member is derived from its archive, because it takes no more of the disk.
 */
static vp_mem_budget budget_of(const cat_file *f)
{
    bool packed = f->is_member && (f->bytes < 0 || f->bytes > f->id.size);
    return (vp_mem_budget){.max = load_memory_max(packed ? f->id.size : f->bytes)};
}

static int analyze_bounded(host_result *out, const catalog *c, const cat_file *f,
                           const load_options *opts)
{
    vp_mem_budget budget = budget_of(f);
    vp_mem_budget *before = vp_mem_enter(&budget);
    int rc = vp_mem_explain(analyze_file(out, c, f, opts));
    if (rc < 0)
        vp_fail_at(rc, f->path, -1, -1);
    vp_mem_enter(before);
    return rc;
}

static int note_fallback(host_result *h, const vp_error *why)
{
    char line[700];
    vp_quality q = {.code = "unreadable", .severity = VP_SEV_ERROR, .event = -1, .byte = -1};
    vp_error_line(why, line, sizeof line);
    VP_TRY(host_text(&q.message, h, vp_str_of(line)));
    VP_TRY(vp_grow(&h->quality, &h->quality_cap, h->quality_count + 1, sizeof q, 100000));
    h->quality[h->quality_count++] = q;
    return 0;
}

int load_host(host_result *out, uint32_t *used, const catalog *c, const cat_session *s,
              uint32_t host, const load_options *opts)
{
    const cat_host *h = &s->hosts[host];
    host_result_init(out);
    *used = h->primary;
    int rc = analyze_bounded(out, c, &s->files[h->primary], opts);
    if (rc >= 0 || rc == VP_ECANCELLED || rc == VP_ENOMEM || rc == VP_ENOTFOUND ||
        h->secondary == UINT32_MAX)
        return rc;
    vp_error why = *vp_error_last();
    host_result_free(out);
    if (analyze_bounded(out, c, &s->files[h->secondary], opts) < 0)
        return vp_fail_copy(&why); /* of the two failures, that of the preferred half is reported */
    *used = h->secondary;
    return note_fallback(out, &why);
}

int load_unpack(host_result *h, const cat_file *f, int threads)
{
    vp_mem_budget budget = budget_of(f);
    vp_mem_budget *before = vp_mem_enter(&budget);
    int rc = vp_mem_explain(host_unpack_steps(h, threads));
    if (rc < 0)
        vp_fail_at(rc, f->path, -1, -1);
    vp_mem_enter(before);
    return rc;
}
