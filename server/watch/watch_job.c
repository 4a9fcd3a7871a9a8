#include "server/watch/watch_job.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

#define HOSTS_BYTES_MAX (1u << 20)
#define TARGET_MAX (32u << 10) /* a thousand hosts of one run */

const char *const watch_status_words[] = {"new", "ok", "slower", "busy", "gone", "failed", NULL};

int64_t watch_unix_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int watch_set(char **to, const char *text)
{
    char *copy = text && *text ? vp_strdup(text) : NULL;
    if (text && *text && !copy)
        return vp_no_memory();
    vp_free(*to);
    *to = copy;
    return 0;
}

static void figure_free(watch_figure *f)
{
    vp_free(f->run);
    vp_free(f->verdict);
}

static void kept_free(watch_kept *k)
{
    for (size_t i = 0; i < k->file_count; i++) {
        vp_free(k->files[i].name);
        vp_free(k->files[i].etag);
    }
    vp_free(k->files);
    vp_free(k->run);
}

static void job_free(watch_job *j)
{
    for (size_t i = 0; i < j->figure_count; i++)
        figure_free(&j->figures[i]);
    for (size_t i = 0; i < j->run_count; i++)
        kept_free(&j->runs[i]);
    vp_free(j->runs);
    vp_free(j->target);
    vp_free(j->name);
    vp_free(j->error);
    vp_free(j->words);
    vp_free(j->baseline);
    vp_free(j);
}

void watch_jobs_free(watch_jobs *l)
{
    for (size_t i = 0; i < l->n; i++)
        job_free(l->v[i]);
    vp_free(l->v);
    vp_free(l->list_error);
    *l = (watch_jobs){0};
}

void watch_jobs_drop(watch_jobs *l, size_t i)
{
    job_free(l->v[i]);
    memmove(&l->v[i], &l->v[i + 1], (--l->n - i) * sizeof *l->v);
}

int watch_job_add_figure(watch_job *j, const watch_figure *f)
{
    watch_figure made = *f;
    made.run = vp_strdup(f->run);
    made.verdict = vp_strdup(f->verdict);
    if (!made.run || !made.verdict) {
        figure_free(&made);
        return vp_no_memory();
    }
    if (j->figure_count == WATCH_FIGURES_MAX) {
        figure_free(&j->figures[0]);
        memmove(&j->figures[0], &j->figures[1], --j->figure_count * sizeof *j->figures);
    }
    j->figures[j->figure_count++] = made;
    return 0;
}

int watch_job_add_run(watch_job *j, const watch_kept *k)
{
    watch_kept made = *k;
    VP_TRY(vp_grow(&j->runs, &j->run_cap, j->run_count + 1, sizeof *j->runs, WATCH_RUNS_MAX));
    made.run = vp_strdup(k->run);
    VP_NEED(made.run);
    j->runs[j->run_count++] = made;
    return 0;
}

int watch_kept_add_file(watch_kept *k, const char *name, const char *etag)
{
    size_t cap = k->file_count;
    watch_file f = {.name = vp_strdup(name), .etag = vp_strdup(etag)};
    int rc = f.name && f.etag
                 ? vp_grow(&k->files, &cap, k->file_count + 1, sizeof f, WATCH_FILES_MAX)
                 : vp_no_memory();
    if (rc >= 0) {
        k->files[k->file_count++] = f;
        return 0;
    }
    vp_free(f.name);
    vp_free(f.etag);
    return rc;
}

void watch_job_drop_run(watch_job *j, size_t i)
{
    kept_free(&j->runs[i]);
    memmove(&j->runs[i], &j->runs[i + 1], (--j->run_count - i) * sizeof *j->runs);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void plain_name(char out[WATCH_NAME_MAX + 1], vp_str from)
{
    /* Long names usually differ at their ends, so the beginning is cut. */
    from = vp_str_skip(from, from.n > WATCH_NAME_MAX ? from.n - WATCH_NAME_MAX : 0);
    size_t n = from.n;
    for (size_t i = 0; i < n; i++) {
        char c = from.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || (c == '.' && i);
        out[i] = ok ? c : '_';
    }
    out[n] = 0;
}

bool watch_job_is_named(const watch_job *j)
{
    char name[WATCH_NAME_MAX + 1];
    plain_name(name, vp_str_of(j->target));
    return strcmp(j->name, name) != 0;
}

int watch_jobs_need(watch_jobs *l, watch_job **out, vp_str from)
{
    char name[WATCH_NAME_MAX + 1];
    plain_name(name, from);
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->v[i]->name, name)) {
            *out = l->v[i];
            return 0;
        }
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, WATCH_JOBS_MAX));
    watch_job *j = vp_calloc(1, sizeof *j);
    if (!j || !(j->name = vp_strdup(name))) {
        vp_free(j);
        return vp_no_memory();
    }
    j->since_ms = watch_unix_ms();
    j->last_step = j->last_end_unix_ns = -1;
    j->unlisted_ms = j->since_ms;
    l->v[l->n++] = *out = j;
    return 0;
}

