/* `trend`: many runs, or benchmark results, in one table. */
#include "server/cli/input/input.h"
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/report/bench/scaling.h"
#include "trace/report/trend/trend_view.h"
#include "trace/source/document.h"

/* In the order of the choices of --format. */
enum { AS_TEXT, AS_JSON, AS_HTML };

static int add_trend_operand(trend *t, const char *operand, const cli_options *o)
{
    vp_report *r = NULL;
    VP_CLEANUP(document_close) document d;
    VP_TRY(document_open(&d, operand, o->no_sign_request, VP_STR("\"view_profile.")));
    if (trend_is_history(d.path))
        return document_fail(&d, trend_add_history(t, d.path));
    VP_TRY(cli_input(&r, operand, o));
    int rc = trend_add(t, r);
    analyze_free(r);
    return rc < 0 ? vp_fail_at(rc, operand, -1, -1) : 0;
}

static int write_trend_as(vp_buf *b, const trend *t, const cli_options *o)
{
    vp_view view;
    cli_view(&view, o, 20);
    switch (o->format) {
    case AS_JSON:
        return rep_trend_json(b, t);
    case AS_HTML:
        return rep_trend_html(b, t, &view);
    default:
        return rep_trend_text(b, t, &view);
    }
}

/* ---- Results of benchmarks ---- */

static int add_scaling_results(scaling *s, const cli_options *o)
{
    for (size_t i = 0; i < o->operand_count; i++) {
        const char *operand = o->operands[i];
        if (!scaling_is_results(operand)) {
            vp_fail(VP_EARG,
                    "not a benchmark result; other runs cannot be mixed with benchmark results");
            return vp_fail_at(VP_EARG, operand, -1, -1);
        }
        VP_TRY(scaling_add(s, operand));
    }
    scaling_relate(s);
    return 0;
}

static int show_scaling(const cli_options *o)
{
    scaling s;
    cli_file f;
    vp_view view;
    scaling_init(&s);
    cli_view(&view, o, 20);
    int rc = add_scaling_results(&s, o);
    if (rc >= 0)
        rc = cli_file_open(&f, o->out);
    if (rc >= 0) {
        rc = o->format == AS_JSON   ? rep_scaling_json(&f.buf, &s)
             : o->format == AS_HTML ? rep_scaling_html(&f.buf, &s, &view)
                                    : rep_scaling_text(&f.buf, &s, &view);
        rc = cli_file_close(&f, rc);
    }
    scaling_free(&s);
    return rc < 0 ? cli_fail(rc) : CLI_OK;
}

int cli_run_trend(const cli_options *o)
{
    if (scaling_is_results(o->operands[0]))
        return show_scaling(o);
    trend t;
    cli_file f;
    int rc = 0;
    trend_init(&t);
    for (size_t i = 0; rc >= 0 && i < o->operand_count; i++)
        rc = add_trend_operand(&t, o->operands[i], o);
    if (rc >= 0 && !t.count)
        rc = vp_fail(VP_EEMPTY, "no runs in the input");
    if (rc >= 0) {
        trend_sort(&t);
        rc = cli_file_open(&f, o->out);
    }
    if (rc >= 0)
        rc = cli_file_close(&f, write_trend_as(&f.buf, &t, o));
    trend_free(&t);
    return rc < 0 ? cli_fail(rc) : CLI_OK;
}
