#include "server/local/tb_info.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"

#define INFO_BYTES_MAX (64u << 10)

/* "/a/b" of plain characters, or "". */
static bool is_prefix(const char *text)
{
    size_t n = strlen(text);
    return n < TB_PREFIX_MAX && (!n || (text[0] == '/' && text[n - 1] != '/')) &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/") == n;
}

bool tb_info_parse(tb_place *out, vp_str json)
{
    json_t *info = json_loadb(json.p ? json.p : "", json.n, 0, NULL);
    json_int_t port = json_integer_value(json_object_get(info, "port"));
    const char *prefix = json_string_value(json_object_get(info, "path_prefix"));
    bool good = port > 0 && port <= 65535 && is_prefix(prefix ? prefix : "");
    if (good) {
        out->port = (int)port;
        snprintf(out->prefix, sizeof out->prefix, "%s", prefix ? prefix : "");
    }
    json_decref(info);
    return good;
}

/* All users can write to this directory, so only regular files of this user are read. */
static bool read_info(tb_place *out, int dir, const char *name)
{
    char text[INFO_BYTES_MAX];
    struct stat st;
    size_t n;
    VP_CLEANUP(vp_fs_close)
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           vp_fs_pread(fd, text, sizeof text, 0, &n) == 0 && tb_info_parse(out, (vp_str){text, n});
}

size_t tb_info_list(tb_place *out)
{
    char path[VP_PATH_MAX];
    const char *temp = getenv("TMPDIR");
    const struct dirent *e;
    size_t found = 0;
    int n = snprintf(path, sizeof path, "%s/.tensorboard-info", temp && *temp ? temp : "/tmp");
    DIR *d = n < (int)sizeof path ? opendir(path) : NULL;
    while (d && found < TB_INFOS_MAX && (e = readdir(d)))
        if (vp_str_starts(vp_str_of(e->d_name), VP_STR("pid-")))
            found += read_info(&out[found], dirfd(d), e->d_name);
    if (d)
        closedir(d);
    return found;
}
