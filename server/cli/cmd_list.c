#include "server/cli/cli.h"

#include "trace/base/err.h"
#include "trace/model/catalog.h"
#include "trace/report/report.h"

int cli_run_list(const cli_options *o)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    vp_view view;
    cli_file f;
    int rc = cli_open(&c, o);
    if (rc >= 0 && !catalog_count(c))
        rc = cli_readable(c);
    if (rc >= 0)
        rc = cli_file_open(&f, o->out);
    if (rc < 0)
        return cli_fail(rc);
    cli_view(&view, o, 0);
    rc = o->format == VP_FORMAT_JSON ? rep_list_json(&f.buf, c) : rep_list_text(&f.buf, c, &view);
    rc = cli_file_close(&f, rc);
    if (rc >= 0)
        rc = cli_readable(c);
    return rc < 0 ? cli_fail(rc) : CLI_OK;
}

/* Every timeline that can be read, session by session, newest first. */
static int put_timelines(vp_buf *b, const catalog *c, size_t *count)
{
    size_t n = 0;
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        for (size_t k = 0; k < s->file_count; k++) {
            const cat_file *f = &s->files[k];
            if (!cli_is_timeline(f))
                continue;
            n++;
            if (!b)
                continue;
            vp_buf_printf(b, "%zu. ", n);
            cli_put_path(b, c, f);
            if (f->bytes < 0)
                vp_buf_puts(b, " (? KB)\n");
            else
                vp_buf_printf(b, " (%.1f KB)\n", (double)f->bytes / 1024.0);
        }
    }
    *count = n;
    return b ? b->status : 0;
}

int cli_list_only(const catalog *c)
{
    vp_buf b;
    size_t n;
    cli_stdout(&b);
    (void)put_timelines(NULL, c, &n);
    vp_buf_puts(&b, "Using profile directory: ");
    vp_put_escaped(&b, vp_str_of(catalog_path(c)));
    vp_buf_printf(&b, "\nFound %zu trace file(s):\n", n);
    (void)put_timelines(&b, c, &n);
    int code = cli_finish(&b);
    if (code)
        return code;
    return n ? CLI_OK : cli_no_timeline(c);
}
