#include "trace/analyze/host_analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/comm/barriers.h"
#include "trace/analyze/comm/collectives.h"
#include "trace/analyze/comm/transfers.h"
#include "trace/analyze/comm/uploads.h"
#include "trace/analyze/device/any_device.h"
#include "trace/analyze/device/callbacks.h"
#include "trace/analyze/avoidable/avoidable.h"
#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/device/hygiene.h"
#include "trace/analyze/device/module_runs.h"
#include "trace/analyze/device/scopes.h"
#include "trace/analyze/host/calls.h"
#include "trace/analyze/host/compile.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/activities.h"
#include "trace/analyze/host/host_ops.h"
#include "trace/analyze/host/launch.h"
#include "trace/analyze/memory/dynamic_allocators.h"
#include "trace/analyze/host/program_values.h"
#include "trace/analyze/host/quality.h"
#include "trace/analyze/host/threads.h"
#include "trace/analyze/torch/torch_costs.h"
#include "trace/analyze/torch/torch_program.h"
#include "trace/analyze/host/user_functions.h"
#include "trace/analyze/idle/gaps.h"
#include "trace/analyze/memory/static_plan.h"
#include "trace/analyze/mfu/mfu.h"
#include "trace/analyze/result/programs.h"
#include "trace/analyze/steps/steps.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/links/run_launches.h"

static vp_device_kind device_kind(sink_process_kind k)
{
    return k == SINK_PROCESS_TPU   ? VP_DEVICE_TPU
           : k == SINK_PROCESS_GPU ? VP_DEVICE_GPU
           : k == SINK_PROCESS_CPU ? VP_DEVICE_CPU
                                   : VP_DEVICE_OTHER;
}

static bool own_clock(track_set set)
{
    for (size_t i = 0; i < set.count; i++)
        if (set.t->tracks[set.tracks[i]].own_clock)
            return true;
    return false;
}

static int name_process(const char **out, host_result *h, const trace_process *p, const trace *t)
{
    char text[48];
    vp_str name = trace_str(t, p->name);
    if (!name.n)
        name =
            (vp_str){text, (size_t)snprintf(text, sizeof text, "process %lld", (long long)p->id)};
    return host_text(out, h, name);
}

static int result_add_device(host_result *h, const grouping *g, const device_sums *s,
                             device_work *w, kind_times *all)
{
    const trace *t = s->set.t;
    const trace_process *p = &t->processes[w->process];
    vp_device d = {.kind = device_kind(p->kind),
                   .own_clock = own_clock(s->set),
                   .steps_counted = VP_UNKNOWN,
                   .exposed_wait_ps = VP_UNKNOWN,
                   .memory_bytes = VP_UNKNOWN,
                   .breakdown = s->breakdown,
                   .start_ps = s->start_ps,
                   .end_ps = s->end_ps};
    VP_TRY(name_process(&d.name, h, p, t));
    VP_TRY(host_text(&d.model, h, trace_str(t, p->model)));
    if (!d.own_clock) {
        d.start_ps -= h->origin_ps;
        d.end_ps -= h->origin_ps;
    }
    VP_TRY(vp_grow(&h->devices, &h->device_cap, h->device_count + 1, sizeof d, SIZE_MAX / 1024));
    h->devices[h->device_count++] = d;
    h->own_clock = h->own_clock || d.own_clock;
    return ops_tell(h, g, s->ops, (uint32_t)h->device_count - 1, &w->times, all);
}

static int add_crossings(host_result *h, uint64_t n)
{
    char text[160];
    if (!n)
        return 0;
    snprintf(text, sizeof text,
             "%llu events end after the event that contains their start; self time counts for the "
             "event that started last",
             (unsigned long long)n);
    return host_quality(h, &(trace_quality){"crossing", SINK_INFO, text, -1, -1, false});
}

/* Items that were only counted, by the reader of the trace and by its analysis. */
static int add_dropped(host_result *h, uint64_t n)
{
    char text[80];
    if (!n)
        return 0;
    snprintf(text, sizeof text, "%llu more notes on this profile are not listed",
             (unsigned long long)n);
    return host_quality(h, &(trace_quality){"more-notes", SINK_WARNING, text, -1, -1, false});
}

/* The devices of a trace while it is analyzed, with the data that result_add_device needs for each.
 */
