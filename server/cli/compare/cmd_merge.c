/* `merge`: merges reports of hosts or files into one. */
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/reports/cmd_report.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/report.h"
#include "trace/source/document.h"

static int read_all_reports(vp_report **parts, const cli_options *o)
{
    for (size_t i = 0; i < o->operand_count; i++) {
        VP_CLEANUP(document_close) document d;
        VP_TRY(document_open(&d, o->operands[i], o->no_sign_request, VP_STR_NONE));
        VP_TRY(document_fail(&d, rep_read_file(&parts[i], d.path)));
    }
    return 0;
}

static int merge_operands(vp_report **out, const cli_options *o)
{
    VP_CLEANUP(vp_free_ptr) vp_report **parts = vp_calloc(o->operand_count, sizeof *parts);
    VP_NEED(parts);
    size_t which;
    int rc = read_all_reports(parts, o);
    if (rc >= 0 && !o->force) {
        rc = report_check_job((const vp_report *const *)parts, o->operand_count, &which);
        if (rc == VP_EARG)
            vp_fail_at(rc, o->operands[which], -1, -1);
    }
    if (rc >= 0)
        rc = report_merge(out, (const vp_report *const *)parts, o->operand_count);
    for (size_t i = 0; i < o->operand_count; i++)
        analyze_free(parts[i]);
    return rc;
}

int cli_run_merge(const cli_options *o)
{
    vp_report *r = NULL;
    vp_view view;
    cli_file f;
    int rc = merge_operands(&r, o);
    if (rc >= 0)
        rc = cli_file_open(&f, o->out);
    if (rc >= 0) {
        cli_view(&view, o, cli_default_rows(o));
        rc = cli_file_close(&f, cli_write_report(&f.buf, r, &view, o->format));
    }
    analyze_free(r);
    return rc < 0 ? cli_fail(rc) : CLI_OK;
}
