/* view_profile-live's main(): `capture`, `watch`, `mcp` and `trend`, with the words that
 * view_profile was called with, and its path in place of the first. */
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "server/cli/arguments.h"
#include "server/cli/cli_options.h"
#include "server/cli/commands.h"
#include "server/cli/exit_codes.h"
#include "server/cli/table.h"
#include "server/watch/watch_deliver.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

static int run(const cli_options *o)
{
    switch (o->command->bit) {
    case CLI_WATCH:
        return cli_run_watch(o);
    case CLI_MCP:
        return cli_run_mcp(o);
    case CLI_TREND:
        return cli_run_trend(o);
    default:
        return cli_run_capture(o);
    }
}

int main(int argc, char **argv)
{
    cli_options o;
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    json_set_alloc_funcs(vp_malloc, vp_free);
    if (argc == 3 && !strcmp(argv[1], WATCH_DELIVER))
        return watch_deliver(argv[2]) < 0 ? CLI_UNREADABLE : CLI_OK;
    if (argc < 2 || argv[0][0] != '/' ||
        (strcmp(argv[1], "capture") != 0 && strcmp(argv[1], "watch") != 0 &&
         strcmp(argv[1], "mcp") != 0 && strcmp(argv[1], "trend") != 0)) {
        fputs("view_profile: this program is started by `view_profile capture`, `watch`, "
              "`mcp` and `trend`\n",
              stderr);
        return CLI_USAGE;
    }
    const char *program = argv[0];
    int rc = cli_parse(&o, argc, argv);
    if (rc)
        return rc;
    o.program = program;
    vp_log_set_level(o.quiet ? VP_LOG_ERROR : o.verbose ? VP_LOG_DEBUG : VP_LOG_INFO);
    return run(&o);
}
