#include "server/cli/recording/find_recorder.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/base/system/library.h"

/* In the directory of this program (build tree), or in the library directory next to bin
 * (installed).
 */
int cli_find_library(char out[VP_PATH_MAX], const char *name)
{
    char self[VP_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    static const char *const places[] = {"", ("/../" VP_LIBDIR), "/../lib"};
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        char path[VP_PATH_MAX + 64];
        int length = snprintf(path, sizeof path, "%s%s/%s", self, places[i], name);
        if (length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0 &&
            realpath(path, out))
            return 0;
    }
    return vp_fail(VP_ENOTFOUND,
                   "%s found neither in the directory of this program nor in its library directory",
                   name);
}

int cli_recover(vp_result *out, const char *path, const char *dir)
{
    char library[VP_PATH_MAX];
    int (*recover)(const char *, const char *, vp_result *) = NULL;
    const vp_error *(*error)(void) = NULL;
    VP_TRY(cli_find_library(library, CLI_RECORDER));
    (void)unsetenv("VIEW_PROFILE"); /* otherwise the library would also record this program */
    void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const vp_symbol table[] = {{&recover, "vp_recover", false}, {&error, "vp_error_last", false}};
    if (!lib || vp_take_symbols(lib, table, 2))
        return vp_fail(VP_EUNSUPPORTED, "cannot load %s: %.300s", CLI_RECORDER, dlerror());
    int rc = recover(path, dir, out);
    return rc < 0 ? vp_fail_copy(error()) : 0;
}
