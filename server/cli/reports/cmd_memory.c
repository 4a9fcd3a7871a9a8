/* `memory`: what holds memory at the peak, in every format. */
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/reports/cmd_report.h"
#include "trace/report/report.h"

static int write_memory_as(vp_buf *b, const vp_report *r, const vp_view *v, int64_t format)
{
    switch (format) {
    case VP_FORMAT_JSON:
        return rep_memory_json(b, r);
    case VP_FORMAT_CSV:
        return rep_memory_csv(b, r, v);
    case VP_FORMAT_HTML:
        return rep_memory_html(b, r, v, NULL);
    default:
        return rep_text_memory(b, r, v);
    }
}

int cli_run_memory(const cli_options *o)
{
    return cli_show_run(o, cli_default_rows(o), write_memory_as);
}
