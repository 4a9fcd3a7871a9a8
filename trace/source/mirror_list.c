/* Lists an address: directory by directory with a few concurrent requests; runs of a bucket, which
 * are all in one place, in one request. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/read/detect/detect.h"
#include "trace/source/fetch_frames.h"
#include "trace/source/mirror_impl.h"

/* ---- Names ----------------------------------------------------------------------------------- */

/* Why this cannot be the path of a local file; NULL: it can. "": a dotfile, ignored silently. */
static const char *fault_of(vp_str path)
{
    size_t from = 0, depth = 0;
    if (!path.n || path.n > VP_MEMBER_NAME_MAX || memchr(path.p, 0, path.n))
        return "not a valid path";
    for (size_t i = 0; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/')
            continue;
        vp_str part = {path.p + from, i - from};
        if (!part.n || vp_str_eq(part, VP_STR(".")) || vp_str_eq(part, VP_STR("..")))
            return "a path segment is empty, . or ..";
        if (part.p[0] == '.')
            return "";
        if (part.n > NAME_MAX || ++depth > VP_WALK_DEPTH_MAX)
            return "too long or too deep";
        from = i + 1;
    }
    return NULL;
}

bool mirror_is_file_name(vp_str name)
{
    static const char *const maybe[] = {".json", ".gz",    ".pb",     ".zip",
                                        ".prof", ".pprof", ".pickle", ".pkl"};
    if (rd_detect_name(name).format != RD_UNKNOWN)
        return true;
    for (size_t i = 0; i < sizeof maybe / sizeof *maybe; i++) {
        vp_str end = vp_str_of(maybe[i]);
        if (name.n > end.n && vp_str_eq_nocase(vp_str_skip(name, name.n - end.n), end))
            return true;
    }
    return false;
}

/* True for names that may be profiles. A bucket also holds many other objects. */
static bool is_wanted_object(vp_str name)
{
    return mirror_is_file_name(name) || vp_str_find_nocase(name, VP_STR("trace")) < name.n;
}

static vp_str last_path_component(vp_str path)
{
    size_t slash = vp_str_rfind_char(path, '/');
    return slash < path.n ? vp_str_skip(path, slash + 1) : path;
}

/* True if it is or is beneath plugins/profile, which is listed completely. */
static bool holds_runs(const mirror *m, const char *path)
{
    static const char runs[] = "/plugins/profile";
    char all[VP_PATH_MAX + VP_MEMBER_NAME_MAX + 3];
    int n = snprintf(all, sizeof all, "%.*s/%s/", VP_PATH_MAX, m->at.base, path);
    if (n < 0 || n >= (int)sizeof all)
        return false;
    const char *at = strstr(all, runs);
    return at && at[sizeof runs - 1] == '/';
}

/* ---- Tasks: the caller holds the lock ---- */

static int listing_thread(void *ctx);

static int push_listing_task(mirror_listing *l, vp_str path, bool head)
{
    VP_TRY(vp_grow(&l->tasks, &l->task_cap, l->task_n + 1, sizeof *l->tasks, VP_WALK_ENTRIES_MAX));
    mirror_task t = {vp_arena_strndup(&l->table->arena, path.p, path.n), head};
    VP_NEED(t.path);
    l->tasks[l->task_n++] = t;
    size_t most = sizeof l->threads / sizeof *l->threads;
    if (l->idle)
        pthread_cond_signal(&l->changed);
    else if (l->thread_n < most && l->task_n - l->task_next > 1 &&
             vp_aside_try(&l->threads[l->thread_n], listing_thread, l) >= 0)
        l->thread_n++;
    return 0;
}

/* ---- Responses ---- */

/* Parses the fetcher's "3 names were left out: why". */
static void take_left_out(mirror_listing *l, vp_str says)
{
    uint64_t n = 1;
    vp_str rest = says;
    (void)vp_take_uint(&rest, VP_WALK_ENTRIES_MAX, &n);
    rest = vp_str_skip(says, vp_str_find(says, VP_STR(": ")) + 2);
    mirror_leave_out(l->table, n, rest.n ? rest : says);
}

static int take_listed_path(mirror_listing *l, vp_str path, const source_entry *e, bool flat)
{
    const char *fault = fault_of(path);
    if (fault) {
        if (*fault)
            mirror_leave_out(l->table, 1, vp_str_of(fault));
        return 0;
    }
    if (e->is_dir) {
        VP_TRY(mirror_put_dir(l, path));
        return flat ? 0 : push_listing_task(l, path, false);
    }
    if (!is_wanted_object(last_path_component(path)))
        return 0;
    return e->bytes < 0 ? push_listing_task(l, path, true) : mirror_put_file(l, path, e);
}

