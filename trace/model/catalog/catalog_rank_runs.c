#include "trace/model/catalog/catalog_rank_runs.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"

typedef struct rank_run {
    cat_scan *scan;
    const uint32_t *runs; /* in the order of their ranks */
    size_t n;
    const cat_rank_name *names;
    cat_session *made;
} rank_run;

/* A host of the new run, before hosts are sorted. */
typedef struct rank_host {
    const char *name;
    uint32_t primary, secondary; /* files of the new run */
} rank_host;

static const cat_session *part_at(const rank_run *g, size_t i)
{
    return &g->scan->c->sessions[g->runs[i]];
}

static const rd_rank *rank_of_run(const cat_session *s)
{
    return &s->files[s->hosts[0].primary].rank;
}

/* ---- Files and hosts ---- */

/* A path as one name: files of several directories may have the same name. */
static const char *name_of_path(cat_scan *s, const char *path)
{
    size_t n = strlen(path);
    char *name = vp_arena_strndup(&s->c->arena, path, n);
    for (size_t i = 0; name && i < n; i++)
        if (name[i] == '/' || name[i] == '!')
            name[i] = '-';
    return name;
}

static uint64_t text_key(const char *text)
{
    return vp_hash(text, strlen(text), 0);
}

/* Gives files with equal names a name of their own. */
static int make_file_names_unique(cat_scan *s, cat_session *run)
{
    vp_map seen VP_CLEANUP(vp_map_free);
    vp_map_init(&seen);
    for (size_t i = 0; i < run->file_count; i++) {
        cat_file *f = &run->files[i];
        if (vp_map_get(&seen, text_key(f->name)) != VP_MAP_NONE)
            f->name = name_of_path(s, f->path);
        VP_NEED(f->name);
        VP_TRY(vp_map_set(&seen, text_key(f->name), 0));
    }
    return 0;
}

/* "rank3" if the file states it, else what its path says; "" if nothing does. */
static const char *rank_label(const rank_run *g, size_t part, uint32_t host)
{
    const cat_session *s = part_at(g, part);
    const rd_rank *r = &s->files[s->hosts[host].primary].rank;
    char rank[16];
    snprintf(rank, sizeof rank, "rank%u", (unsigned)r->rank);
    const char *label = r->has_rank ? rank : g->names[g->runs[part]].label;
    return vp_arena_strndup(&g->scan->c->arena, label, strlen(label));
}

/* The name of a rank's host: of the machine if its file names one, else of the rank. */
static const char *name_of_host(const rank_run *g, size_t part, uint32_t host, const char *label)
{
    const cat_session *s = part_at(g, part);
    const cat_file *f = &s->files[s->hosts[host].primary];
    vp_str stem, digits;
    int64_t ns;
    bool names_host = rd_formats[f->kind.format].role == RD_FIRST_HALF ||
                      rd_formats[f->kind.format].role == RD_SECOND_HALF ||
                      cat_worker_time(vp_str_of(f->name), &stem, &digits, &ns);
    return names_host || !*label || (!f->rank.has_rank && s->host_count > 1) ? s->hosts[host].name
                                                                             : label;
}

/* Hosts with equal names become "RANK-HOST", or have the path of their file. */
static int make_host_names_unique(const rank_run *g, rank_host *hosts, size_t n,
                                  const char *const *labels)
{
    vp_map count VP_CLEANUP(vp_map_free);
    vp_map_init(&count);
    for (size_t i = 0; i < n; i++) {
        uint32_t before = vp_map_get(&count, text_key(hosts[i].name));
        VP_TRY(vp_map_set(&count, text_key(hosts[i].name), before == VP_MAP_NONE ? 1 : 2));
    }
    for (size_t i = 0; i < n; i++) {
        if (vp_map_get(&count, text_key(hosts[i].name)) == 1)
            continue;
        const char *path = g->made->files[hosts[i].primary].path;
        const char *own = cat_join(g->scan, vp_str_of(labels[i]), "-", vp_str_of(hosts[i].name));
        VP_NEED(own);
        if (!*labels[i] || vp_map_get(&count, text_key(own)) != VP_MAP_NONE)
            own = path;
        VP_TRY(vp_map_set(&count, text_key(own), 1));
        hosts[i].name = own;
    }
    return 0;
}

static int by_host_name(const void *pa, const void *pb)
{
    return strverscmp(((const rank_host *)pa)->name, ((const rank_host *)pb)->name);
}