/* HOST:PORT[,HOST:PORT…]. Only the form is checked; `capture` validates the host. */
static bool is_target_form(vp_str text)
{
    vp_str one;
    uint64_t port;
    if (!text.n || text.n > TARGET_MAX || text.p[0] == '-')
        return false;
    while (text.n) {
        (void)vp_take_until(&text, ',', text.n, &one);
        size_t colon = vp_str_rfind_char(one, ':');
        vp_str digits = vp_str_skip(one, colon + 1);
        if (!colon || colon == one.n || !vp_take_uint(&digits, 65535, &port) || digits.n || !port)
            return false;
        for (size_t i = 0; i < one.n; i++) {
            unsigned char c = (unsigned char)one.p[i];
            if (c <= ' ' || c >= 0x7f || c == '/' || c == '@')
                return false;
        }
    }
    return true;
}

/* [NAME=]TARGET. A job that occurred before in this pass keeps its first address. l NULL: only
 * validates the text. */
static int watch_jobs_add(watch_jobs *l, vp_str text)
{
    watch_job *j;
    vp_str whole = text, name;
    size_t equals = vp_str_find(text, VP_STR("="));
    name = vp_str_head(text, equals < text.n ? equals : text.n);
    if (equals < text.n)
        text = vp_str_skip(text, equals + 1);
    if (!name.n || !is_target_form(text))
        return vp_fail(VP_EARG, "\"%.*s\" is not HOST:PORT, such as 127.0.0.1:9012",
                       VP_STR_CUT(whole, 200u));
    if (!l)
        return 0;
    VP_TRY(watch_jobs_need(l, &j, name));
    if (!j->unlisted_ms)
        return 0;
    j->unlisted_ms = 0;
    VP_CLEANUP(vp_free_ptr) char *target = vp_strndup(text.p, text.n);
    VP_NEED(target);
    bool moved = j->target && strcmp(j->target, target) != 0;
    if (moved || !j->rounds)
        j->due_ms = 0; /* at once */
    return watch_set(&j->target, target);
}

static int watch_jobs_add_lines(watch_jobs *l, vp_str text)
{
    vp_str line;
    for (int64_t number = 1; text.n; number++) {
        (void)vp_take_until(&text, '\n', text.n, &line);
        line = vp_str_head(line, vp_str_find(line, VP_STR("#")));
        line = vp_str_trim(line);
        if (line.n && line.p[line.n - 1] == '\r')
            line = vp_str_trim(vp_str_head(line, line.n - 1));
        int rc = line.n ? watch_jobs_add(l, line) : 0;
        if (rc < 0) {
            vp_error why = *vp_error_last();
            return vp_fail(rc, "line %lld: %.250s", (long long)number, why.message);
        }
    }
    return 0;
}

static int read_hosts_file(vp_buf *b, const char *path)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir;
    vp_file_id id;
    size_t got = 0;
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, &id));
    if (is_dir || id.size > (int64_t)HOSTS_BYTES_MAX)
        return vp_fail(VP_EREFUSED, "not a list of targets (a text file of at most 1 MiB)");
    char *room = vp_buf_reserve(b, (size_t)id.size + 1);
    if (!room)
        return b->status;
    VP_TRY(vp_fs_pread(fd, room, (size_t)id.size, 0, &got));
    return vp_buf_wrote(b, got);
}

static int read_hosts(watch_jobs *l, const char *path)
{
    vp_buf b;
    vp_buf_init(&b, HOSTS_BYTES_MAX + 4096);
    int rc = read_hosts_file(&b, path);
    if (rc >= 0)
        rc =
            watch_jobs_add_lines(NULL, vp_buf_view(&b)); /* an invalid list is ignored completely */
    if (rc >= 0)
        rc = watch_jobs_add_lines(l, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc < 0 ? vp_fail_at(rc, path, -1, -1) : 0;
}

/* If the list cannot be read, its previous jobs are kept. */
static int keep_old(watch_jobs *l, int rc, int64_t now)
{
    char line[WATCH_ERROR_MAX];
    vp_error_line(vp_error_last(), line, sizeof line);
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i]->unlisted_ms == now)
            l->v[i]->unlisted_ms = 0;
    if (l->list_error && !strcmp(l->list_error, line))
        return 0;
    vp_log(VP_LOG_WARN, "%s; keeping the previous targets", line);
    return rc == VP_ENOMEM ? rc : watch_set(&l->list_error, line);
}

int watch_jobs_read(watch_jobs *l, const watch_options *o)
{
    int64_t now = watch_unix_ms();
    for (size_t i = 0; i < l->n; i++)
        if (!l->v[i]->unlisted_ms)
            l->v[i]->unlisted_ms = now;
    for (size_t i = 0; i < o->target_count; i++)
        VP_TRY(watch_jobs_add(l, vp_str_of(o->targets[i])));
    int rc = o->hosts_file ? read_hosts(l, o->hosts_file) : 0;
    if (rc < 0)
        return l->was_read ? keep_old(l, rc, now) : rc;
    l->was_read = true;
    return watch_set(&l->list_error, NULL);
}
