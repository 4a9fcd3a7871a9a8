/* `findings`: the findings of a run, in every format. */
#include "server/cli/gates/findings_gate.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/reports/cmd_report.h"
#include "trace/analyze/findings/findings.h"
#include "trace/base/err.h"
#include "trace/report/report.h"

static int write_findings_as(vp_buf *b, const vp_report *r, const vp_view *v, int64_t format)
{
    switch (format) {
    case VP_FORMAT_JSON:
        return rep_findings_json(b, r);
    case VP_FORMAT_CSV:
        return rep_findings_csv(b, r);
    case VP_FORMAT_HTML:
        return rep_findings_html(b, r, v, NULL);
    default:
        return rep_findings_text(b, r, v);
    }
}

int cli_run_findings(const cli_options *o)
{
    int code = cli_check_fail_on(o->fail_on);
    return code ? code : cli_show_run(o, 0, write_findings_as);
}