typedef struct device_list {
    device_work *v;
    size_t n, cap;
    device_sums *sums;
    module_runs modules;
    uint32_t *tracks; /* for all processes: the analyzed tracks, by process */
} device_list;

static void device_list_free(device_list *l)
{
    device_sums_free(l->sums, l->n);
    module_runs_free(&l->modules);
    vp_free(l->v);
    vp_free(l->tracks);
}

static int list_process(device_list *l, const trace *t, uint32_t process, const uint32_t *first)
{
    track_set set = {t, l->tracks + first[process], first[process + 1] - first[process]};
    if (!set.count)
        return 0;
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, VP_PROCESSES_MAX));
    l->v[l->n++] = (device_work){.process = process, .set = set};
    return 0;
}

static int count_devices(device_list *l, const grouping *g, const trace *t)
{
    l->sums = vp_calloc(l->n, sizeof *l->sums);
    VP_NEED(l->sums);
    for (size_t i = 0; i < l->n; i++)
        l->sums[i].set = l->v[i].set;
    return device_sums_count(l->sums, l->n, &l->modules, g, t);
}

static void overall_window(host_result *h)
{
    for (size_t i = 0; i < h->device_count; i++) {
        const vp_device *d = &h->devices[i];
        if (!i || d->start_ps < h->start_ps)
            h->start_ps = d->start_ps;
        if (!i || d->end_ps > h->end_ps)
            h->end_ps = d->end_ps;
    }
}

int64_t host_origin_ps(const trace *t)
{
    if (t->capture_start_ps != SINK_NO_TIME || t->extent_start_ps == SINK_NO_TIME)
        return 0;
    int64_t ns = t->extent_start_ps / 1000 - (t->extent_start_ps % 1000 < 0);
    return ns * 1000;
}

/* The time 0 of the report: the one stated in the file, else the earliest event
 * (docs/reference/metrics.md#times), in whole ns so that the Unix base stays an integer. */
static void choose_origin(host_result *h, const trace *t)
{
    h->timeline_ns = t->file_origin_ns;
    if (t->base_unix_ns != SINK_NO_TIME)
        h->base_unix_ns = t->base_unix_ns;
    if (t->capture_start_ps != SINK_NO_TIME) {
        h->capture_ps = t->capture_end_ps - t->capture_start_ps;
        return;
    }
    if (t->extent_start_ps == SINK_NO_TIME)
        return;
    h->capture_ps = t->extent_end_ps - t->extent_start_ps;
    h->origin_ps = host_origin_ps(t);
    h->timeline_ns += h->origin_ps / 1000;
    if (h->base_unix_ns != VP_UNKNOWN)
        h->base_unix_ns += h->origin_ps / 1000;
}

static void count_host_events(host_result *h, const trace *t)
{
    uint64_t n = t->event_count + t->skipped_count;
    for (uint32_t i = 0; i < t->track_count; i++)
        /* host events, which are counted on their own threads */
        if (t->tracks[i].one_timeline)
            n -= t->tracks[i].count;
    h->events = (int64_t)n;
}

static int by_ordinal(const void *a, const void *b, void *ctx)
{
    const trace *t = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int32_t x = t->processes[i].ordinal, y = t->processes[j].ordinal;
    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* Devices by number, since a file may list them in the order of their first events; devices without
 * a number keep the file's order, before the others. */
static uint32_t *process_order(const trace *t)
{
    uint32_t *order = vp_calloc((size_t)t->process_count + 1, sizeof *order);
    for (uint32_t p = 0; order && p < t->process_count; p++)
        order[p] = p;
    if (order)
        qsort_r(order, t->process_count, sizeof *order, by_ordinal, (void *)t);
    return order;
}

static bool is_analysed(const trace *t, const trace_track *k, sink_role role)
{
    return k->role == role && trace_track_counts(t, k);
}

/* The analyzed tracks by process, within one in the file's order: those of process p are first[p]
 * to first[p + 1] of *tracks. */
static int sort_tracks(uint32_t **tracks, uint32_t *first, const trace *t, sink_role role)
{
    uint32_t *v = *tracks = vp_realloc_array(NULL, t->track_count, sizeof *v);
    VP_NEED(v);
    for (uint32_t i = 0; i < t->track_count; i++)
        first[t->tracks[i].process + 2] += is_analysed(t, &t->tracks[i], role);
    for (uint32_t p = 0; p < t->process_count; p++)
        first[p + 2] += first[p + 1];
    /* first[p + 1] counts up from where p starts to where it ends */
    for (uint32_t i = 0; i < t->track_count; i++)
        if (is_analysed(t, &t->tracks[i], role))
            v[first[t->tracks[i].process + 1]++] = i;
    return 0;
}

static int analyze_processes(host_result *h, device_list *l, const grouping *g, const trace *t,
                             kind_times *all)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *order = process_order(t);
    VP_CLEANUP(vp_free_ptr)
    uint32_t *first = vp_calloc((size_t)t->process_count + 2, sizeof *first);
    VP_NEED(order && first);
    VP_TRY(sort_tracks(&l->tracks, first, t, h->has_devices ? SINK_ROLE_OPS : SINK_ROLE_PLAIN));
    for (uint32_t p = 0; p < t->process_count; p++)
        VP_TRY(list_process(l, t, order[p], first));
    VP_TRY(count_devices(l, g, t));
    for (size_t i = 0; i < l->n; i++) {
        l->v[i].first_op = (uint32_t)h->op_count;
        VP_TRY(result_add_device(h, g, &l->sums[i], &l->v[i], all));
    }
    return 0;
}

