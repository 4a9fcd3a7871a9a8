#include "trace/base/system/live_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"

int vp_live_dir(char out[VP_PATH_MAX], bool make)
{
    const char *run = getenv("XDG_RUNTIME_DIR");
    char path[VP_PATH_MAX];
    struct stat st;
    int n = run && run[0] == '/'
                ? snprintf(path, sizeof path, "%s/view_profile", run)
                : snprintf(path, sizeof path, "/tmp/view_profile-%ld", (long)geteuid());
    if (n < 0 || (size_t)n >= sizeof path)
        return vp_fail(VP_EARG, "XDG_RUNTIME_DIR is too long");
    if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
        return vp_fail_at(vp_fail(VP_EIO, "cannot be made: %s", strerror(errno)), path, -1, -1);
    if (lstat(path, &st) < 0)
        return vp_fail_at(vp_fail(VP_ENOTFOUND, "%s", strerror(errno)), path, -1, -1);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return vp_fail_at(vp_fail(VP_EREFUSED, "is not a directory of this user alone"), path, -1,
                          -1);
    memcpy(out, path, (size_t)n + 1);
    return 0;
}

long vp_live_peer(int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0;
    return known && who.uid == geteuid() ? (long)who.pid : -1;
}
