#include "server/watch/watch_deliver.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/watch/watch_store.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/capture/disk/small_files.h"
#include "trace/source/address.h"
#include "trace/source/fetch_wire.h"
#include "trace/source/fetcher.h"
#include "trace/source/source_write.h"

#define HISTORY_MAX (256u << 20)

typedef struct delivery {
    json_t *plan;
    const char *dir;
    source_address at;
    source_ask ask;
} delivery;

static const char *plan_text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static int read_local_file(vp_buf *b, const char *path)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir;
    vp_file_id id;
    size_t got = 0;
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, &id));
    if (is_dir || id.size >= (int64_t)b->max)
        return vp_fail_at(vp_fail(VP_ELIMIT, "is too large"), path, -1, -1);
    char *room = vp_buf_reserve(b, (size_t)id.size + 1);
    VP_NEED(room);
    VP_TRY(vp_fs_pread(fd, room, (size_t)id.size, 0, &got));
    return vp_buf_wrote(b, got);
}

/* Adds the address to the error, unless it has a local path. */
static int fail_there(int rc, const char *url)
{
    return rc < 0 && !vp_error_last()->path[0] ? vp_fail_at(rc, url, -1, -1) : rc;
}

/* 1: exists; 0: does not exist. etag: "" if the store has none. */
static int look_up_object(const delivery *d, const char *url, char etag[FETCH_ETAG_MAX],
                          int64_t *bytes)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    source_entry e;
    vp_buf_init(&b, FETCH_FRAME_MAX + 2);
    int rc = source_ask_head(&d->ask, url, &b, &e);
    if (rc == VP_ENOTFOUND)
        return 0;
    VP_TRY(fail_there(rc, url));
    *bytes = e.bytes;
    snprintf(etag, FETCH_ETAG_MAX, "%.*s", VP_STR_CUT(e.etag, FETCH_ETAG_MAX - 1));
    return 1;
}

static int write_file(const delivery *d, const char *url, const char *path, char *etag)
{
    int64_t bytes;
    VP_TRY(fail_there(source_write_file(&d->ask, url, path), url));
    int rc = look_up_object(d, url, etag, &bytes);
    return rc == 0 ? fail_there(vp_fail(VP_EREMOTE, "the object was written but is not found"), url)
           : rc < 0 ? rc
                    : 0;
}

static int print_delivery_line(vp_buf *b)
{
    vp_buf_putc(b, '\n');
    VP_TRY(b->status);
    return vp_fs_write_all(STDOUT_FILENO, b->p, b->n) < 0
               ? vp_fail(VP_EIO, "cannot write to standard output")
               : 0;
}

/* Prints the last error as a warning that does not stop the upload. */
static int print_warning_line(void)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_json w;
    char line[1000];
    vp_buf_init(&b, 16384);
    vp_json_init(&w, &b);
    vp_json_begin_object(&w);
    vp_json_kcstr(&w, "warn", vp_error_line(vp_error_last(), line, sizeof line));
    vp_json_end_object(&w);
    return print_delivery_line(&b);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The name contains the job and the second. An object with this name and size was therefore
 * uploaded by this watch, which was ended before it could record that. */
static int deliver_file(const delivery *d, const char *url, const char *path, char *etag)
{
    struct stat st;
    int64_t bytes = -1;
    if (stat(path, &st) < 0)
        return cap_file_fail("stat", path, errno);
    int rc = look_up_object(d, url, etag, &bytes);
    VP_TRY(rc);
    if (rc == 1 && bytes == st.st_size)
        return 0;
    if (rc == 1) {
        (void)vp_fail(
            VP_EREFUSED,
            "an object with this name exists that this watch did not write; skipping this capture");
        (void)fail_there(VP_EREFUSED, url);
        VP_TRY(print_warning_line());
        return 1;
    }
    return write_file(d, url, path, etag);
}

static int deliver_entry(const delivery *d, vp_json *w, const char *run, const char *name)
{
    char there[VP_PATH_MAX], here[VP_PATH_MAX], etag[FETCH_ETAG_MAX];
    struct stat st;
    snprintf(there, sizeof there, "plugins/profile/%.255s/%.255s", run, name);
    snprintf(here, sizeof here, "%.3000s/%.1000s", d->dir, there);
    if (name[0] == '.' || lstat(here, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    VP_CLEANUP(vp_free_ptr) char *url = source_address_beneath(&d->at, there);
    VP_NEED(url);
    int rc = deliver_file(d, url, here, etag);
    if (rc)
        return rc < 0 ? rc : 0;
    vp_json_begin_object(w);
    vp_json_kcstr(w, "name", name);
    vp_json_kcstr(w, "etag", etag);
    vp_json_end_object(w);
    return 0;
}

static int deliver_run_files(const delivery *d, vp_json *w, const char *run)
{
    char path[VP_PATH_MAX];
    const struct dirent *e;
    int rc = 0;
    snprintf(path, sizeof path, "%.3000s/plugins/profile/%.255s", d->dir, run);
    DIR *dir = opendir(path);
    if (!dir) /* removed by another process: nothing to upload */
        return 0;
    while (rc >= 0 && (e = readdir(dir)))
        rc = deliver_entry(d, w, run, e->d_name);
    closedir(dir);
    return rc;
}

static int deliver_run(const delivery *d, const char *run)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_json w;
    vp_buf_init(&b, WATCH_PLAN_MAX);
    vp_json_init(&w, &b);
    vp_json_begin_object(&w);
    vp_json_kcstr(&w, "put", run);
    vp_json_key(&w, "files");
    vp_json_begin_array(&w);
    VP_TRY(deliver_run_files(d, &w, run));
    vp_json_end_array(&w);
    vp_json_end_object(&w);
    return print_delivery_line(&b);
}

static int remove_run(const delivery *d, const json_t *doomed)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_json w;
    const json_t *v;
    size_t i;
    json_array_foreach(json_object_get(doomed, "files"), i, v)
    {
        char path[VP_PATH_MAX];
        snprintf(path, sizeof path, "plugins/profile/%.255s/%.300s", plan_text(doomed, "run"),
                 plan_text(v, "name"));
        VP_CLEANUP(vp_free_ptr) char *url = source_address_beneath(&d->at, path);
        VP_NEED(url);
        int rc = source_remove(&d->ask, url, plan_text(v, "etag"));
        bool stays = rc == VP_EREFUSED && strstr(vp_error_last()->message, "it is kept");
        rc = fail_there(rc, url);
        VP_TRY(stays ? print_warning_line() : rc);
    }
    vp_buf_init(&b, 4096);
    vp_json_init(&w, &b);
    vp_json_begin_object(&w);
    vp_json_kcstr(&w, "removed", plan_text(doomed, "run"));
    vp_json_end_object(&w);
    return print_delivery_line(&b);
}

