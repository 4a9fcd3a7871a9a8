/* `mcp`: tools for agents over standard input and output. */
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "server/mcp/mcp.h"

int cli_run_mcp(const cli_options *o)
{
    mcp_options m = {
        .program = o->program, .profile_dir = o->path, .allow_capture = o->allow_capture};
    int rc = mcp_serve(&m);
    return rc < 0 ? cli_fail(rc) : CLI_OK;
}
