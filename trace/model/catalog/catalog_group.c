/* Groups the files of a directory into runs.
 *
 *   below plugins/profile   all files are one run, also if it is empty or unreadable
 *   elsewhere               *.xplane.pb and XLA's HOST.trace.json are one run named after the
 *                           directory; Kineto files with a time in their names are captures of one
 *                           or more workers; every other trace is a stray run; recognized but
 *                           unreadable files are notes */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"
#include "trace/model/catalog/catalog_impl.h"
#include "trace/model/catalog/catalog_jobs.h"
#include "trace/model/catalog/catalog_rank_names.h"

#include <stdlib.h>

/* Adds a run with these files; the strings are in the arena, or NULL when out of memory. */
static int catalog_add_session(cat_scan *s, const cat_dir *d, const cat_session *like,
                               const cat_found *const *files, size_t n)
{
    catalog *c = s->c;
    cat_session session = *like;
    if (!session.name || !session.path)
        return cat_no_memory();
    session.id = cat_slug(c, session.name);
    if (!session.id)
        return cat_no_memory();
    VP_TRY(vp_grow(&c->sessions, &c->session_cap, c->count + 1, sizeof *c->sessions,
                   VP_WALK_ENTRIES_MAX));
    VP_TRY(cat_session_fill(s, &session, d, files, n));
    c->sessions[c->count++] = session;
    return 0;
}

/* Adds the directory itself as a run. */
static int add_directory(cat_scan *s, const cat_dir *d, const cat_found *const *files, size_t n)
{
    cat_session session = {.name = cat_dir_name(s, d), .path = cat_path_of(s, d, VP_STR_NONE)};
    if (!session.name)
        return cat_no_memory();
    vp_str name = vp_str_of(session.name);
    size_t slash = vp_str_rfind_char(name, '/');
    vp_str run = slash == name.n ? name : vp_str_skip(name, slash + 1);
    session.time_from_name = vp_time_from_run_name(run, &session.captured_unix_ns);
    session.stray = !session.time_from_name && !cat_is_run(d);
    return catalog_add_session(s, d, &session, files, n);
}

/* The time in the file's name, else in its directory's. */
static bool time_of_stray(int64_t *unix_ns, const cat_dir *d, vp_str name)
{
    vp_str stem, digits;
    size_t slash = vp_str_rfind_char(d->full, '/');
    return cat_worker_time(name, &stem, &digits, unix_ns) || vp_time_from_run_name(name, unix_ns) ||
           vp_time_from_run_name(slash == d->full.n ? d->full : vp_str_skip(d->full, slash + 1),
                                 unix_ns);
}

static int add_stray(cat_scan *s, const cat_dir *d, const cat_found *f)
{
    cat_session session = {
        .name = cat_stray_name(s, d, f->name), .path = cat_path_of(s, d, f->name), .stray = true};
    session.time_from_name = time_of_stray(&session.captured_unix_ns, d, f->name);
    return catalog_add_session(s, d, &session, &f, 1);
}

typedef struct worker {
    const cat_found *file;
    vp_str stem, digits;
    int64_t unix_ns;
    uint32_t capture;
} worker;

static int by_worker_time(const void *pa, const void *pb)
{
    const worker *a = pa, *b = pb;
    if (a->unix_ns != b->unix_ns)
        return a->unix_ns < b->unix_ns ? -1 : 1;
    return strcmp(a->file->name.p, b->file->name.p);
}

/* Adds workers[0..n) as one capture, named by the time of its first file. */
static int add_capture(cat_scan *s, const cat_dir *d, const worker *workers, size_t n,
                       const cat_found **files)
{
    const char *dir = cat_dir_name(s, d);
    if (!dir)
        return cat_no_memory();
    for (size_t i = 0; i < n; i++)
        files[i] = workers[i].file;
    cat_session session = {.name = cat_join(s, vp_str_of(dir), "/", workers[0].digits),
                           .path = cat_path_of(s, d, n == 1 ? files[0]->name : VP_STR_NONE),
                           .captured_unix_ns = workers[0].unix_ns,
                           .time_from_name = true};
    return catalog_add_session(s, d, &session, files, n);
}

