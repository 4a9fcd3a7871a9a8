/* `export`: writes timelines, and selects the writer for each format. */
#include <string.h>
#include <unistd.h>

#include "server/cli/export/export_copy.h"
#include "server/cli/export/export_hosts.h"
#include "server/cli/export/export_stacks.h"
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/duration.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "server/cli/terminal/term.h"
#include "server/routes/traces/added_tracks.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/export/exporters.h"

/* Fails with the list of hosts to choose from. */
static int choose_host(const cat_session *s)
{
    VP_CLEANUP(vp_buf_free) vp_buf names;
    vp_buf_init(&names, 4096);
    for (size_t i = 0; i < s->host_count && names.n < 200; i++) {
        vp_buf_puts(&names, i ? ", " : "");
        vp_put_escaped(&names, vp_str_of(s->hosts[i].name));
    }
    return vp_fail(VP_EARG,
                   "%s has %zu hosts with one timeline each; choose one with --host (%s%s)",
                   s->name, s->host_count, vp_buf_cstr(&names), names.n < 200 ? "" : ", …");
}

static int find_host_option(const cat_host **out, const cat_session *s, const cli_options *o)
{
    *out = s->host_count ? &s->hosts[0] : NULL;
    if (!s->host_count)
        return vp_fail(VP_EEMPTY, "%s has no timeline", s->name);
    if (!o->host)
        return s->host_count == 1 ? 0 : choose_host(s);
    *out = catalog_host(s, vp_str_of(o->host));
    return *out ? 0 : vp_fail(VP_EEMPTY, "%s has no host \"%s\"", s->name, o->host);
}

/* ---- What is exported ----------------------------------------------------------------------- */

static int take_pick_options(ex_pick *p, const cli_options *o)
{
    p->most = o->max_events > 0 ? (uint64_t)o->max_events : 0;
    p->window = o->window != NULL;
    return p->window ? cli_take_window(o->window, &p->from_ns, &p->until_ns) : 0;
}

/* *file: the file that is read. */
static int open_timeline(rd_stream **out, const cat_file **file, ex_pick *pick, added_tracks *more,
                         catalog *c, const cat_session *s, const cli_options *o)
{
    ex_form form = o->to == CLI_TO_JSON ? EX_JSON : EX_PFTRACE;
    const cat_host *h;
    VP_TRY(find_host_option(&h, s, o));
    added_tracks_init(more, pick, NULL, c, s, h);
    int rc = ex_open_host(out, file, form, c, s, h, pick);
    return rc < 0 ? vp_fail_at(rc, *file ? (*file)->name : h->name, -1, -1) : rc;
}

/* ---- The stream as a source of bytes -------------------------------------------------------- */

typedef struct pump {
    rd_stream *s;
    const catalog *c;
    const cat_file *f; /* NULL: the stream checks its files itself */
    cli_progress line;
} pump;

static int pump_next(void *ctx, char **p, size_t *n)
{
    pump *u = ctx;
    int rc = u->s->next(u->s, p, n);
    if (rc > 0)
        VP_TRY(cli_progress_bytes(&u->line, u->s->raw_done, u->s->raw_total));
    if (u->f) /* otherwise parts of two versions of the file would be mixed */
        VP_TRY(catalog_check(u->c, u->f));
    return rc < 0 && u->f ? vp_fail_at(rc, u->f->name, -1, -1) : rc;
}

static void pump_close(void *ctx)
{
    (void)ctx; /* the function that opened the stream closes it */
}

/* hosts: all hosts for a merged export, else empty. */
static int write_timeline(pump u, const ex_hosts *hosts, const cli_options *o)
{
    cli_file f;
    VP_TRY(cli_file_open(&f, o->out));
    cli_progress_begin(&u.line, o, "Exporting");
    int rc = cli_export_copy(
        &f.buf, (http_source){.next = pump_next, .close = pump_close, .ctx = &u}, o->out);
    cli_progress_end(&u.line);
    if (rc >= 0)
        rc = cli_all_hosts_end(hosts);
    VP_TRY(cli_file_close(&f, rc));
    if (u.s->damage.code)
        vp_log(VP_LOG_WARN, "%s is damaged; the readable part was exported: %s", u.f->name,
               u.s->damage.message);
    return 0;
}

static int export_timeline(const cli_options *o)
{
    ex_pick picked = {0}, *pick = &picked;
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    VP_CLEANUP(ex_hosts_free) ex_hosts hosts = {0};
    VP_CLEANUP(added_tracks_free) added_tracks more = {0};
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    if (o->to != CLI_TO_JSON && !o->out && isatty(STDOUT_FILENO))
        return vp_fail(VP_EARG,
                       "%s is binary and is not written to a terminal; use -o FILE or a pipe",
                       o->to == CLI_TO_BUNDLE ? "bundle" : ".pftrace");
    VP_TRY(take_pick_options(pick, o));
    VP_TRY(cli_open(&c, o));
    const cat_session *session = cli_session(c, o);
    if (!session)
        return vp_error_last()->code;
    const cat_file *f = NULL;
    if (cli_all_hosts(session, o))
        VP_TRY(cli_all_hosts_open(&s, &hosts, &more, c, session, o));
    else
        VP_TRY(open_timeline(&s, &f, pick, &more, c, session, o));
    VP_TRY(write_timeline((pump){.s = s, .c = c, .f = f}, &hosts, o));
    if (f)
        cli_export_missing(f->name, pick->missing_events, pick->missing_flows);
    if (pick->left_out)
        vp_log(VP_LOG_INFO, "%llu events omitted", (unsigned long long)pick->left_out);
    return 0;
}

/* ---- Forms ---------------------------------------------------------------------------------- */

static int check_timeline(const cli_options *o)
{
    const char *odd = o->step >= 0                ? "--step"
                      : o->device                 ? "--device"
                      : o->where == VP_WHERE_HOST ? "--where"
                                                  : NULL;
    return odd ? vp_fail(VP_EARG,
                         "%s is only for --to folded and speedscope; to export a part of a "
                         "timeline, use --window START..END",
                         odd)
               : 0;
}

static int check_bundle(const cli_options *o)
{
    const char *odd = o->host             ? "--host"
                      : o->window         ? "--window"
                      : o->max_events > 0 ? "--max-events"
                                          : NULL;
    return odd ? vp_fail(VP_EARG,
                         "a bundle always contains all hosts of a run completely; remove %s or "
                         "choose another --to",
                         odd)
               : check_timeline(o);
}

static int check_sums(const cli_options *o)
{
    const char *odd = o->window ? "--window" : o->max_events ? "--max-events" : NULL;
    return odd ? vp_fail(VP_EARG,
                         "%s is only for --to pftrace and perfetto-json; op time covers the whole "
                         "run, or one step with --step N",
                         odd)
               : 0;
}

/* Per format of --to: its writer, and the check of its options. */
static const struct form {
    int (*write)(const cli_options *o);
    int (*check)(const cli_options *o);
} forms[] = {
    [CLI_TO_PFTRACE] = {export_timeline, check_timeline},
    [CLI_TO_JSON] = {export_timeline, check_timeline},
    [CLI_TO_BUNDLE] = {export_timeline, check_bundle},
    [CLI_TO_FOLDED] = {cli_export_stacks, check_sums},
    [CLI_TO_SPEEDSCOPE] = {cli_export_stacks, check_sums},
};

int cli_run_export(const cli_options *o)
{
    const struct form *f = &forms[o->to];
    int rc = f->check(o);
    if (rc >= 0)
        rc = f->write(o);
    return rc < 0 ? cli_fail(rc) : CLI_OK;
}
