#include "server/routes/live/watched.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/routes/site/page.h"
#include "server/routes/site/site_query.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"

#define STATE_FILE ".view_profile-watch.json"
/* A thousand targets with 50 figures each have 8 MB; ROWS_MAX of them are shown. */
#define STATE_BYTES_MAX (16 << 20)
#define ROWS_MAX 100u
#define POINTS_MAX 50u
/* Dimensions of the sparkline, in its units. */
#define STEP 4
#define HEIGHT 20
#define MS_NS INT64_C(1000000)
#define YEAR_2200_MS INT64_C(7258118400000)

/* ---- The file -------------------------------------------------------------------------------- */

/* -1: no readable file. */
static int open_state(const site *at, struct stat *st)
{
    char path[VP_PATH_MAX];
    const char *dir = at->opts.watched ? at->opts.watched : at->opts.profile_dir;
    int n = dir ? snprintf(path, sizeof path, "%s/" STATE_FILE, dir) : 0;
    if (n <= 0 || n >= (int)sizeof path)
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode) || st->st_size > STATE_BYTES_MAX))
        vp_fs_close(&fd);
    return fd;
}

uint64_t watched_state(const site *at)
{
    struct stat st;
    VP_CLEANUP(vp_fs_close) int fd = open_state(at, &st);
    if (fd < 0)
        return 0;
    vp_file_id id = vp_fs_id(&st);
    return vp_fingerprint(&id, sizeof id, 1);
}

/* The caller releases it; NULL: no watch. */
static json_t *read_state(const site *at)
{
    struct stat st;
    size_t got = 0;
    VP_CLEANUP(vp_fs_close) int fd = open_state(at, &st);
    VP_CLEANUP(vp_free_ptr) char *text = fd >= 0 ? vp_malloc((size_t)st.st_size + 1) : NULL;
    if (!text || vp_fs_pread(fd, text, (size_t)st.st_size, 0, &got) < 0)
        return NULL;
    json_t *root = json_loadb(text, got, JSON_REJECT_DUPLICATES, NULL);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (schema && !strcmp(schema, "view_profile.watch/1"))
        return root;
    json_decref(root);
    return NULL;
}

static const char *watched_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* -1: unknown or out of range. */
static int64_t watched_count(const json_t *o, const char *key, int64_t max)
{
    const json_t *v = json_object_get(o, key);
    return json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= max
               ? json_integer_value(v)
               : -1;
}

/* ---- Figures --------------------------------------------------------------------------------- */

typedef struct points {
    int64_t ps[POINTS_MAX], low, high;
    bool bad[POINTS_MAX];
    size_t n;
} points;

static void take_points(points *p, const json_t *figures)
{
    size_t n = json_array_size(figures);
    p->n = 0;
    for (size_t i = n > POINTS_MAX ? n - POINTS_MAX : 0; i < n; i++) {
        const json_t *f = json_array_get(figures, i);
        int64_t ps = watched_count(f, "median_ps", VP_TIME_MAX_PS);
        if (ps < 0)
            continue;
        p->low = p->n && p->low < ps ? p->low : ps;
        p->high = p->n && p->high > ps ? p->high : ps;
        p->bad[p->n] = !strcmp(watched_text(f, "verdict"), "regression");
        p->ps[p->n++] = ps;
    }
}

static void put_watched_ms(vp_buf *b, int64_t ps)
{
    vp_buf_printf(b, "%" PRId64 ".%03d ms", ps / INT64_C(1000000000),
                  (int)(ps % INT64_C(1000000000) / 1000000));
}

/* Slower is higher; equal figures are a line in the middle. */
static int y_of(const points *p, int64_t ps)
{
    int64_t unit = (p->high - p->low) / (HEIGHT - 6) + 1;
    return p->high == p->low ? HEIGHT / 2 : HEIGHT - 3 - (int)((ps - p->low) / unit);
}

