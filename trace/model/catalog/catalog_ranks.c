/* Joins runs that are ranks of one job (docs/reference/ranks.md). First every run is a job; then
 * several passes join jobs that agree on a key, each pass with weaker evidence and stricter
 * conditions. A pass sorts the jobs by key and time, so it takes O(n log n). */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"
#include "trace/model/catalog/catalog_impl.h"
#include "trace/model/catalog/catalog_jobs.h"
#include "trace/model/catalog/catalog_rank_names.h"
#include "trace/model/catalog/catalog_rank_runs.h"

#include <stdio.h>
#include <stdlib.h>

/* Jobs with the same key that are compared with the next one: those of the same time. */
#define OPEN_JOBS 16u
/* Hosts of a job name their run directories by their own clocks. */
#define RUN_SPREAD_NS (INT64_C(5) * 1000000000)

typedef enum pass_key {
    KEY_FORM,   /* names differ only in the numbers of ranks */
    KEY_LOOSE,  /* names differ only in numbers */
    KEY_DIR,    /* stated ranks in one directory */
    KEY_PARENT, /* stated ranks in directories next to each other */
    KEY_RUNS,   /* run directories of plugins/profile next to each other */
    KEY_GIVEN,  /* stated ranks of files that the user named together */
    KEY_BASE,   /* the same by the names of the files alone */
    PASSES
} pass_key;

/* A job; job i begins as run i of the catalog. */
typedef struct joined {
    cat_job job;
    bool gone;             /* part of another job */
    bool all_stated;       /* all of its ranks are stated, in a job of several */
    bool strong;           /* the name of its first run has the word "rank" */
    bool in_run;           /* a run directory */
    uint64_t keys[PASSES]; /* 0: is not joined by this key */
    uint64_t loose;
    uint32_t next, last; /* runs of the job are a list */
} joined;

typedef struct joining {
    cat_scan *scan;
    joined *jobs;
    size_t count;
    cat_rank_name *names; /* by run */
    uint32_t *order;
    vp_map seen, numbers, hosts;
    pass_key pass;
} joining;

static const cat_session *run_at(const joining *g, uint32_t run)
{
    return &g->scan->c->sessions[run];
}

static vp_str directory_of(vp_str path)
{
    size_t slash = vp_str_rfind_char(path, '/');
    return vp_str_head(path, slash == path.n ? 0 : slash);
}

static uint64_t key_of_place(vp_str place, const cat_job *j, uint64_t seed)
{
    uint32_t words[2] = {j->world, j->backend};
    return vp_hash(words, sizeof words, vp_hash(place.p, place.n, seed)) | 1;
}

static bool is_run_path(vp_str path)
{
    vp_str parent = directory_of(path), rest = VP_STR("plugins/profile");
    return vp_str_eq(parent, rest) || vp_str_ends(parent, VP_STR("/plugins/profile")) ||
           vp_str_ends(parent, VP_STR("!plugins/profile"));
}

/* "2026_01_11_21_26_41" and what follows: a watch adds the name of its target. */
#define RUN_TIME_N 19u

/* Machines of one job have names that differ in numbers only: "trainer-w-0", "trainer-w-1". */
static uint64_t machine_family(const char *host)
{
    uint64_t family = 5;
    for (const char *p = host; *p; p++)
        if (*p < '0' || *p > '9')
            family = vp_mix(family ^ (uint8_t)*p);
    return family;
}

static uint64_t key_of_run_directory(vp_str path, const cat_job *j, const char *host)
{
    vp_str place = directory_of(path), name = vp_str_skip(path, place.n + (place.n > 0));
    vp_str suffix = vp_str_skip(name, RUN_TIME_N);
    return key_of_place(place, j, vp_hash(suffix.p, suffix.n, machine_family(host)));
}

/* Hosts "10.0.0.7_9012" and "10.0.0.7_9013" are one machine. */
static uint64_t machine_key(const cat_job *j, const char *host)
{
    vp_str name = vp_str_of(host);
    size_t n = vp_str_without_digits(name).n;
    if (n > 1 && n < name.n && name.p[n - 1] == '_')
        name.n = n - 1;
    return vp_hash(name.p, name.n, vp_mix(j->id));
}