/* ---- The history ----------------------------------------------------------------------------- */

/* Appends the lines that *all does not contain yet. */
static int add_missing_lines(vp_buf *all, vp_map *seen, vp_str text)
{
    vp_str line;
    while (text.n) {
        (void)vp_take_until(&text, '\n', text.n, &line);
        uint64_t key = vp_hash(line.p, line.n, 0);
        if (!line.n || vp_map_get(seen, key) != VP_MAP_NONE)
            continue;
        VP_TRY(vp_map_set(seen, key, 0));
        vp_buf_str(all, line);
        VP_TRY(vp_buf_putc(all, '\n'));
    }
    return 0;
}

/* The remote history was changed by another writer, or the local state was lost: merges the lines
 * of both, remote ones first. */
static int merge_history_lines(const delivery *d, const char *url, const char *path)
{
    VP_CLEANUP(vp_buf_free) vp_buf there, here, all;
    vp_map seen;
    vp_buf_init(&there, HISTORY_MAX);
    vp_buf_init(&here, HISTORY_MAX);
    vp_buf_init(&all, HISTORY_MAX);
    VP_TRY(fail_there(source_read_all(&d->ask, url, &there), url));
    VP_TRY(read_local_file(&here, path));
    vp_map_init(&seen);
    int rc = add_missing_lines(&all, &seen, vp_buf_view(&there));
    if (rc >= 0)
        rc = add_missing_lines(&all, &seen, vp_buf_view(&here));
    vp_map_free(&seen);
    return rc < 0 ? rc : cap_write_path(path, vp_buf_view(&all));
}

/* Objects cannot be appended to, so the whole history is written. */
static int put_history(const delivery *d)
{
    char path[VP_PATH_MAX], note[VP_PATH_MAX], etag[FETCH_ETAG_MAX];
    const char *name = plan_text(d->plan, "history");
    int64_t bytes;
    VP_CLEANUP(vp_buf_free) vp_buf known;
    vp_buf_init(&known, 4096);
    snprintf(path, sizeof path, "%.3000s/%.300s", d->dir, name);
    snprintf(note, sizeof note, "%.3000s/" WATCH_INNER "/%.200s.etag", d->dir, name);
    if (access(path, F_OK) < 0)
        return 0;
    VP_CLEANUP(vp_free_ptr) char *url = source_address_beneath(&d->at, name);
    VP_NEED(url);
    if (access(note, F_OK) == 0)
        VP_TRY(read_local_file(&known, note));
    int rc = look_up_object(d, url, etag, &bytes);
    VP_TRY(rc);
    if (rc == 1 && (!etag[0] || !vp_str_eq(vp_buf_view(&known), vp_str_of(etag))))
        VP_TRY(merge_history_lines(d, url, path));
    VP_TRY(write_file(d, url, path, etag));
    return cap_write_path(note, vp_str_of(etag));
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int deliver_plan(delivery *d)
{
    const json_t *v;
    size_t i;
    fetcher *f = NULL;
    VP_TRY(source_address_read(&d->at, plan_text(d->plan, "url")));
    VP_TRY(fetcher_start(&f));
    d->dir = plan_text(d->plan, "dir");
    d->ask = (source_ask){.ask = fetcher_source,
                          .ctx = f,
                          .is_unsigned = json_is_true(json_object_get(d->plan, "unsigned")),
                          .user = d->at.user,
                          .query = d->at.query};
    int rc = 0;
    json_array_foreach(json_object_get(d->plan, "put"), i, v) if (rc >= 0) rc =
        deliver_run(d, json_string_value(v) ? json_string_value(v) : "");
    if (rc >= 0)
        rc = put_history(d);
    json_array_foreach(json_object_get(d->plan, "remove"), i, v) if (rc >= 0) rc = remove_run(d, v);
    fetcher_end(f);
    return rc;
}

int watch_deliver(const char *plan)
{
    delivery d = {0};
    char line[1000];
    json_error_t e;
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, WATCH_PLAN_MAX);
    int rc = read_local_file(&b, plan);
    (void)unlink(plan);
    d.plan = rc >= 0 ? json_loadb(b.p, b.n, JSON_REJECT_DUPLICATES, &e) : NULL;
    if (rc >= 0 && !d.plan)
        rc = vp_fail_at(vp_fail(VP_ECORRUPT, "invalid plan file"), plan, -1, -1);
    if (rc >= 0)
        rc = deliver_plan(&d);
    if (rc < 0)
        vp_log(VP_LOG_ERROR, "%s", vp_error_line(vp_error_last(), line, sizeof line));
    source_address_free(&d.at);
    json_decref(d.plan);
    return rc;
}