static void put_sparkline(vp_buf *b, const points *p)
{
    size_t last = p->n - 1;
    vp_buf_printf(b,
                  "<svg class=\"spark\" role=\"img\" width=\"%zu\" height=\"%d\" viewBox=\"0 0 "
                  "%zu %d\" aria-label=\"%zu captures, from ",
                  last * STEP + 8, HEIGHT, last * STEP + 8, HEIGHT, p->n);
    put_watched_ms(b, p->low);
    vp_buf_puts(b, " to ");
    put_watched_ms(b, p->high);
    vp_buf_puts(b, "\"><polyline points=\"");
    for (size_t i = 0; i < p->n; i++)
        vp_buf_printf(b, "%zu,%d ", i * STEP + 4, y_of(p, p->ps[i]));
    vp_buf_puts(b, "\"/>");
    for (size_t i = 0; i < p->n; i++)
        if (p->bad[i] || i == last)
            vp_buf_printf(b, "<circle %scx=\"%zu\" cy=\"%d\" r=\"2\"/>",
                          p->bad[i] ? "class=\"bad\" " : "", i * STEP + 4, y_of(p, p->ps[i]));
    vp_buf_puts(b, "</svg>");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void put_last(vp_buf *b, const catalog *c, const json_t *t)
{
    const json_t *figures = json_object_get(t, "figures");
    const json_t *f = json_array_get(figures, json_array_size(figures) - 1);
    const char *run = watched_text(f, "run");
    char path[VP_PATH_MAX];
    if (!run[0])
        return;
    snprintf(path, sizeof path, "/plugins/profile/%s", run);
    const cat_session *s = site_session_of(c, "", path);
    if (s) {
        vp_buf_puts(b, "<a href=\"./session/");
        page_url(b, s->id);
        vp_buf_puts(b, "/\">");
    }
    page_text(b, run);
    vp_buf_puts(b, s ? "</a>" : "");
}

static void put_state(vp_buf *b, const json_t *t)
{
    static const char *const known[] = {"new", "ok", "slower", "busy", "gone", "failed"};
    static const char *const badge[] = {"", "", "bad", "warn", "warn", "bad"};
    const char *state = watched_text(t, "state"), *error = watched_text(t, "error");
    size_t i = 0;
    while (i < 5 && strcmp(known[i], state) != 0)
        i++;
    vp_buf_printf(b, "<td><span class=\"badge %s\">%s</span> ", badge[i], known[i]);
    page_text(b, error);
    vp_buf_puts(b, error[0] ? "<br>" : "");
    page_text(b, watched_text(t, "words"));
    vp_buf_puts(b, "</td>");
}

static void put_watched_row(vp_buf *b, const catalog *c, const json_t *t)
{
    points p;
    const char *target = watched_text(t, "target"), *name = watched_text(t, "name");
    take_points(&p, json_object_get(t, "figures"));
    vp_buf_puts(b, "<tr><th scope=\"row\" title=\"");
    page_text(b, name);
    vp_buf_puts(b, "\">");
    page_text(b, target);
    vp_buf_puts(b, "</th><td class=\"num\">");
    if (p.n) {
        put_sparkline(b, &p);
        vp_buf_putc(b, ' ');
        put_watched_ms(b, p.ps[p.n - 1]);
    }
    vp_buf_puts(b, "</td><td class=\"run\">");
    put_last(b, c, t);
    vp_buf_puts(b, "</td>");
    put_state(b, t);
    vp_buf_puts(b, "</tr>\n");
}

static void put_since(vp_buf *b, const json_t *root)
{
    int64_t ms = watched_count(root, "updated_unix_ms", YEAR_2200_MS);
    int64_t every = watched_count(root, "every_ms", YEAR_2200_MS);
    bool ended = !json_is_integer(json_object_get(root, "pid"));
    /* The interval is randomized by 10%, and unreachable targets are tried less often. */
    bool silent = ms >= 0 && every > 0 && (time(NULL) * INT64_C(1000) - ms) / 3 > every;
    vp_buf_puts(b, "<p class=\"muted\">");
    if (ms >= 0) {
        vp_buf_puts(b, ended ? "Watch stopped at " : silent ? "No update since " : "As of ");
        page_time(b, ms * MS_NS);
        vp_buf_puts(b, ". ");
    }
    vp_buf_puts(b, "Median step of each capture, newest on the right.</p>\n");
}

void watched_put(vp_buf *b, const site *at, const catalog *c)
{
    json_t *root = read_state(at);
    const json_t *targets = json_object_get(root, "targets");
    size_t n = json_array_size(targets);
    if (n) {
        vp_buf_puts(b, "<section class=\"card\" data-key=\"watched\"><h2>Watched programs</h2>\n");
        put_since(b, root);
        vp_buf_puts(b, "<table class=\"watched\"><caption class=\"unseen\">Watched "
                       "programs</caption><thead><tr><th scope=\"col\">Target</th><th "
                       "scope=\"col\">Median step</th><th scope=\"col\">Last run</th><th "
                       "scope=\"col\">State</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < n && i < ROWS_MAX; i++)
            put_watched_row(b, c, json_array_get(targets, i));
        vp_buf_puts(b, "</tbody></table>\n");
        if (n > ROWS_MAX)
            vp_buf_printf(b, "<p class=\"muted\">And %zu more.</p>\n", n - ROWS_MAX);
        vp_buf_puts(b, "</section>\n");
    }
    json_decref(root);
}
