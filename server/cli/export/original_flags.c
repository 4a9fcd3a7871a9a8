#include "server/cli/export/original_flags.h"

#include "server/cli/export/cmd_extract.h"
#include "server/cli/input/open.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/reports/cmd_list.h"
#include "server/cli/terminal/standard_out.h"

bool cli_serves_nothing(const cli_options *o)
{
    return o->list_only || (o->extract && o->ui == CLI_UI_NONE);
}

int cli_original_flags(const cli_options *o, char *dir)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    int rc = cli_open(&c, o), code = CLI_OK;
    dir[0] = 0;
    if (rc < 0)
        return cli_fail(rc);
    if (o->list_only)
        code = cli_list_only(c);
    if (!code && o->extract)
        code = cli_extract_all(c, o, NULL, dir);
    if (cli_serves_nothing(o) || (code != CLI_OK && code != CLI_UNREADABLE))
        dir[0] = 0;
    return code;
}