static uint64_t numbers_key(const cat_job *j, const cat_rank_name *name)
{
    uint64_t words[2] = {j->id, name->numbers};
    return vp_hash(words, sizeof words, 2);
}

/* ---- Jobs of one run ---- */

static void set_keys_by_name(joined *j, const cat_rank_name *name)
{
    j->strong = name->strong;
    j->loose = name->loose;
    j->keys[KEY_FORM] = name->form;
    j->keys[KEY_LOOSE] = name->strong ? name->loose : 0;
    j->keys[KEY_BASE] = name->strong ? name->base : 0;
}

static void set_keys_by_rank(joined *j, vp_str path)
{
    vp_str dir = directory_of(path), parent = directory_of(dir);
    if (!j->all_stated)
        return;
    j->keys[KEY_DIR] = key_of_place(dir, &j->job, 1);
    j->keys[KEY_PARENT] = dir.n ? key_of_place(parent, &j->job, 2) : 0;
    j->keys[KEY_GIVEN] = key_of_place(VP_STR(""), &j->job, 3);
}

/* The path that may name the rank of a run: that of its only file, else of its directory. The name
 * of a run directory is a time. */
static vp_str place_of_run(const cat_session *s, bool in_run)
{
    vp_str path = vp_str_of(s->path);
    if (in_run)
        return directory_of(path);
    return s->host_count == 1 ? vp_str_of(s->files[s->hosts[0].primary].path) : path;
}

static int begin_job(joining *g, uint32_t i)
{
    const cat_session *s = run_at(g, i);
    joined *j = &g->jobs[i];
    *j = (joined){.job = {.id = i}, .next = UINT32_MAX, .last = i};
    if (s->status != CAT_OK || !s->host_count) {
        j->gone = true;
        return 0;
    }
    j->in_run = is_run_path(vp_str_of(s->path));
    vp_str place = place_of_run(s, j->in_run);
    j->all_stated = !j->in_run;
    for (size_t h = 0; h < s->host_count; h++) {
        const rd_rank *r = &s->files[s->hosts[h].primary].rank;
        j->all_stated = j->all_stated && r->has_rank && r->world > 1;
        VP_TRY(cat_job_add(&j->job, &g->seen, r));
        if (j->in_run)
            VP_TRY(vp_map_set(&g->hosts, machine_key(&j->job, s->hosts[h].name), 0));
    }
    if (!j->job.first_ns && s->time_from_name)
        j->job.first_ns = j->job.last_ns = s->captured_unix_ns;
    cat_rank_name_of(&g->names[i], place);
    set_keys_by_name(j, &g->names[i]);
    if (j->keys[KEY_FORM])
        VP_TRY(vp_map_set(&g->numbers, numbers_key(&j->job, &g->names[i]), 0));
    if (j->in_run && s->time_from_name)
        j->keys[KEY_RUNS] = key_of_run_directory(vp_str_of(s->path), &j->job, s->hosts[0].name);
    else if (!j->in_run)
        set_keys_by_rank(j, s->host_count == 1 ? place : vp_str_of(s->files[0].path));
    return 0;
}

/* ---- Which jobs are one ---- */

static bool shares_a_rank(const joining *g, const joined *to, const joined *j)
{
    bool by_name = g->pass == KEY_FORM || g->pass == KEY_LOOSE || g->pass == KEY_BASE;
    for (uint32_t run = j->job.id; run != UINT32_MAX; run = g->jobs[run].next) {
        const cat_session *s = run_at(g, run);
        if (by_name &&
            vp_map_get(&g->numbers, numbers_key(&to->job, &g->names[run])) != VP_MAP_NONE)
            return true;
        for (size_t h = 0; h < s->host_count; h++) {
            if (cat_job_has(&to->job, &g->seen, &s->files[s->hosts[h].primary].rank))
                return true;
            if (j->in_run && g->pass == KEY_RUNS &&
                vp_map_get(&g->hosts, machine_key(&to->job, s->hosts[h].name)) != VP_MAP_NONE)
                return true;
        }
    }
    return false;
}