/* Captures that the next worker may belong to, the newest first. With two jobs in one directory
 * their workers alternate. */
#define OPEN_CAPTURES 8u

typedef struct capture {
    cat_job job;
    int64_t began_ns; /* time in the name of its first file */
    uint64_t form;    /* of its first worker's name */
} capture;

typedef struct captures {
    vp_map workers, ranks;
    capture open[OPEN_CAPTURES];
    uint32_t open_n, count;
    bool apart; /* every worker is a capture */
} captures;

static uint64_t capture_worker_key(const capture *c, const worker *w)
{
    return vp_hash(w->stem.p, w->stem.n, vp_mix(c->job.id));
}

static bool joins_capture(const captures *all, const capture *c, const worker *w)
{
    const rd_rank *r = &w->file->rank;
    return !all->apart && w->unix_ns - c->began_ns <= CAT_JOB_SPREAD_NS &&
           vp_map_get(&all->workers, capture_worker_key(c, w)) == VP_MAP_NONE &&
           cat_job_takes(&c->job, r->world, r->backend, 1) &&
           cat_job_is_at(&c->job, r->first_ns, r->last_ns) && !cat_job_has(&c->job, &all->ranks, r);
}

/* The capture of a worker: an open one, or a new one. Of several the one with names like its own,
 * then the one whose first events are the nearest to its own, then the newest. */
static capture *capture_of(captures *all, const worker *w)
{
    uint64_t form = cat_form_without_numbers(w->stem);
    cat_job_choice best = {.job = NULL};
    uint32_t at = 0;
    for (uint32_t i = 0; i < all->open_n; i++)
        if (joins_capture(all, &all->open[i], w) &&
            cat_job_prefer(&best, &all->open[i].job, all->open[i].form == form,
                           w->file->rank.first_ns))
            at = i;
    if (best.job)
        return &all->open[at];
    memmove(all->open + 1, all->open, (OPEN_CAPTURES - 1) * sizeof *all->open);
    all->open_n += all->open_n < OPEN_CAPTURES;
    all->open[0] = (capture){.job = {.id = all->count++}, .began_ns = w->unix_ns, .form = form};
    return &all->open[0];
}

/* Sets the capture of each worker; they are sorted by time. */
static int find_captures(captures *all, worker *workers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        worker *w = &workers[i];
        if (i && w->unix_ns == w[-1].unix_ns && vp_str_eq(w->stem, w[-1].stem)) {
            w->capture = w[-1].capture; /* the same file, plain and gzip */
            continue;
        }
        capture *c = capture_of(all, w);
        VP_TRY(vp_map_set(&all->workers, capture_worker_key(c, w), 0));
        VP_TRY(cat_job_add(&c->job, &all->ranks, &w->file->rank));
        w->capture = c->job.id;
    }
    return 0;
}

static int by_capture(const void *pa, const void *pb)
{
    const worker *a = pa, *b = pb;
    return a->capture != b->capture ? (a->capture > b->capture) - (a->capture < b->capture)
                                    : by_worker_time(pa, pb);
}

static int add_captures(cat_scan *s, const cat_dir *d, worker *workers, size_t n,
                        const cat_found **files)
{
    captures all = {.apart = s->opts->keep_ranks_apart};
    qsort(workers, n, sizeof *workers, by_worker_time);
    vp_map_init(&all.workers);
    vp_map_init(&all.ranks);
    int rc = find_captures(&all, workers, n);
    vp_map_free(&all.workers);
    vp_map_free(&all.ranks);
    VP_TRY(rc);
    qsort(workers, n, sizeof *workers, by_capture);
    for (size_t first = 0, i = 1; i <= n; i++) {
        if (i < n && workers[i].capture == workers[first].capture)
            continue;
        VP_TRY(add_capture(s, d, workers + first, i - first, files));
        first = i;
    }
    return 0;
}