typedef int question(analysis *);

static int ask_each(analysis *a, question *const *list)
{
    for (; *list; list++)
        VP_TRY((*list)(a));
    return 0;
}

/* Lists of analyses that run concurrently, each list on one thread. */
typedef struct lists {
    analysis *a;
    question *const *const *v;
    uint32_t n;
    uint32_t waiting;        /* those from here on need the results of the first list; */
    question *const *behind; /* these it runs when they are known */
    pthread_mutex_t lock;    /* of what follows */
    pthread_cond_t told;
    bool asked, failed;
} lists;

static int ask_leading(lists *l)
{
    int rc = ask_each(l->a, l->v[0]);
    pthread_mutex_lock(&l->lock);
    l->asked = true;
    l->failed = rc < 0;
    pthread_cond_broadcast(&l->told);
    pthread_mutex_unlock(&l->lock);
    return rc < 0 ? rc : ask_each(l->a, l->behind);
}

/* The thread of the first list continues with it, independent of the others. false: it failed. */
static bool wait_for_first(lists *l)
{
    pthread_mutex_lock(&l->lock);
    while (!l->asked)
        pthread_cond_wait(&l->told, &l->lock);
    bool ready = !l->failed;
    pthread_mutex_unlock(&l->lock);
    return ready;
}

static int ask_list(void *ctx, uint32_t i)
{
    lists *l = ctx;
    if (!i)
        return ask_leading(l);
    return i < l->waiting || wait_for_first(l) ? ask_each(l->a, l->v[i]) : 0;
}

static int ask_at_once(lists l)
{
    pthread_mutex_init(&l.lock, NULL);
    pthread_cond_init(&l.told, NULL);
    int rc = vp_each(device_sums_threads(l.a->t), l.n, ask_list, &l);
    pthread_cond_destroy(&l.told);
    pthread_mutex_destroy(&l.lock);
    return rc;
}

static question *const none[] = {NULL};

/* No list reads or writes what another one writes, even if both work on the same device, op or
 * step. They share only the arena, which has a lock then. Notes are in the order of the analyses,
 * so all analyses that may make a note are in one list. */
static int ask_first_lists(analysis *a)
{
    static question *const chain[] = {steps_collect, launch_collect, NULL};
    static question *const memory[] = {args_collect, static_collect, memory_collect,
                                       avoidable_collect, NULL};
    static question *const copies[] = {transfers_collect, NULL};
    static question *const comm[] = {collectives_collect, barriers_collect, NULL};
    static question *const ops[] = {hygiene_collect, callbacks_collect, NULL};
    static question *const idle[] = {gaps_ask, NULL};
    static question *const *const v[] = {chain, copies, comm, ops, idle};
    return ask_at_once(
        (lists){.a = a, .v = v, .n = sizeof v / sizeof *v, .waiting = 4, .behind = memory});
}

/* The same applies to these, and none makes a note. static_collect has parsed all programs, which
 * are only looked up here. Gaps need the most memory, so they come after the analyses that free
 * parts of an expendable trace. */
