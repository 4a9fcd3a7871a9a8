/* `help --print-…`: prints the files of docs/ that are generated from the program's tables. */
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
    (void)rep_findings_docs(&b); /* an error stays in b */
    return cli_finish(&b);
}

static int print_reference(void)
{
    vp_buf b;
    cli_stdout(&b);
    (void)rep_reference(&b);
    return cli_finish(&b);
}

static int print_schema(const char *name)
{
    vp_buf b;
    cli_stdout(&b);
    if (rep_schema_json(&b, name) != VP_ENOTFOUND)
        return cli_finish(&b);
    vp_log(VP_LOG_ERROR, "--print-schema %.100s: no such document", name);
    vp_buf_free(&b);
    return CLI_USAGE;
}

int cli_run_docs(const cli_options *o)
{
    return o->print_findings    ? print_findings()
           : o->print_reference ? print_reference()
           : o->print_schema    ? print_schema(o->print_schema)
           : o->print_man       ? cli_print_man(o->print_man)
                                : cli_print_completion(o->print_completion);
}
