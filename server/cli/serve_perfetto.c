#include "server/cli/serve_perfetto.h"

#include <stdio.h>
#include <string.h>

#include "server/cli/exit_codes.h"
#include "server/cli/find_perfetto.h"
#include "server/routes/ui_build.h"
#include "trace/base/err.h"
#include "trace/base/log.h"

/* --perfetto-ui DIR: that one alone. */
static int take_directory(site_options *to, char dir[VP_PATH_MAX], const cli_options *o)
{
    VP_CLEANUP(ui_build_close) ui_build *b = NULL;
    if (o->listen) {
        vp_log(VP_LOG_ERROR, "--perfetto-ui DIR is served on a port, and --listen has none");
        return CLI_USAGE;
    }
    if (strlen(o->perfetto_ui) >= VP_PATH_MAX || ui_build_open(&b, o->perfetto_ui) < 0) {
        vp_log(VP_LOG_ERROR, "--perfetto-ui %.300s: %s", o->perfetto_ui, vp_error_last()->message);
        return CLI_USAGE;
    }
    snprintf(dir, VP_PATH_MAX, "%s", o->perfetto_ui);
    to->perfetto_dir = dir;
    to->perfetto_ui = NULL;
    return CLI_OK;
}

int serve_perfetto(site_options *to, char dir[VP_PATH_MAX], const cli_options *o)
{
    if (o->perfetto_ui && !strstr(o->perfetto_ui, "://"))
        return take_directory(to, dir, o);
    if (o->perfetto_ui) {
        to->perfetto_ui = o->perfetto_ui;
        return CLI_OK;
    }
    if (o->offline)
        to->perfetto_ui = NULL;
    if (!o->listen && cli_find_perfetto(dir) == 0)
        to->perfetto_dir = dir;
    else if (o->offline)
        vp_log(VP_LOG_WARN, "no Perfetto UI is there to serve; %s", CLI_PERFETTO_ADVICE);
    return CLI_OK;
}
