/* Converts the results of hosts to reports and merges them. */
#include "trace/analyze/device/scopes.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/analyze/merge/merge.h"
#include "trace/analyze/merge/merge_parts.h"
#include "trace/analyze/merge/ranks.h"
#include "trace/analyze/merge/whole.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/detect/detect.h"

/* The result of a host as a report, without copying: it points to the rows of the result. */
typedef struct parting {
    const cat_session *s;
    vp_report_file *files; /* of the run, shared by all parts: with thousands of ranks, a copy for
                            * each would take a gigabyte */
    const vp_report_options *opts;
} parting;

static bool is_usable_part(const host_part *p)
{
    return p->wanted && p->status >= 0;
}

/* Rounds a duration to whole ps, as in JSON, so that merging reports read from files gives the same
 * result. */
static void round_ps(double *v)
{
    if (*v >= 0 && *v < 4e18)
        *v = (double)(int64_t)(*v + 0.5);
}

static void ready_rows(host_result *h, const char *host, const char *file)
{
    for (size_t i = 0; i < h->device_count; i++) {
        h->devices[i].host = host;
        h->devices[i].timeline_ns = h->timeline_ns;
        h->devices[i].steps_counted = h->steps.counted;
    }
    for (size_t i = 0; i < h->op_count; i++) {
        round_ps(&h->ops[i].stddev_ps);
        for (size_t k = 0; k < h->ops[i].split_count; k++)
            round_ps(&h->ops[i].splits[k].stddev_ps);
    }
    for (size_t i = 0; i < h->quality_count; i++)
        h->quality[i].file = file;
    for (size_t i = 0; i < h->compile.function_count; i++)
        h->compile.functions[i].host = host;
    for (size_t i = 0; i < h->host_op_count; i++)
        h->host_ops[i].host = host;
    for (size_t i = 0; i < h->activity_count; i++)
        h->activities[i].host = host;
    for (size_t i = 0; i < h->replay_count; i++)
        h->replays[i].host = host;
    for (size_t i = 0; i < h->user_function_count; i++)
        h->user_functions[i].host = host;
    for (size_t i = 0; i < h->torch_cost_count; i++)
        h->torch_costs[i].host = host;
    for (size_t i = 0; i < h->arg_count; i++)
        h->args[i].host = host;
    for (size_t i = 0; i < h->counter_count; i++)
        h->counters[i].host = host;
    for (size_t i = 0; i < h->meta_count; i++)
        h->meta[i].host = host;
    for (size_t i = 0; i < h->memory_count; i++)
        h->memory[i].host = host;
    for (size_t i = 0; i < h->memory_static_count; i++)
        h->memory_static[i].host = host;
    for (size_t i = 0; i < h->memory_programs_count; i++)
        h->memory_programs[i].host = host;
}

static int add_modules(vp_report *r, host_result *h)
{
    r->modules = vp_arena_zalloc(&h->arena, h->module_count * sizeof *r->modules);
    if (h->module_count && !r->modules)
        return vp_no_memory();
    for (size_t i = 0; i < h->module_count; i++) {
        const module_item *x = &h->modules[i];
        vp_module *out = &r->modules[i];
        *out = (vp_module){.name = x->name,
                           .program_id = x->program_id,
                           .runs = x->runs,
                           .total_ps = x->total_ps,
                           .p50_ps = VP_UNKNOWN,
                           .repeat_steps = x->repeat_steps,
                           .repeat_ps = x->repeat_ps,
                           .repeat_runs = x->repeat_runs,
                           .in_steps = x->in_steps,
                           .in_steps_ps = x->in_steps_ps,
                           .ops = x->ops,
                           .op_calls = x->op_calls,
                           .repeats = x->repeats};
        if (x->samples && x->runs > 0) {
            out->sample_ps = x->samples;
            out->sample_count = (size_t)x->runs;
            out->p50_ps = x->samples[nearest_rank(out->sample_count, 50)];
        }
    }
    r->module_count = h->module_count;
    return 0;
}