static bool times_agree(const joining *g, const joined *to, const joined *j)
{
    int64_t first = j->job.first_ns, last = j->job.last_ns;
    int64_t gap = cat_job_gap(&to->job, first, last);
    switch (g->pass) {
    case KEY_FORM:
        return gap == 0 || (to->strong ? gap < 0 || cat_job_is_at(&to->job, first, last)
                                       : to->all_stated && j->all_stated &&
                                             cat_job_is_at(&to->job, first, last));
    case KEY_DIR:
    case KEY_GIVEN:
    case KEY_BASE:
        return cat_job_is_at(&to->job, first, last);
    case KEY_RUNS:
        return gap >= 0 && gap <= RUN_SPREAD_NS;
    default:
        return gap >= 0 && cat_job_is_at(&to->job, first, last);
    }
}

static bool jobs_are_one(const joining *g, const joined *to, const joined *j)
{
    return to->in_run == j->in_run &&
           cat_job_takes(&to->job, j->job.world, j->job.backend, j->job.ranks) &&
           times_agree(g, to, j) && !shares_a_rank(g, to, j);
}

static int join_jobs(joining *g, joined *to, joined *j)
{
    for (uint32_t run = j->job.id; run != UINT32_MAX; run = g->jobs[run].next) {
        const cat_session *s = run_at(g, run);
        if (g->names[run].form)
            VP_TRY(vp_map_set(&g->numbers, numbers_key(&to->job, &g->names[run]), 0));
        for (size_t h = 0; h < s->host_count; h++) {
            VP_TRY(cat_job_add(&to->job, &g->seen, &s->files[s->hosts[h].primary].rank));
            if (j->in_run)
                VP_TRY(vp_map_set(&g->hosts, machine_key(&to->job, s->hosts[h].name), 0));
        }
    }
    cat_job_widen(&to->job, j->job.world, j->job.backend, j->job.first_ns, j->job.last_ns);
    to->all_stated = to->all_stated && j->all_stated;
    g->jobs[to->last].next = j->job.id;
    to->last = j->last;
    j->gone = true;
    return 0;
}

/* ---- Passes ---- */

static int by_key_and_time(const void *pa, const void *pb, void *ctx)
{
    const joining *g = ctx;
    const joined *a = &g->jobs[*(const uint32_t *)pa], *b = &g->jobs[*(const uint32_t *)pb];
    uint64_t x = a->keys[g->pass], y = b->keys[g->pass];
    if (x != y)
        return x < y ? -1 : 1;
    if (!a->job.first_ns != !b->job.first_ns)
        return a->job.first_ns ? -1 : 1;
    int order = vp_order(a->job.first_ns, b->job.first_ns);
    return order ? order : vp_order(a->job.id, b->job.id);
}

/* Joins jobs[order[0..n)], which have the same key. */
static int join_bucket(joining *g, const uint32_t *order, size_t n)
{
    joined *open[OPEN_JOBS];
    size_t open_n = 0, oldest = 0;
    for (size_t i = 0; i < n; i++) {
        joined *j = &g->jobs[order[i]];
        cat_job_choice best = {.job = NULL};
        for (size_t k = 0; k < open_n; k++)
            if (jobs_are_one(g, open[k], j))
                cat_job_prefer(&best, &open[k]->job, open[k]->loose == j->loose, j->job.first_ns);
        if (best.job) {
            VP_TRY(join_jobs(g, &g->jobs[best.job->id], j));
        } else if (open_n < OPEN_JOBS) {
            open[open_n++] = j;
        } else {
            open[oldest] = j;
            oldest = (oldest + 1) % OPEN_JOBS;
        }
    }
    return 0;
}

static int join_by_key(joining *g, pass_key pass)
{
    size_t n = 0;
    g->pass = pass;
    for (uint32_t i = 0; i < g->count; i++)
        if (!g->jobs[i].gone && g->jobs[i].keys[pass])
            g->order[n++] = i;
    if (n < 2)
        return 0;
    qsort_r(g->order, n, sizeof *g->order, by_key_and_time, g);
    for (size_t first = 0, i = 1; i <= n; i++) {
        if (i < n && g->jobs[g->order[i]].keys[pass] == g->jobs[g->order[first]].keys[pass])
            continue;
        if (i - first > 1)
            VP_TRY(join_bucket(g, g->order + first, i - first));
        first = i;
    }
    return 0;
}