/* The files of a directory outside plugins/profile, by their use. */
typedef struct piles {
    const cat_found **run, **alone, **scratch; /* each with space for all files */
    worker *workers;
    size_t run_n, alone_n, worker_n;
    bool anchored; /* an xplane, or an XLA trace with a host: the directory is a run */
} piles;

static void piles_free(piles *p)
{
    vp_free(p->run);
    vp_free(p->alone);
    vp_free(p->scratch);
    vp_free(p->workers);
}

static int piles_alloc(piles *p, size_t n)
{
    *p = (piles){.run = vp_calloc(n, sizeof *p->run),
                 .alone = vp_calloc(n, sizeof *p->alone),
                 .scratch = vp_calloc(n, sizeof *p->scratch),
                 .workers = vp_calloc(n, sizeof *p->workers)};
    return p->run && p->alone && p->scratch && p->workers ? 0 : cat_no_memory();
}

static bool anchors_session(const cat_found *f)
{
    rd_role role = rd_formats[f->kind.format].role;
    return role == RD_FIRST_HALF || (role == RD_SECOND_HALF && rd_host_of(f->name).n > 0);
}

static void sort_out(piles *p, const cat_dir *d)
{
    for (size_t i = 0; i < d->count; i++)
        p->anchored |= anchors_session(&d->files[i]);
    for (size_t i = 0; i < d->count; i++) {
        const cat_found *f = &d->files[i];
        worker w = {.file = f};
        if (f->kind.format == RD_KINETO && cat_worker_time(f->name, &w.stem, &w.digits, &w.unix_ns))
            p->workers[p->worker_n++] = w;
        else if (p->anchored && rd_formats[f->kind.format].role != RD_ALONE)
            p->run[p->run_n++] = f;
        else
            p->alone[p->alone_n++] = f;
    }
}

static int group_plain(cat_scan *s, const cat_dir *d)
{
    piles p VP_CLEANUP(piles_free) = {0};
    VP_TRY(piles_alloc(&p, d->count));
    sort_out(&p, d);
    if (p.run_n)
        VP_TRY(add_directory(s, d, p.run, p.run_n));
    VP_TRY(add_captures(s, d, p.workers, p.worker_n, p.scratch));
    for (size_t i = 0; i < p.alone_n; i++) {
        const cat_found *f = p.alone[i];
        if (f->kind.format != RD_UNREADABLE) {
            VP_TRY(add_stray(s, d, f));
        } else {
            const char *path = cat_path_of(s, d, f->name);
            VP_TRY(path ? cat_note_add(s->c, path, f->why) : cat_no_memory());
        }
    }
    return 0;
}

static int group_run(cat_scan *s, const cat_dir *d)
{
    if (!d->count)
        return d->has_more ? 0 : add_directory(s, d, NULL, 0);
    VP_CLEANUP(vp_free_ptr) const cat_found **files = vp_calloc(d->count, sizeof *files);
    if (!files)
        return cat_no_memory();
    for (size_t i = 0; i < d->count; i++)
        files[i] = &d->files[i];
    return add_directory(s, d, files, d->count);
}

static int count_unreadable(cat_scan *s, const cat_dir *d)
{
    cat_seen *seen = &s->c->seen;
    for (size_t i = 0; i < d->count; i++) {
        if (d->files[i].kind.format != RD_UNREADABLE || seen->unreadable++)
            continue;
        seen->unreadable_path = cat_path_of(s, d, d->files[i].name);
        seen->unreadable_why = d->files[i].why;
        if (!seen->unreadable_path)
            return cat_no_memory();
    }
    return 0;
}

int cat_group(cat_scan *s, const cat_dir *d)
{
    VP_TRY(count_unreadable(s, d));
    if (cat_is_run(d) && (d->count || !d->standby))
        return group_run(s, d);
    if (!d->count)
        return 0;
    if (s->c->single && !d->archive) /* the file that the user named, of any kind */
        return add_stray(s, d, &d->files[0]);
    return group_plain(s, d);
}