static int add_host_results(vp_report *r, host_result *h)
{
    r->base_unix_ns = h->base_unix_ns;
    r->capture_ps = h->capture_ps;
    r->events = h->events;
    r->has_devices = h->has_devices;
    r->own_clock = h->own_clock;
    r->partial = h->partial;
    r->start_ps = h->start_ps;
    r->end_ps = h->end_ps;
    r->steps = h->steps;
    r->compile = h->compile;
    r->torch = h->torch;
    r->host_op_total = h->host_op_total;
#define TAKE(type, list, number, cap) r->list = h->list, r->number = h->number;
#define TAKE_ALL(type, list, number, total)                                                        \
    r->list = h->list, r->number = h->number, r->total = h->total;
    HOST_LISTS(TAKE)
    HOST_FULL_LISTS(TAKE)
    HOST_ARENA_LISTS(TAKE_ALL)
#undef TAKE_ALL
#undef TAKE
    VP_TRY(scopes_tree(&r->scopes, &r->scope_count, &h->arena, h->scopes, h->scope_count));
    return add_modules(r, h);
}

static int add_failure(vp_report *r, host_part *p, const char *file)
{
    /* of an unreadable host: empty, but with an arena */
    host_result *h = &p->result;
    bool unread =
        p->status != VP_ENOTFOUND; /* otherwise it was read, but lacks the requested step */
    vp_quality q = {.code = unread ? "unreadable" : "no-step",
                    .severity = unread ? VP_SEV_ERROR : VP_SEV_WARNING,
                    .file = file,
                    .event = p->error.event,
                    .byte = p->error.offset,
                    .partial = unread};
    VP_TRY(host_text(&q.message, h, vp_str_of(p->error.message)));
    r->quality = vp_arena_zalloc(&h->arena, sizeof q);
    VP_NEED(r->quality);
    r->quality[r->quality_count++] = q;
    r->base_unix_ns = r->capture_ps = VP_UNKNOWN;
    r->partial = unread;
    return 0;
}

/* True if the host has no timeline: neither this file nor the other half of the host is one. */
static bool is_timeline_missing(const cat_session *s, const cat_file *f, const char *only,
                                bool *covered)
{
    vp_str host = rd_host_of(vp_str_of(f->name));
    *covered = false;
    if (!f->why || !rd_is_timeline(rd_detect_name(vp_str_of(f->name)).format))
        return false;
    for (size_t i = 0; i < s->host_count; i++)
        *covered |= vp_str_eq(host, vp_str_of(s->hosts[i].name));
    return !only || vp_str_eq(host, vp_str_of(only));
}

static int note_missing(vp_report *r, host_result *h, const cat_session *s, const char *only)
{
    vp_quality *q = vp_arena_zalloc(&h->arena, (r->quality_count + s->file_count) * sizeof *q);
    VP_NEED(q);
    if (r->quality_count)
        memcpy(q, r->quality, r->quality_count * sizeof *q);
    r->quality = q;
    for (size_t i = 0; i < s->file_count; i++) {
        const cat_file *f = &s->files[i];
        bool covered;
        if (!is_timeline_missing(s, f, only, &covered))
            continue;
        r->partial = r->partial || !covered;
        r->files[i].partial = true;
        q[r->quality_count++] = (vp_quality){.code = "unreadable",
                                             .severity = VP_SEV_ERROR,
                                             .message = f->why,
                                             .file = f->path,
                                             .event = -1,
                                             .byte = -1,
                                             .partial = !covered};
    }
    return 0;
}

