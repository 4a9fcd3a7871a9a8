/* view_profile-live's main(): the commands of live_start.c, with the words that view_profile was
 * called with, and its path in place of the first. */
#include <stdio.h>
#include <string.h>

#include "server/cli/language/arguments.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/language/table.h"
#include "server/cli/terminal/begin.h"
#include "server/watch/watch_deliver.h"
#include "trace/base/log.h"

typedef int runner(const cli_options *o);

/* NULL: not one of its commands. */
static runner *runner_of(unsigned command)
{
    switch (command) {
    case CLI_SERVE:
        return cli_run_serve;
    case CLI_CAPTURE:
        return cli_run_capture;
    case CLI_RECORD:
        return cli_run_record;
    case CLI_RECOVER:
        return cli_run_recover;
    case CLI_WATCH:
        return cli_run_watch;
    case CLI_MCP:
        return cli_run_mcp;
    case CLI_COMPARE:
        return cli_run_compare;
    case CLI_MERGE:
        return cli_run_merge;
    case CLI_MEMORY:
        return cli_run_memory;
    case CLI_TREND:
        return cli_run_trend;
    case CLI_HELP:
        return cli_run_docs;
    default:
        return NULL;
    }
}

static int refuse(void)
{
    fputs("view_profile: this program is started by `view_profile serve`, `capture`, `record`, "
          "`recover`, `watch`, `mcp`, `compare`, `merge`, `memory` and `trend`\n",
          stderr);
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    cli_options o;
    cli_begin();
    if (argc == 3 && !strcmp(argv[1], WATCH_DELIVER))
        return watch_deliver(argv[2]) < 0 ? CLI_UNREADABLE : CLI_OK;
    if (argc < 2 || argv[0][0] != '/')
        return refuse();
    const char *program = argv[0];
    int rc = cli_parse(&o, argc, argv);
    if (rc)
        return rc;
    runner *run = runner_of(o.command->bit);
    if (!run)
        return refuse();
    o.program = program;
    vp_log_set_level(o.quiet ? VP_LOG_ERROR : o.verbose ? VP_LOG_DEBUG : VP_LOG_INFO);
    return run(&o);
}
