/* `help --print-…`: the files of docs/ that are made from the program's own tables. */
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/docs/completion.h"
#include "server/cli/docs/man.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/report/report.h"

static int print_findings(void)
{
    vp_buf b;
    cli_stdout(&b);
    (void)rep_findings_docs(&b); /* a failure stays in b */
    return cli_finish(&b);
}

int cli_run_docs(const cli_options *o)
{
    return o->print_findings ? print_findings()
           : o->print_man    ? cli_print_man(o->print_man)
                             : cli_print_completion(o->print_completion);
}
