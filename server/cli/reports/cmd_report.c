/* `top` and `report`, and the parts that `findings` shares with them. */
#include "server/cli/reports/cmd_report.h"

#include "server/cli/gates/findings_gate.h"
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/report/report.h"

#define DEFAULT_ROWS 20

typedef int text_writer(vp_buf *b, const vp_report *r, const vp_view *v);

static int write_report_as(vp_buf *b, const vp_report *r, const vp_view *v, int64_t format,
                           text_writer *text)
{
    switch (format) {
    case VP_FORMAT_JSON:
        return rep_json(b, r, v);
    case VP_FORMAT_CSV:
        return rep_csv(b, r, v);
    case VP_FORMAT_HTML:
        return rep_html(b, r, v, NULL);
    default:
        return text(b, r, v);
    }
}

int cli_write_report(vp_buf *b, const vp_report *r, const vp_view *v, int64_t format)
{
    return write_report_as(b, r, v, format, rep_text_full);
}

static int write_top(vp_buf *b, const vp_report *r, const vp_view *v, int64_t format)
{
    return write_report_as(b, r, v, format, rep_text);
}

int cli_show_run(const cli_options *o, size_t rows, cli_writer *write)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    vp_report *r = NULL;
    vp_view view;
    cli_file f;
    int rc = cli_open(&c, o);
    if (rc >= 0)
        rc = cli_analyze(&r, c, o);
    if (rc >= 0)
        rc = cli_file_open(&f, o->out);
    if (rc >= 0) {
        cli_view(&view, o, rows);
        rc = cli_file_close(&f, write(&f.buf, r, &view, o->format));
    }
    int code = rc < 0 ? cli_fail(rc) : cli_fail_on(r, o->fail_on);
    analyze_free(r);
    return code;
}

int cli_run_top(const cli_options *o)
{
    return cli_show_run(o, DEFAULT_ROWS, write_top);
}

size_t cli_default_rows(const cli_options *o)
{
    return o->format == VP_FORMAT_TEXT || o->format == VP_FORMAT_HTML ? DEFAULT_ROWS : 0;
}

int cli_run_report(const cli_options *o)
{
    return cli_show_run(o, cli_default_rows(o), cli_write_report);
}
