#include "server/cli/input/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/input/profile_dir.h"
#include "server/cli/language/arguments.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/duration.h"
#include "server/cli/language/table.h"
#include "server/cli/terminal/standard_out.h"
#include "server/cli/terminal/term.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* Files of a known format that cannot be read: notes of the catalog, and files of its runs. */
typedef struct unreadable {
    size_t n;
    const char *path, *why; /* the first */
} unreadable;

static void add_unreadable(unreadable *u, bool say, const char *path, const char *why)
{
    if (!u->n++) {
        u->path = path;
        u->why = why;
    }
    if (say)
        vp_log(VP_LOG_WARN, "%s: %s", path, why);
}

static unreadable find_unreadable(const catalog *c, bool say)
{
    unreadable u = {0};
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        for (size_t k = 0; k < s->file_count; k++)
            if (s->files[k].why)
                add_unreadable(&u, say, s->files[k].path, s->files[k].why);
        if (s->why && !s->file_count)
            add_unreadable(&u, say, s->path, s->why);
    }
    for (size_t i = 0; i < catalog_note_count(c); i++)
        add_unreadable(&u, say, catalog_note(c, i)->path, catalog_note(c, i)->why);
    return u;
}

/* One line, or with --verbose one per file. */
static void say_unreadable(const catalog *c, const cli_options *o)
{
    unreadable u = find_unreadable(c, o->verbose);
    if (u.n && !o->verbose)
        vp_log(VP_LOG_WARN, "%zu unreadable file%s skipped; --verbose lists them with reasons", u.n,
               u.n == 1 ? "" : "s");
}

static const char *command_name_at(void *ctx, size_t i)
{
    (void)ctx;
    return cli_commands[i].name;
}

int cli_maybe_command(const cli_options *o, int rc)
{
    const char *path = o->path, *near = NULL;
    if (rc == VP_ENOTFOUND && !o->named && path && !strpbrk(path, "./"))
        near = cli_nearest(vp_str_of(path), command_name_at, NULL);
    if (!near)
        return rc;
    vp_fail(rc, "no such command, file or directory; did you mean %s?", near);
    return vp_fail_at(rc, path, -1, -1);
}

int cli_mirror(mirror **out, const char *path, const cli_options *o)
{
    *out = NULL;
    return mirror_is_url(path) ? mirror_open_url(out, path, o->no_sign_request) : 0;
}

int cli_open(catalog **out, const cli_options *o)
{
    VP_CLEANUP(vp_free_ptr) char *found = o->path ? vp_strdup(o->path) : cli_default_dir();
    cat_options opts = CAT_OPTIONS_INIT;
    cli_progress progress;
    catalog *c = NULL;
    VP_NEED(found);
    VP_TRY(cli_mirror(&opts.mirror, found, o));
    cli_progress_begin(&progress, o, "scanning");
    opts.jobs = (int)o->jobs;
    opts.last = true;
    opts.keep_ranks_apart = o->merge_ranks == CLI_MERGE_RANKS_NO;
    opts.paths = (const char *const *)o->paths;
    opts.path_count = o->path_count;
    opts.progress = cli_progress_entries;
    opts.progress_ctx = &progress;
    int rc = catalog_open(&c, found, &opts);
    cli_progress_end(&progress);
    mirror_free(opts.mirror);
    if (rc < 0)
        return cli_maybe_command(o, rc);
    if (cli_readable(c) >= 0 || o->verbose) /* otherwise the error says it */
        say_unreadable(c, o);
    *out = c;
    return 0;
}

/* catalog_latest only reports that nothing was found. This adds files that were found but cannot be
 * read. */
int cli_readable(const catalog *c)
{
    if (catalog_latest(c))
        return 0;
    int rc = vp_error_last()->code;
    unreadable u = find_unreadable(c, false);
    if (rc != VP_ENOTFOUND || !u.n)
        return rc;
    if (u.n == 1)
        vp_fail(VP_EUNSUPPORTED, "%s", u.why);
    else
        vp_fail(VP_EUNSUPPORTED, "%s (and %zu more unreadable files; --verbose lists them)", u.why,
                u.n - 1);
    return vp_fail_at(VP_EUNSUPPORTED, u.path, -1, -1);
}