static int ask_behind_steps(analysis *a)
{
    static question *const idle[] = {gaps_collect, threads_collect, NULL};
    static question *const costs[] = {mfu_collect, user_functions_collect, NULL};
    static question *const compiles[] = {compile_collect,       activities_collect,
                                         torch_program_collect, torch_costs_collect,
                                         uploads_collect,       NULL};
    static question *const *const v[] = {idle, costs, compiles};
    uint32_t n = sizeof v / sizeof *v;
    return ask_at_once((lists){.a = a, .v = v, .n = n, .waiting = n, .behind = none});
}

/* Runs the analyses beyond the op tables. host_ops, which counts on another thread, comes last, so
 * that nothing waits for it. */
static int ask_all(analysis *a)
{
    static question *const last[] = {uploads_name_idle, quality_collect, host_ops_collect, NULL};
    VP_TRY(ask_first_lists(a));
    VP_TRY(ask_behind_steps(a));
    return ask_each(a, last);
}

/* During the analyses, threads share the result's arena. */
static int ask_sharing(analysis *a)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    a->h->arena.lock = &lock;
    int rc = ask_all(a);
    a->h->arena.lock = NULL;
    pthread_mutex_destroy(&lock);
    return rc;
}

static int analyze_fully(analysis *a)
{
    VP_TRY(host_kinds_new(&a->kinds, a->t));
    if (host_all_cpu(a->h))
        host_kinds_on_cpu(a->kinds, a->t);
    int rc = any_device_new(a);
    if (rc >= 0)
        rc = host_ops_start(a);
    if (rc >= 0)
        rc = calls_new(&a->calls, a->t, a->kinds);
    if (rc >= 0)
        rc = run_launches_new(&a->runs, a->t);
    if (rc >= 0)
        rc = ask_sharing(a);
    host_ops_end(a);
    gaps_free(a);
    any_device_free(a);
    calls_free(a->calls);
    run_launches_free(a->runs);
    host_kinds_free(a->kinds);
    programs_free(a);
    a->calls = NULL;
    a->runs = NULL;
    a->kinds = NULL;
    return rc;
}

static int analyze_grouped(host_result *h, device_list *l, const grouping *g, const trace *t,
                           kind_times *all, vp_depth depth, host_watch watch)
{
    VP_TRY(analyze_processes(h, l, g, t, all));
    overall_window(h);
    if (h->has_devices) {
        VP_TRY(scopes_collect(h, t, all));
        VP_TRY(modules_collect(h, t, &l->modules, all));
    }
    VP_CLEANUP(vp_free_ptr)
    uint32_t *op_of = vp_realloc_array(NULL, (size_t)grouping_count(g) + 1, sizeof *op_of);
    VP_NEED(op_of);
    analysis a = {.h = h,
                  .t = t,
                  .g = g,
                  .devices = l->v,
                  .device_count = l->n,
                  .op_of_group = op_of,
                  .watch = watch};
    if (depth == VP_DEPTH_FULL)
        VP_TRY(analyze_fully(&a));
    if (!watch.done)
        return 0;
    VP_TRY(host_unpack_steps(h, t->threads));
    return watch.done(watch.ctx, &a);
}

int host_analyze(host_result *h, const trace *t, vp_group by, vp_depth depth)
{
    VP_TRY(host_analyze_with(h, t, by, depth, (host_watch){0}));
    return host_unpack_steps(h, t->threads);
}

int host_analyze_with(host_result *h, const trace *t, vp_group by, vp_depth depth, host_watch watch)
{
    VP_CLEANUP(vp_free_ptr) int64_t *self = vp_calloc(t->kind_count, sizeof *self);
    VP_CLEANUP(vp_free_ptr) int64_t *calls = vp_calloc(t->kind_count, sizeof *calls);
    kind_times all = {self, calls, 0};
    device_list l = {0};
    grouping *g = NULL;
    VP_NEED(self && calls);
    h->has_devices = trace_has_device(t);
    h->partial = t->partial;
    choose_origin(h, t);
    count_host_events(h, t);
    VP_TRY(grouping_new(&g, t, by, h->has_devices));
    int rc = analyze_grouped(h, &l, g, t, &all, depth, watch);
    if (rc >= 0 && !h->has_devices && grouping_by_scope(by))
        rc = scopes_collect(h, t, &all);
    device_list_free(&l);
    grouping_free(g);
    VP_TRY(rc);
    for (uint32_t i = 0; i < t->quality_count; i++)
        VP_TRY(host_quality(h, &t->quality[i]));
    VP_TRY(add_crossings(h, all.crossings));
    return add_dropped(h, t->quality_dropped + h->quality_dropped);
}
