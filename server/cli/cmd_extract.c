#include "server/cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "server/cli/unpack.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"

/* Progress over all files in bytes as they lie packed: how far the present one is scales its
 * size, because what it unpacks to is not known before its end. */
typedef struct extraction {
    const catalog *c;
    unpack to;
    cli_progress line;
    int64_t total, before, present; /* packed bytes */
    size_t found, made, damaged;
} extraction;

static int on_progress(void *ctx, int64_t done, int64_t total)
{
    extraction *x = ctx;
    double part = total > 0 ? (double)done / (double)total : 0;
    int64_t now = x->before + (int64_t)((double)x->present * part);
    return cli_progress_bytes(&x->line, now, x->total);
}

static vp_str without_suffix(vp_str s)
{
    static const char *const suffixes[] = {".tar.gz", ".tar.zst", ".tgz", ".tar", ".zip"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        vp_str suffix = vp_str_of(suffixes[i]);
        if (vp_str_ends(s, suffix) && s.n > suffix.n)
            return vp_str_head(s, s.n - suffix.n);
    }
    return s;
}

/* Where a file goes: its path in the profile directory; below the archive's name for members,
 * unless the archive is all there is; without ".gz" when that is removed. */
static void put_target(vp_buf *b, const catalog *c, const cat_file *f)
{
    struct stat st;
    bool root_is_dir = stat(catalog_path(c), &st) == 0 && S_ISDIR(st.st_mode);
    vp_str path = vp_str_of(f->path), archive = VP_STR_NONE, gz = VP_STR(".gz");
    if (f->is_member) {
        archive = vp_str_head(path, strlen(f->location));
        path = vp_str_skip(path, archive.n + 1);
    }
    if (archive.n && root_is_dir) {
        vp_buf_str(b, without_suffix(archive));
        vp_buf_putc(b, '/');
    }
    if (f->kind.gzip && vp_str_ends(path, gz) && path.n > gz.n)
        path.n -= gz.n;
    if (!f->is_member && !strcmp(catalog_path(c), "-"))
        path = f->kind.format == RD_XSPACE ? VP_STR("stdin.xplane.pb") : VP_STR("stdin.trace.json");
    vp_buf_str(b, path);
}

static int extract_file(extraction *x, const cat_file *f)
{
    rd_stream *in = NULL;
    vp_buf target;
    vp_buf_init(&target, VP_PATH_MAX * 2);
    put_target(&target, x->c, f);
    int rc = target.status;
    if (rc >= 0)
        rc = catalog_stream(&in, x->c, f, false);
    if (rc >= 0)
        rc = unpack_file(&x->to, vp_buf_cstr(&target), in, f->mtime_ns);
    rd_stream_close(&in);
    vp_buf_free(&target);
    return rc < 0 ? vp_fail_at(rc, f->path, -1, -1) : 0;
}

static void say_left_out(extraction *x)
{
    char line[1000];
    x->damaged++;
    cli_progress_clear(&x->line);
    vp_log(VP_LOG_ERROR, "%s; left out", vp_error_line(vp_error_last(), line, sizeof line));
}

/* The first pass counts, the second works. Stops early only when the target takes no more. */
static int each_timeline(extraction *x, bool work)
{
    for (size_t i = 0; i < catalog_count(x->c); i++) {
        const cat_session *s = catalog_get(x->c, i);
        for (size_t k = 0; k < s->file_count; k++) {
            const cat_file *f = &s->files[k];
            if (!cli_is_timeline(f))
                continue;
            x->present = f->bytes > 0 ? f->bytes : 0;
            if (!work) {
                x->found++;
                x->total += x->present;
                continue;
            }
            int rc = extract_file(x, f);
            x->before += x->present;
            x->made += rc >= 0;
            if (rc < 0 && x->to.full)
                return rc;
            if (rc < 0)
                say_left_out(x);
        }
    }
    return 0;
}

static int say_start(const char *dir)
{
    vp_buf b;
    cli_stdout(&b);
    vp_buf_puts(&b, "Extracting trace files to: ");
    vp_put_escaped(&b, vp_str_of(dir));
    vp_buf_putc(&b, '\n');
    return cli_finish(&b);
}

static int say_end(size_t n)
{
    vp_buf b;
    cli_stdout(&b);
    vp_buf_printf(&b, "Extracted %zu trace files\n", n);
    return cli_finish(&b);
}

int cli_extract_all(const catalog *c, const cli_options *o, const char *dir, char *out)
{
    extraction x = {.c = c, .to = {.root_fd = -1, .progress = on_progress}};
    (void)each_timeline(&x, false);
    if (!x.found)
        return cli_no_timeline(c);
    int rc = dir ? snprintf(out, VP_PATH_MAX, "%s", dir) : vp_fs_temp_dir("view_profile", out);
    if (rc >= (int)VP_PATH_MAX)
        rc = vp_fail(VP_EARG, "the path of --out is too long");
    if (rc >= 0)
        rc = unpack_open(&x.to, out, catalog_path(c));
    if (rc < 0)
        return cli_fail(rc);
    int code = say_start(out);
    x.to.progress_ctx = &x;
    cli_progress_begin(&x.line, o, "extracting");
    if (!code && (rc = each_timeline(&x, true)) < 0)
        code = cli_fail(rc);
    cli_progress_end(&x.line);
    unpack_close(&x.to);
    if (!code)
        code = say_end(x.made);
    return code ? code : x.damaged ? CLI_UNREADABLE : CLI_OK;
}

int cli_run_extract(const cli_options *o)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    char dir[VP_PATH_MAX];
    int rc = cli_open(&c, o);
    return rc < 0 ? cli_fail(rc) : cli_extract_all(c, o, o->out, dir);
}