static int join_all(joining *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        VP_TRY(begin_job(g, i));
    for (pass_key pass = 0; pass < PASSES; pass++)
        if (pass < KEY_GIVEN || g->scan->opts->path_count > 1)
            VP_TRY(join_by_key(g, pass));
    return 0;
}

/* ---- The catalog ---- */

static void facts_of_run(cat_job *j, const cat_session *s)
{
    for (size_t h = 0; h < s->host_count; h++) {
        const rd_rank *r = &s->files[s->hosts[h].primary].rank;
        cat_job_widen(j, r->world, r->backend, r->first_ns, r->last_ns);
    }
}

/* A rank that both have, or -1. */
static int64_t common_rank(const cat_session *a, const cat_session *b)
{
    for (size_t i = 0; i < a->host_count; i++)
        for (size_t k = 0; k < b->host_count; k++) {
            const rd_rank *x = &a->files[a->hosts[i].primary].rank;
            const rd_rank *y = &b->files[b->hosts[k].primary].rank;
            if (x->has_rank && y->has_rank && x->rank == y->rank)
                return x->rank;
        }
    return -1;
}

const char *catalog_why_apart(const cat_session *a, const cat_session *b, char *out, size_t cap)
{
    cat_job x = {0}, y = {0};
    facts_of_run(&x, a);
    facts_of_run(&y, b);
    int64_t both = common_rank(a, b);
    if (x.world && y.world && x.world != y.world)
        snprintf(out, cap, "world sizes differ (%u and %u)", x.world, y.world);
    else if (x.backend && y.backend && x.backend != y.backend)
        snprintf(out, cap, "backends differ");
    else if (both >= 0)
        snprintf(out, cap, "both are rank %lld", (long long)both);
    else if (!cat_job_is_at(&x, y.first_ns, y.last_ns))
        snprintf(out, cap, "their times are %lld s apart",
                 (long long)(cat_job_gap(&x, y.first_ns, y.last_ns) / 1000000000));
    else
        snprintf(out, cap, "neither their names nor their content shows a common job");
    return out;
}

static int replace_runs(joining *g)
{
    catalog *c = g->scan->c;
    size_t n = 0;
    VP_CLEANUP(vp_free_ptr) uint32_t *runs = vp_calloc(g->count, sizeof *runs);
    VP_NEED(runs);
    for (uint32_t i = 0; i < g->count; i++) {
        size_t parts = 0;
        for (uint32_t run = i; run != UINT32_MAX && !g->jobs[i].gone; run = g->jobs[run].next)
            runs[parts++] = run;
        if (parts > 1)
            VP_TRY(cat_rank_run(g->scan, &c->sessions[i], runs, parts, g->names,
                                g->jobs[i].job.world));
    }
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t run = g->jobs[i].gone ? UINT32_MAX : g->jobs[i].next; run != UINT32_MAX;
             run = g->jobs[run].next)
            c->sessions[run].id = NULL; /* it is part of another */
    for (size_t i = 0; i < g->count; i++)
        if (c->sessions[i].id)
            c->sessions[n++] = c->sessions[i];
    c->count = n;
    return 0;
}

static void joining_free(joining *g)
{
    vp_free(g->jobs);
    vp_free(g->names);
    vp_free(g->order);
    vp_map_free(&g->seen);
    vp_map_free(&g->numbers);
    vp_map_free(&g->hosts);
}

int cat_join_ranks(cat_scan *s)
{
    catalog *c = s->c;
    if (s->opts->keep_ranks_apart || c->count < 2)
        return 0;
    VP_CLEANUP(joining_free)
    joining g = {.scan = s,
                 .count = c->count,
                 .jobs = vp_calloc(c->count, sizeof *g.jobs),
                 .names = vp_calloc(c->count, sizeof *g.names),
                 .order = vp_calloc(c->count, sizeof *g.order)};
    VP_NEED(g.jobs && g.names && g.order);
    VP_TRY(join_all(&g));
    return replace_runs(&g);
}
