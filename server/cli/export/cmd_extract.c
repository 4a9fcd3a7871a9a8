/* `extract`: unpacks trace files from archives and .gz files into a directory. */
#include "server/cli/export/cmd_extract.h"

#include <stdio.h>

#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "server/cli/terminal/term.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/model/unpack/extract.h"

static int on_extract_progress(void *ctx, const extract_counts *c)
{
    return cli_progress_bytes(ctx, c->done, c->total);
}

static void log_left_out_file(void *ctx, const cat_file *f)
{
    char line[1000];
    (void)f;
    cli_progress_clear(ctx);
    vp_log(VP_LOG_ERROR, "%s; skipped", vp_error_line(vp_error_last(), line, sizeof line));
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

static int say_end(const extract_counts *n)
{
    vp_buf b;
    if (n->kept)
        vp_log(VP_LOG_INFO, "%zu file%s already complete", n->kept,
               n->kept == 1 ? " was" : "s were");
    cli_stdout(&b);
    vp_buf_printf(&b, "Extracted %zu trace files\n", n->made);
    return cli_finish(&b);
}

static void close_unpack(unpack **u)
{
    unpack_close(*u);
}

int cli_extract_all(const catalog *c, const cli_options *o, const char *dir, char *out)
{
    VP_CLEANUP(close_unpack) unpack *to = NULL;
    cli_progress line;
    extract_counts n;
    extract_options how = {
        .progress = on_extract_progress, .left_out = log_left_out_file, .ctx = &line};
    extract_count(&n, c, &how);
    if (!n.found)
        return cli_no_timeline(c);
    int rc = dir ? snprintf(out, VP_PATH_MAX, "%s", dir) : vp_fs_temp_dir("view_profile", out);
    if (rc >= (int)VP_PATH_MAX)
        rc = vp_fail(VP_EARG, "--out: the path is too long");
    if (rc >= 0)
        rc = unpack_open(&to, out, catalog_path(c));
    if (rc < 0)
        return cli_fail(rc);
    int code = say_start(out);
    cli_progress_begin(&line, o, "extracting");
    if (!code && (rc = extract_run(&n, to, c, &how)) < 0)
        code = cli_fail(rc);
    cli_progress_end(&line);
    if (!code)
        code = say_end(&n);
    return code ? code : n.left_out ? CLI_UNREADABLE : CLI_OK;
}

int cli_run_extract(const cli_options *o)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    char dir[VP_PATH_MAX];
    int rc = cli_open(&c, o);
    return rc < 0 ? cli_fail(rc) : cli_extract_all(c, o, o->out, dir);
}
