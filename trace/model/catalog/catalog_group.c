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

#include <stdlib.h>

/* Workers write their files at the end of the same step: measured 12 ms apart over 8 ranks, and
 * synchronized clocks differ by less than a second. The next capture of a schedule repeats a
 * worker. But a restarted program is a new worker (HOST_PID), and importing torch and warming up
 * takes seconds: merging its runs would add figures of different runs. */
#define CAPTURE_SPREAD_NS (INT64_C(10) * 1000000000)

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

/* A repeated worker begins the next capture, unless it is the same file, plain and gzip. */
static bool joins_capture(const vp_map *seen, uint64_t stem, uint32_t capture, const worker *first,
                          const worker *previous, const worker *w)
{
    if (w->unix_ns - first->unix_ns > CAPTURE_SPREAD_NS)
        return false;
    return vp_map_get(seen, stem) != capture ||
           (w->unix_ns == previous->unix_ns && vp_str_eq(w->stem, previous->stem));
}

static int add_captures(cat_scan *s, const cat_dir *d, worker *workers, size_t n,
                        const cat_found **files)
{
    vp_map seen VP_CLEANUP(vp_map_free);
    uint32_t capture = 0;
    size_t first = 0;
    vp_map_init(&seen);
    qsort(workers, n, sizeof *workers, by_worker_time);
    for (size_t i = 0; i < n; i++) {
        uint64_t stem = vp_hash(workers[i].stem.p, workers[i].stem.n, 0);
        if (i &&
            !joins_capture(&seen, stem, capture, &workers[first], &workers[i - 1], &workers[i])) {
            VP_TRY(add_capture(s, d, workers + first, i - first, files));
            first = i;
            capture++;
        }
        VP_TRY(vp_map_set(&seen, stem, capture));
    }
    return n ? add_capture(s, d, workers + first, n - first, files) : 0;
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
    if (s->single && !d->archive) /* the file that the user named, of any kind */
        return add_stray(s, d, &d->files[0]);
    return group_plain(s, d);
}