int cli_no_timeline(const catalog *c)
{
    int rc = cli_readable(c);
    if (rc >= 0) {
        vp_fail(rc = VP_ENOTFOUND, "no timeline found, only other profile files");
        vp_fail_at(rc, catalog_path(c), -1, -1);
    }
    return cli_fail(rc);
}

/* True if a file of the run is the path, or inside of it. */
static bool run_has_path(const catalog *c, const cat_session *s, const char *path)
{
    char real[VP_PATH_MAX], file[2 * VP_PATH_MAX];
    if (!realpath(path, real))
        return true; /* deleted meanwhile */
    size_t n = strlen(real);
    for (size_t i = 0; i < s->file_count; i++) {
        snprintf(file, sizeof file, "%s/%s", strcmp(catalog_path(c), "/") ? catalog_path(c) : "",
                 s->files[i].path);
        if (!strncmp(file, real, n) && (!file[n] || file[n] == '/' || file[n] == '!'))
            return true;
    }
    return false;
}

/* Fails if one of several paths contains nothing of the run: then the paths are not one job. */
static int check_given_paths(const catalog *c, const cat_session *s, const cli_options *o)
{
    char why[160];
    for (size_t i = 0; i < o->path_count; i++) {
        if (run_has_path(c, s, o->paths[i]))
            continue;
        const cat_session *other = NULL;
        for (size_t k = 0; !other && k < catalog_count(c); k++)
            if (run_has_path(c, catalog_get(c, k), o->paths[i]))
                other = catalog_get(c, k);
        if (!other)
            vp_fail(VP_ENOTFOUND, "no profile found");
        else
            vp_fail(VP_EARG,
                    "not of the same job as %.200s: %s; give a RUN, or merge reports with "
                    "merge --force",
                    s->name, catalog_why_apart(s, other, why, sizeof why));
        return vp_fail_at(other ? VP_EARG : VP_ENOTFOUND, o->paths[i], -1, -1);
    }
    return 0;
}

const cat_session *cli_session(const catalog *c, const cli_options *o)
{
    if (cli_readable(c) < 0)
        return NULL;
    if (o->session)
        return catalog_find(c, vp_str_of(o->session));
    const cat_session *s = catalog_latest(c);
    return s && catalog_check_latest(c, s) >= 0 && check_given_paths(c, s, o) >= 0 ? s : NULL;
}

static int check_host_name(const cat_session *s, const char *host)
{
    vp_buf names;
    if (catalog_host(s, vp_str_of(host)))
        return 0;
    vp_buf_init(&names, 4096);
    for (size_t i = 0; i < s->host_count && names.n < 200; i++)
        vp_buf_printf(&names, "%s%s", i ? ", " : "", s->hosts[i].name);
    vp_fail(VP_ENOTFOUND, "no host %s in this run; its hosts: %s", host, vp_buf_cstr(&names));
    vp_buf_free(&names);
    return vp_fail_at(VP_ENOTFOUND, s->name, -1, -1);
}

static int check_device(const vp_report *r, const char *device)
{
    vp_buf names;
    for (size_t i = 0; i < r->device_count; i++)
        if (vp_str_ends(vp_str_of(r->devices[i].name), vp_str_of(device)))
            return 0;
    vp_buf_init(&names, 4096);
    for (size_t i = 0; i < r->device_count && names.n < 200; i++)
        vp_buf_printf(&names, "%s%s", i ? ", " : "", r->devices[i].name);
    vp_fail(VP_ENOTFOUND, "no device %s in this run; its devices: %s", device,
            r->device_count ? vp_buf_cstr(&names) : "none");
    vp_buf_free(&names);
    return vp_fail_at(VP_ENOTFOUND, r->session_name, -1, -1);
}

/* Rates are stored as integer thousandths. */
#define RATE_LEAST 1e-3
#define RATE_MOST 1e14
#define COUNT_MOST 1e30

/* Parses a number of the command line; NULL leaves 0. */
static int parse_number_option(double *out, const char *flag, const char *text, double least,
                               double most)
{
    char *end;
    if (!text)
        return 0;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= least && v <= most))
        return vp_fail(VP_EARG, "--%s %s: must be a number from %g to %g, such as %s", flag, text,
                       least, most, least < 1 ? "989.4" : "7e9");
    *out = v;
    return 0;
}

