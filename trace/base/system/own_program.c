#include "trace/base/system/own_program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"

int vp_own_program(char *out, const char *name)
{
    char self[VP_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    static const char *const beside[] = {"", "/../libexec/view_profile"};
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        int length = snprintf(out, VP_PATH_MAX, "%.3900s%s/%s", self, beside[i], name);
        if (length > 0 && length < (int)VP_PATH_MAX && access(out, X_OK) == 0)
            return 0;
    }
    snprintf(out, VP_PATH_MAX, "%s/%s", VP_LIBEXECDIR, name);
    if (access(out, X_OK) == 0)
        return 0;
    return vp_fail(VP_EUNSUPPORTED,
                   "%s lies neither beside this program nor in " VP_LIBEXECDIR
                   ": install all of view_profile (view_profile-fetch is built where libcurl and "
                   "OpenSSL are)",
                   name);
}