/* distributedInfo is contradictory and was ignored. */
static int note_rank_info(vp_report *r, host_result *h, const char *file)
{
    vp_quality *q = vp_arena_zalloc(&h->arena, (r->quality_count + 1) * sizeof *q);
    VP_NEED(q);
    if (r->quality_count)
        memcpy(q, r->quality, r->quality_count * sizeof *q);
    r->quality = q;
    q[r->quality_count++] = (vp_quality){.code = "rank-info",
                                         .severity = VP_SEV_WARNING,
                                         .message = "distributedInfo has no valid rank and world "
                                                    "size, and is ignored",
                                         .file = file,
                                         .event = -1,
                                         .byte = -1};
    return 0;
}

static int make_part(vp_report *r, const parting *g, host_part *p, size_t host)
{
    const cat_session *s = g->s;
    host_result *h = &p->result;
    const char **name = vp_arena_zalloc(&h->arena, sizeof *name);
    *r = (vp_report){.session_id = s->id,
                     .session_name = s->name,
                     .session_path = s->path,
                     .session_kind = s->kind,
                     .captured_unix_ns = s->captured_unix_ns,
                     .hosts = name,
                     .host_count = 1,
                     .group = g->opts->group,
                     .depth = g->opts->depth,
                     .step = g->opts->one_step ? g->opts->step : VP_UNKNOWN,
                     .one_window = g->opts->one_window,
                     .where = g->opts->where,
                     .files = g->files,
                     .file_count = s->file_count};
    VP_NEED(name);
    *name = s->hosts[host].name;
    VP_TRY(ranks_of_host(r, &h->arena, s, &s->files[p->file]));
    r->files[p->file].partial |= (!is_usable_part(p) && p->status != VP_ENOTFOUND) || h->partial;
    if (!is_usable_part(p))
        return add_failure(r, p, s->files[p->file].path);
    r->files[p->file].events = h->events;
    if (!s->time_from_name && h->base_unix_ns != VP_UNKNOWN)
        r->captured_unix_ns = h->base_unix_ns;
    ready_rows(h, *name, s->files[p->file].path);
    VP_TRY(add_host_results(r, h));
    return s->files[p->file].rank.unusable ? note_rank_info(r, h, s->files[p->file].path) : 0;
}

static int make_parts(vp_report *reports, const vp_report **list, size_t *n, parting *g,
                      host_part *parts)
{
    for (size_t i = 0; i < g->s->file_count; i++) {
        const cat_file *f = &g->s->files[i];
        g->files[i] =
            (vp_report_file){f->path, rd_format_name(f->kind.format), f->bytes, VP_UNKNOWN, false};
    }
    for (size_t i = 0; i < g->s->host_count; i++) {
        if (!parts[i].wanted)
            continue;
        VP_TRY(make_part(&reports[*n], g, &parts[i], i));
        if (!*n)
            VP_TRY(note_missing(&reports[*n], &parts[i].result, g->s, g->opts->host));
        list[*n] = &reports[*n];
        ++*n;
    }
    return 0;
}

int merge_hosts(vp_report **out, const cat_session *s, host_part *parts,
                const vp_report_options *opts)
{
    const host_part *failed = NULL;
    vp_arena *only = NULL;
    size_t good = 0, n = 0;
    for (size_t i = 0; i < s->host_count; i++) {
        good += is_usable_part(&parts[i]);
        only = parts[i].wanted ? &parts[i].result.step_rows : only;
        if (parts[i].wanted && parts[i].status < 0 && !failed)
            failed = &parts[i];
    }
    if (!good)
        return failed ? vp_fail_copy(&failed->error) : vp_fail(VP_EEMPTY, "nothing to analyze");
    VP_CLEANUP(vp_free_ptr) vp_report *reports = vp_calloc(s->host_count, sizeof *reports);
    VP_CLEANUP(vp_free_ptr) const vp_report **list = vp_calloc(s->host_count, sizeof *list);
    VP_CLEANUP(vp_free_ptr) vp_report_file *files = vp_calloc(s->file_count, sizeof *files);
    VP_NEED(reports && list && files);
    parting g = {s, files, opts};
    VP_TRY(make_parts(reports, list, &n, &g, parts));
    return merge_reports(out, list, n, n == 1 ? only : NULL);
}
