#include "server/fetch/text/ini_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"

#define FILE_MAX (1u << 20)

int ini_read(const char *path, vp_buf *out)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir;
    vp_file_id id;
    size_t got;
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, &id));
    if (is_dir || id.size > (int64_t)FILE_MAX)
        return vp_fail(VP_EIO, "not a credentials file");
    char *room = vp_buf_reserve(out, FILE_MAX);
    VP_NEED(room);
    VP_TRY(vp_fs_pread(fd, room, FILE_MAX - 1, 0, &got));
    return vp_buf_wrote(out, got);
}

static vp_str ini_take_line(vp_str *text)
{
    vp_str line = *text;
    size_t n = vp_str_find(line, VP_STR("\n"));
    *text = vp_str_skip(line, n + 1);
    line.n = n - (n && line.p[n - 1] == '\r');
    return line;
}

bool ini_find(vp_str text, vp_str section, vp_str name, vp_str *out)
{
    bool is_in = false;
    while (text.n) {
        vp_str line = ini_take_line(&text), key;
        if (line.n && (line.p[0] == ' ' || line.p[0] == '\t' || line.p[0] == '#'))
            continue; /* nested settings, comments */
        line = vp_str_trim(line);
        if (line.n > 1 && line.p[0] == '[' && line.p[line.n - 1] == ']') {
            vp_str own = vp_str_trim((vp_str){line.p + 1, line.n - 2});
            is_in = vp_str_eq(own, section);
        } else if (is_in && vp_take_until(&line, '=', line.n, &key) &&
                   vp_str_eq(vp_str_trim(key), name)) {
            *out = vp_str_trim(line);
            return out->n > 0;
        }
    }
    return false;
}

const char *ini_env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

bool ini_path(const char *name, const char *rest, char *out, size_t cap)
{
    const char *own = name ? ini_env(name) : NULL, *home = ini_env("HOME");
    int n = own    ? snprintf(out, cap, "%s", own)
            : home ? snprintf(out, cap, "%s/%s", home, rest)
                   : -1;
    return n >= 0 && (size_t)n < cap;
}