/* Where the files of a part are in the new run: all timelines are before all other files. */
typedef struct part_place {
    size_t timelines, timelines_at, rest_at;
} part_place;

static uint32_t moved_file(const part_place *p, uint32_t file)
{
    if (file == UINT32_MAX)
        return file;
    return (uint32_t)(file < p->timelines ? p->timelines_at + file
                                          : p->rest_at + file - p->timelines);
}

static size_t timelines_of(const cat_session *s)
{
    size_t n = 0;
    while (n < s->file_count && rd_formats[s->files[n].kind.format].role <= RD_ALONE)
        n++;
    return n;
}

static void copy_part_files(const rank_run *g, size_t part, const part_place *p)
{
    const cat_session *s = part_at(g, part);
    const cat_rank_name *name = &g->names[g->runs[part]];
    for (uint32_t i = 0; i < s->file_count; i++) {
        cat_file *f = &g->made->files[moved_file(p, i)];
        *f = s->files[i];
        f->host = UINT32_MAX;
        if (!f->rank.has_rank && name->has_rank && s->host_count == 1) {
            f->rank.has_rank = true;
            f->rank.rank = name->rank;
        }
    }
}

static int place_hosts(rank_run *g, rank_host *hosts, size_t n)
{
    cat_session *made = g->made;
    made->hosts = vp_arena_alloc(&g->scan->c->arena, n * sizeof *made->hosts);
    VP_NEED(made->hosts);
    qsort(hosts, n, sizeof *hosts, by_host_name);
    for (uint32_t i = 0; i < n; i++) {
        made->hosts[i] = (cat_host){hosts[i].name, hosts[i].primary, hosts[i].secondary};
        made->files[hosts[i].primary].host = i;
        if (hosts[i].secondary != UINT32_MAX)
            made->files[hosts[i].secondary].host = i;
    }
    made->host_count = n;
    return 0;
}

static int join_files(rank_run *g)
{
    cat_session *made = g->made;
    size_t timelines = 0, hosts = 0;
    for (size_t i = 0; i < g->n; i++) {
        timelines += timelines_of(part_at(g, i));
        made->file_count += part_at(g, i)->file_count;
        hosts += part_at(g, i)->host_count;
    }
    made->files = vp_arena_alloc(&g->scan->c->arena, made->file_count * sizeof *made->files);
    VP_CLEANUP(vp_free_ptr) rank_host *list = vp_calloc(hosts, sizeof *list);
    VP_CLEANUP(vp_free_ptr) const char **labels = vp_calloc(hosts, sizeof *labels);
    VP_NEED(made->files && list && labels);
    part_place p = {.rest_at = timelines};
    hosts = 0;
    for (size_t i = 0; i < g->n; i++) {
        const cat_session *s = part_at(g, i);
        p.timelines = timelines_of(s);
        copy_part_files(g, i, &p);
        for (uint32_t h = 0; h < s->host_count; h++) {
            labels[hosts] = rank_label(g, i, h);
            VP_NEED(labels[hosts]);
            list[hosts] = (rank_host){name_of_host(g, i, h, labels[hosts]),
                                      moved_file(&p, s->hosts[h].primary),
                                      moved_file(&p, s->hosts[h].secondary)};
            hosts++;
        }
        p.timelines_at += p.timelines;
        p.rest_at += s->file_count - p.timelines;
    }
    VP_TRY(make_host_names_unique(g, list, hosts, labels));
    VP_TRY(place_hosts(g, list, hosts));
    return make_file_names_unique(g->scan, made);
}

/* ---- Name and times ---- */

/* The part of two paths that is the same, in whole components. */
static vp_str common_directory(vp_str a, vp_str b)
{
    size_t n = a.n < b.n ? a.n : b.n, end = 0, i = 0;
    for (; i < n && a.p[i] == b.p[i]; i++)
        if (a.p[i] == '/')
            end = i;
    if ((i == a.n || a.p[i] == '/') && (i == b.n || b.p[i] == '/'))
        end = i;
    return vp_str_head(a, end);
}

static vp_str directory_of_file(const char *path)
{
    vp_str all = vp_str_of(path);
    size_t slash = vp_str_rfind_char(all, '/'), inner = vp_str_rfind_char(all, '!');
    return vp_str_head(all, slash < all.n ? slash : inner < all.n ? inner : 0);
}

