/* Operations: liveness, readiness, metrics, and the request to rescan. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "server/routes/routes.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_MAX (1u << 20)

int route_health(http_req *rq)
{
    return http_text(rq, 200, "ok");
}

int route_ready(http_req *rq)
{
    store_counts c;
    store_count(site_of(rq)->store, &c);
    if (c.ready)
        return http_text(rq, 200, "ok");
    return http_fail(rq, 503, c.indexing ? "indexing" : "cannot read the profile directory");
}

/* ---- Metrics -------------------------------------------------------------------------------- */

/* Resident memory in bytes; -1 if unknown. */
static int64_t resident_bytes(void)
{
    VP_CLEANUP(vp_fs_close) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char text[128];
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    vp_str in = {text, n > 0 ? (size_t)n : 0}, size;
    uint64_t pages;
    if (!vp_take_until(&in, ' ', 20, &size) || !vp_take_uint(&in, INT64_MAX / 65536, &pages))
        return -1;
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int64_t open_descriptors(void)
{
    int64_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (const struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (!d)
        return -1;
    closedir(d);
    return n - 1; /* without the descriptor of the directory itself */
}

static void put_metric(vp_buf *b, const char *name, const char *type, const char *help,
                       int64_t value)
{
    if (value < 0)
        return;
    vp_buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", name, help, name, type, name,
                  (long long)value);
}

static void put_index(vp_buf *b, const store_counts *c)
{
    put_metric(b, "view_profile_index_ready", "gauge", "1 after the first scan.", c->ready);
    put_metric(b, "view_profile_index_scans_total", "counter", "Scans of the profile directory.",
               (int64_t)c->scans);
    vp_buf_printf(b,
                  "# HELP view_profile_index_seconds Duration of the last scan.\n"
                  "# TYPE view_profile_index_seconds gauge\n"
                  "view_profile_index_seconds %lld.%09lld\n",
                  (long long)(c->scan_ns / 1000000000), (long long)(c->scan_ns % 1000000000));
    put_metric(b, "view_profile_sessions", "gauge", "Runs in the list.", (int64_t)c->sessions);
    put_metric(b, "view_profile_not_readable", "gauge", "Profile files that cannot be read.",
               (int64_t)c->not_readable);
    put_metric(b, "view_profile_parse_errors_total", "counter", "Failed analyses.",
               (int64_t)c->failures);
    put_metric(b, "view_profile_watched_directories", "gauge", "Directories watched for changes.",
               (int64_t)c->watched);
    put_metric(b, "view_profile_watched_all", "gauge", "1 if all directories are watched.",
               c->watched_all);
}

int route_metrics(http_req *rq)
{
    vp_buf b;
    store_counts c;
    store_count(site_of(rq)->store, &c);
    vp_buf_init(&b, METRICS_MAX);
    vp_buf_puts(&b, "# HELP view_profile_info Version of the server.\n"
                    "# TYPE view_profile_info gauge\n"
                    "view_profile_info{version=\"" VP_VERSION "\"} 1\n");
    http_put_metrics(rq, &b);
    put_index(&b, &c);
    put_metric(&b, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    put_metric(&b, "process_open_fds", "gauge", "Open file descriptors.", open_descriptors());
    return http_plain(rq, 200, &b, METRICS_TYPE);
}

/* ---- Rescan --------------------------------------------------------------------------------- */

static int remember_ids(vp_map *ids, const catalog *c)
{
    for (size_t i = 0; i < catalog_count(c); i++) {
        const char *id = catalog_get(c, i)->id;
        VP_TRY(vp_map_set(ids, vp_hash(id, strlen(id), 0), (uint32_t)i));
    }
    return 0;
}

/* Number of runs of `in` that are not in `of`, a map of ids. */
static int64_t count_missing_sessions(const vp_map *ids, const catalog *of, const catalog *in)
{
    int64_t n = 0;
    for (size_t i = 0; i < catalog_count(in); i++) {
        const char *id = catalog_get(in, i)->id;
        uint32_t at = vp_map_get(ids, vp_hash(id, strlen(id), 0));
        n += at == VP_MAP_NONE || strcmp(catalog_get(of, at)->id, id) != 0;
    }
    return n;
}

static int put_rescan_difference(vp_buf *b, const catalog *before, const catalog *after)
{
    VP_CLEANUP(vp_map_free) vp_map old, new;
    vp_json j;
    vp_map_init(&old);
    vp_map_init(&new);
    VP_TRY(remember_ids(&old, before));
    VP_TRY(remember_ids(&new, after));
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_ki64(&j, "sessions", (int64_t)catalog_count(after));
    vp_json_ki64(&j, "added", count_missing_sessions(&old, before, after));
    vp_json_ki64(&j, "removed", count_missing_sessions(&new, after, before));
    vp_json_ki64(&j, "not_readable", (int64_t)catalog_note_count(after));
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

int route_rescan(http_req *rq)
{
    store *st = site_of(rq)->store;
    VP_CLEANUP(site_drop_catalog) catalog *before = store_catalog(st);
    VP_CLEANUP(site_drop_catalog) catalog *after = NULL;
    vp_buf b;
    VP_TRY(store_rescan(st, -1));
    after = store_catalog(st);
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = put_rescan_difference(&b, before, after);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    return http_json(rq, 200, &b);
}
