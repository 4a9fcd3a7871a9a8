/* `list`: runs and recording programs; and --list-only of the original viewer. */
#include "server/cli/reports/cmd_list.h"

#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "server/local/live.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/model/unpack/extract.h"
#include "trace/report/report.h"

/* ---- Programs that run now and can be told to record ------------------------------------------
 */

typedef struct live {
    live_process *list;
    size_t n;
} live;

static void put_live_json(vp_json *j, void *ctx)
{
    const live *l = ctx;
    vp_json_key(j, "live");
    vp_json_begin_array(j);
    for (size_t i = 0; i < l->n; i++) {
        vp_json_begin_object(j);
        live_put_json(j, &l->list[i]);
        vp_json_kcstr(j, "last_run", l->list[i].last_run[0] ? l->list[i].last_run : NULL);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void put_live_text(vp_buf *b, const live *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const live_process *p = &l->list[i];
        vp_buf_printf(b, "%slive: process %ld, ", i ? "" : "\n", (long)p->pid);
        vp_put_escaped(b, vp_str_of(p->program));
        vp_buf_printf(b, ", %s, %lld step%s, %lld capture%s\n", live_state_name(p->state),
                      (long long)p->steps, p->steps == 1 ? "" : "s", (long long)p->captures,
                      p->captures == 1 ? "" : "s");
    }
}

/* ---- The list ------------------------------------------------------------------------------- */

static int put_run_and_live_list(vp_buf *b, const catalog *c, live *l, const cli_options *o)
{
    vp_view view;
    cli_view(&view, o, 0);
    if (o->format == VP_FORMAT_JSON)
        return rep_list_json_with(b, c, put_live_json, l);
    if (catalog_count(c))
        VP_TRY(rep_list_text(b, c, &view));
    put_live_text(b, l);
    return b->status;
}

static void free_live(live *l)
{
    vp_free(l->list);
}

int cli_run_list(const cli_options *o)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    VP_CLEANUP(free_live) live l = {.n = 0};
    cli_file f;
    int rc = cli_open(&c, o);
    if (rc >= 0)
        rc = live_list(&l.list, &l.n);
    if (rc >= 0 && !catalog_count(c) && !l.n)
        rc = cli_readable(c);
    if (rc >= 0)
        rc = cli_file_open(&f, o->out);
    if (rc < 0)
        return cli_fail(rc);
    rc = cli_file_close(&f, put_run_and_live_list(&f.buf, c, &l, o));
    if (rc >= 0)
        rc = cli_readable(c);
    return rc < 0 ? cli_fail(rc) : CLI_OK;
}

/* Every readable timeline, by run, newest first. */
static int put_timelines(vp_buf *b, const catalog *c, size_t *count)
{
    size_t n = 0;
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        for (size_t k = 0; k < s->file_count; k++) {
            const cat_file *f = &s->files[k];
            if (!extract_is_timeline(f))
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