static int set_path(rank_run *g)
{
    vp_str common = VP_STR_NONE;
    for (size_t i = 0; i < g->made->file_count; i++) {
        vp_str dir = directory_of_file(g->made->files[i].path);
        common = i ? common_directory(common, dir) : dir;
    }
    g->made->path = common.n ? vp_arena_strndup(&g->scan->c->arena, common.p, common.n) : ".";
    VP_NEED(g->made->path);
    return 0;
}

/* The earliest of the parts whose time is in a name, else NULL. */
static const cat_session *earliest_named(const rank_run *g)
{
    const cat_session *first = NULL;
    for (size_t i = 0; i < g->n; i++) {
        const cat_session *s = part_at(g, i);
        if (s->time_from_name && (!first || s->captured_unix_ns < first->captured_unix_ns))
            first = s;
    }
    return first;
}

static bool have_one_form(const rank_run *g)
{
    uint64_t form = g->names[g->runs[0]].form;
    for (size_t i = 1; i < g->n; i++)
        if (g->names[g->runs[i]].form != form)
            return false;
    return form != 0;
}

/* Ranks with names of one form are named by it, others by the first rank. A time in the name is
 * that of the earliest. */
static int set_name(rank_run *g)
{
    const cat_session *timed = earliest_named(g);
    vp_str like = vp_str_of((timed ? timed : part_at(g, 0))->name);
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, VP_PATH_MAX * 4);
    VP_TRY(have_one_form(g) ? cat_rank_form(&b, like) : vp_buf_str(&b, like));
    g->made->name = vp_arena_strndup(&g->scan->c->arena, b.p, b.n);
    g->made->id = g->made->name ? cat_slug(g->scan->c, g->made->name) : NULL;
    VP_NEED(g->made->id);
    return 0;
}

static void sum_up_parts(rank_run *g)
{
    cat_session *made = g->made;
    const cat_session *timed = earliest_named(g);
    for (size_t i = 0; i < g->n; i++) {
        const cat_session *s = part_at(g, i);
        if (s->newest_mtime_ns > made->newest_mtime_ns)
            made->newest_mtime_ns = s->newest_mtime_ns;
        if (__builtin_add_overflow(made->bytes, s->bytes, &made->bytes))
            made->bytes = INT64_MAX;
        made->stray = i ? made->stray && s->stray : s->stray;
        made->why = made->why ? made->why : s->why;
    }
    made->time_from_name = timed != NULL;
    made->captured_unix_ns = timed ? timed->captured_unix_ns : made->newest_mtime_ns;
    made->kind = part_at(g, 0)->kind;
    made->status = CAT_OK;
}

typedef struct ranked {
    uint32_t run;
    int64_t rank;
    const char *path;
} ranked;

static int by_rank(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    int order = vp_order(a->rank, b->rank);
    return order ? order : strverscmp(a->path, b->path);
}

/* Writes the runs in the order of their ranks, so that nothing depends on hashes. */
static int sort_runs_by_rank(const catalog *c, uint32_t *out, const uint32_t *runs, size_t n)
{
    VP_CLEANUP(vp_free_ptr) ranked *v = vp_calloc(n, sizeof *v);
    VP_NEED(v);
    for (size_t i = 0; i < n; i++) {
        const cat_session *s = &c->sessions[runs[i]];
        const rd_rank *r = rank_of_run(s);
        v[i] = (ranked){runs[i], r->has_rank ? (int64_t)r->rank : INT64_MAX, s->files[0].path};
    }
    qsort(v, n, sizeof *v, by_rank);
    for (size_t i = 0; i < n; i++)
        out[i] = v[i].run;
    return 0;
}

int cat_rank_run(cat_scan *s, cat_session *out, const uint32_t *runs, size_t n,
                 const cat_rank_name *names, uint32_t world)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *sorted = vp_calloc(n, sizeof *sorted);
    cat_session made = {.world = world};
    VP_NEED(sorted);
    VP_TRY(sort_runs_by_rank(s->c, sorted, runs, n));
    rank_run g = {.scan = s, .runs = sorted, .n = n, .names = names, .made = &made};
    sum_up_parts(&g);
    VP_TRY(join_files(&g));
    VP_TRY(set_path(&g));
    VP_TRY(set_name(&g));
    *out = made;
    return 0;
}