static int take_listed_entry(mirror_listing *l, const char *dir, const source_entry *e, bool flat)
{
    char path[VP_MEMBER_NAME_MAX + 1];
    size_t n = strlen(dir);
    if (!e->name.n && e->why.n) {
        take_left_out(l, e->why);
        return 0;
    }
    if (l->full || ++l->entries > VP_WALK_ENTRIES_MAX) {
        l->full = true;
        return 0;
    }
    if (n + 1 + e->name.n > VP_MEMBER_NAME_MAX) {
        mirror_leave_out(l->table, 1, VP_STR("too long"));
        return 0;
    }
    memcpy(path, dir, n);
    if (n)
        path[n++] = '/';
    if (e->name.n)
        memcpy(path + n, e->name.p, e->name.n);
    return take_listed_path(l, (vp_str){path, n + e->name.n}, e, flat);
}

static int take_entries(mirror_listing *l, const char *dir, vp_str payload, bool flat)
{
    vp_pb r = vp_pb_of(payload);
    vp_pb_field f;
    int got, rc = 0;
    pthread_mutex_lock(&l->lock);
    while (rc >= 0 && (got = vp_pb_next(&r, &f)) == 1) {
        source_entry e;
        if (f.number == FETCH_ENTRIES_ONE && (rc = source_entry_of(&e, f.data)) >= 0)
            rc = take_listed_entry(l, dir, &e, flat);
    }
    pthread_mutex_unlock(&l->lock);
    return rc;
}

static int list_dir(mirror_listing *l, const char *dir, const char *url)
{
    VP_CLEANUP(vp_fs_close) int stream = -1;
    VP_CLEANUP(vp_buf_free) vp_buf b;
    fetch_frame kind = FETCH_ENTRIES;
    bool flat = !l->m->at.web && holds_runs(l->m, dir);
    const source_question q = {.what = FETCH_LIST, .url = url, .flat = flat};
    vp_buf_init(&b, FETCH_FRAME_MAX + 2);
    VP_TRY(source_ask_put(&l->m->ask, &q, &stream));
    for (;;) {
        b.n = 0;
        VP_TRY(source_ask_wait(stream, l->how->stop));
        VP_TRY(fetch_next(stream, &kind, &b));
        if (kind == FETCH_DONE || l->full)
            return 0;
        if (kind == FETCH_ENTRIES)
            VP_TRY(take_entries(l, dir, vp_buf_view(&b), flat));
    }
}

static int list_single_object(mirror_listing *l, const char *path, const char *url)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    source_entry e;
    vp_buf_init(&b, FETCH_FRAME_MAX + 2);
    VP_TRY(source_ask_head(&l->m->ask, url, &b, &e));
    if (e.is_dir || e.bytes < 0)
        return 0;
    vp_str all = vp_str_of(path);
    pthread_mutex_lock(&l->lock);
    int rc = mirror_put_file(l, all, &e);
    pthread_mutex_unlock(&l->lock);
    return rc;
}

/* Lists one path. If it was deleted after its parent was listed, it is ignored. */
static int do_task(mirror_listing *l, const mirror_task *t)
{
    VP_CLEANUP(vp_free_ptr) char *url = mirror_url_of(l->m, t->path);
    VP_NEED(url);
    int rc = (t->head ? list_single_object : list_dir)(l, t->path, url);
    if (rc == VP_ENOTFOUND && *t->path)
        return 0;
    return rc < 0 ? vp_fail_at(rc, *t->path ? url : l->m->at.url, -1, -1) : 0;
}

/* ---- The threads ----------------------------------------------------------------------------- */

static void work_on(mirror_listing *l, bool own)
{
    const mirror_renewal *how = l->how;
    pthread_mutex_lock(&l->lock);
    while (l->rc >= 0) {
        if (l->task_next < l->task_n) {
            mirror_task t = l->tasks[l->task_next++];
            int64_t seen = (int64_t)l->entries;
            l->running++;
            pthread_mutex_unlock(&l->lock);
            int rc = own && how->progress && how->progress(how->progress_ctx, seen, -1)
                         ? vp_fail(VP_ECANCELLED, "cancelled")
                         : do_task(l, &t);
            pthread_mutex_lock(&l->lock);
            l->running--;
            if (rc < 0 && l->rc >= 0) {
                l->rc = rc;
                l->error = *vp_error_last();
            }
        } else if (!l->running) {
            break;
        } else {
            l->idle++;
            pthread_cond_wait(&l->changed, &l->lock);
            l->idle--;
        }
    }
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static int listing_thread(void *ctx)
{
    work_on(ctx, false);
    return 0;
}

int mirror_list(mirror_listing *l)
{
    pthread_mutex_lock(&l->lock);
    int rc = push_listing_task(l, VP_STR(""), false);
    pthread_mutex_unlock(&l->lock);
    if (rc >= 0)
        work_on(l, true);
    for (size_t i = 0; i < l->thread_n; i++)
        vp_aside_wait(&l->threads[i]);
    if (rc >= 0 && l->rc < 0)
        rc = vp_fail_copy(&l->error);
    return rc;
}