int cli_peaks(vp_report_options *opts, const cli_options *o)
{
    opts->chip = o->chip;
    if (o->chip && !analyze_knows_chip(o->chip))
        return vp_fail(
            VP_EARG,
            "--chip %s: unknown chip; give its peak rates with --peak-tflops and --peak-gbs",
            o->chip);
    VP_TRY(parse_number_option(&opts->peak_tflops, "peak-tflops", o->peak_tflops, RATE_LEAST,
                               RATE_MOST));
    VP_TRY(parse_number_option(&opts->peak_gb_s, "peak-gbs", o->peak_gbs, RATE_LEAST, RATE_MOST));
    VP_TRY(parse_number_option(&opts->params, "params", o->params, 1, COUNT_MOST));
    return parse_number_option(&opts->tokens, "tokens", o->tokens, 1, COUNT_MOST);
}

static int take_window(vp_report_options *opts, const cli_options *o)
{
    if (!(o->command->bit & CLI_TOP) || !o->window)
        return 0;
    opts->one_window = true;
    VP_TRY(cli_take_window(o->window, &opts->from_ps, &opts->until_ps));
    opts->from_ps *= 1000; /* at most VP_TIME_MAX_PS */
    opts->until_ps *= 1000;
    return 0;
}

int cli_analyze(vp_report **out, const catalog *c, const cli_options *o)
{
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    const cat_session *s = cli_session(c, o);
    cli_progress progress;
    vp_report *r = NULL;
    if (!s)
        return vp_error_last()->code;
    if (o->host)
        VP_TRY(check_host_name(s, o->host));
    VP_TRY(cli_peaks(&opts, o));
    opts.group = o->outermost ? VP_GROUP_OUTERMOST : (vp_group)o->group;
    opts.depth = o->command->bit & (CLI_TOP | CLI_EXPORT) ? VP_DEPTH_OPS : VP_DEPTH_FULL;
    opts.jobs = (int)o->jobs;
    opts.host = o->host;
    opts.one_step = o->step >= 0;
    opts.step = o->step;
    opts.step_series = o->step_series[0] ? o->step_series : NULL;
    opts.steps_by = o->steps_by;
    VP_TRY(take_window(&opts, o));
    opts.where = (vp_where)o->where;
    opts.uncounted =
        (o->command->bit & CLI_TOP) && (o->format == VP_FORMAT_TEXT || o->format == VP_FORMAT_CSV);
    cli_progress_begin(&progress, o, "reading");
    opts.progress = cli_progress_bytes;
    opts.progress_ctx = &progress;
    int rc = analyze_session(&r, c, s, &opts);
    cli_progress_end(&progress);
    if (rc < 0)
        return rc;
    if (o->device && (rc = check_device(r, o->device)) < 0) {
        analyze_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

/* The base of links to relative source paths. */
static const char *source_root(const cli_options *o)
{
    static char root[VP_PATH_MAX]; /* one command line per process */
    if (!o->source_root)
        return "";
    if (realpath(o->source_root, root))
        return root;
    vp_log(VP_LOG_WARN, "--source-root %s: %s", o->source_root, strerror(errno));
    return "";
}

void cli_view(vp_view *v, const cli_options *o, size_t default_top)
{
    *v = (vp_view)VP_VIEW_INIT;
    v->top = o->top > 0 ? (size_t)o->top : default_top;
    v->sort = (vp_sort)o->by;
    v->device = o->device;
    v->host = o->host;
    v->unit = (vp_unit)o->unit;
    v->color = cli_color(o);
    v->source_links = cli_links(o) ? source_root(o) : NULL;
    v->width = cli_width();
}

int cli_put_path(vp_buf *b, const catalog *c, const cat_file *f)
{
    vp_str root = vp_str_of(catalog_path(c)), path = vp_str_of(f->path);
    VP_TRY(vp_put_escaped(b, root));
    if (catalog_is_file(c)) /* a single file: append only the name inside of it */
        return vp_put_escaped(b, vp_str_skip(path, vp_str_find(path, VP_STR("!"))));
    if (!vp_str_ends(root, VP_STR("/")))
        VP_TRY(vp_buf_putc(b, '/'));
    return vp_put_escaped(b, path);
}

void cli_catalog_free(catalog **c)
{
    catalog_free(*c);
}
