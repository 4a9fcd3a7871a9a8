#include "server/local/capture_targets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"

#define FILE_MAX (CAPTURE_TARGETS_KEPT * CAPTURE_TARGETS_TEXT)
#define HOST_MAX 253u
#define PORT_MAX 65535u

/* ---- The grammar ----------------------------------------------------------------------------- */

static bool is_alnum_char(char c)
{
    return (c >= '0' && c <= '9') || (vp_lower(c) >= 'a' && vp_lower(c) <= 'z');
}

static bool host_ok(vp_str h)
{
    bool bracketed = h.n > 2 && h.p[0] == '[' && h.p[h.n - 1] == ']';
    if (bracketed)
        h = vp_str_head(vp_str_skip(h, 1), h.n - 2);
    if (!h.n || h.n > HOST_MAX || (!bracketed && !is_alnum_char(h.p[0])))
        return false;
    for (size_t i = 0; i < h.n; i++)
        if (!is_alnum_char(h.p[i]) && !strchr(bracketed ? ":.%" : ".-_", h.p[i]))
            return false;
    return true;
}

bool capture_target_ok(vp_str s)
{
    size_t colon = vp_str_rfind_char(s, ':');
    uint64_t port;
    if (memchr(s.p ? s.p : "", 0, s.n) || colon == s.n || !host_ok(vp_str_head(s, colon)))
        return false;
    vp_str digits = vp_str_skip(s, colon + 1);
    return digits.n <= 5 && vp_take_uint(&digits, PORT_MAX, &port) && !digits.n && port > 0;
}

static bool target_list_has(vp_str list, vp_str one)
{
    vp_str part;
    while (list.n && vp_take_until(&list, ',', CAPTURE_TARGETS_TEXT, &part))
        if (vp_str_eq(part, one))
            return true;
    return false;
}

bool capture_targets_ok(vp_str s)
{
    vp_str one;
    size_t n = 0;
    if (!s.n || s.n >= CAPTURE_TARGETS_TEXT || s.p[s.n - 1] == ',')
        return false;
    while (s.n) {
        vp_take_until(&s, ',', s.n, &one);
        if (++n > CAPTURE_TARGETS_MAX || !capture_target_ok(one) || target_list_has(s, one))
            return false;
    }
    return true;
}

bool capture_targets_share(vp_str a, vp_str b)
{
    vp_str one;
    while (a.n && vp_take_until(&a, ',', CAPTURE_TARGETS_TEXT, &one))
        if (target_list_has(b, one))
            return true;
    return false;
}

/* ---- Those of before ------------------------------------------------------------------------- */

void capture_targets_add(capture_targets *t, vp_str s)
{
    size_t at = 0;
    char kept[CAPTURE_TARGETS_TEXT];
    if (!capture_targets_ok(s))
        return;
    memcpy(kept, s.p, s.n);
    kept[s.n] = 0;
    while (at < t->n && strcmp(t->list[at], kept) != 0)
        at++;
    if (at == CAPTURE_TARGETS_KEPT)
        at--;
    memmove(t->list[1], t->list[0], at * sizeof t->list[0]);
    memcpy(t->list[0], kept, sizeof kept);
    t->n += at == t->n;
}

/* Path of the file; creates its directory. */
static int targets_file_path(char *path, size_t cap)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache && cache[0] == '/';
    const char *base = own ? cache : home && home[0] == '/' ? home : NULL;
    if (!base || strlen(base) > VP_PATH_MAX / 2)
        return vp_fail(VP_EIO, "no cache directory: set XDG_CACHE_HOME or HOME");
    snprintf(path, cap, "%s%s", base, own ? "" : "/.cache");
    (void)mkdir(path, 0700);
    size_t n = strlen(path);
    n += (size_t)snprintf(path + n, cap - n, "/view_profile");
    (void)mkdir(path, 0700);
    snprintf(path + n, cap - n, "/targets");
    return 0;
}

void capture_targets_load(capture_targets *t)
{
    char path[VP_PATH_MAX], text[FILE_MAX];
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir = false;
    vp_file_id id;
    size_t got = 0;
    t->n = 0;
    if (targets_file_path(path, sizeof path) < 0 || vp_fs_open_user(path, &fd, &is_dir, &id) < 0 ||
        is_dir || vp_fs_pread(fd, text, sizeof text, 0, &got) < 0)
        return;
    /* Lines are added in reverse order, because each is inserted at the front. */
    while (got) {
        vp_str whole = {text, text[got - 1] == '\n' ? got - 1 : got};
        size_t before = vp_str_rfind_char(whole, '\n');
        size_t begin = before == whole.n ? 0 : before + 1;
        capture_targets_add(t, vp_str_skip(whole, begin));
        got = begin;
    }
}

int capture_targets_save(const capture_targets *t)
{
    char path[VP_PATH_MAX], fresh[VP_PATH_MAX + 16];
    VP_TRY(targets_file_path(path, sizeof path));
    snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
    (void)unlink(fresh);
    VP_CLEANUP(vp_fs_close)
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return vp_fail(VP_EIO, "cannot save the capture targets: %s", strerror(errno));
    int rc = 0;
    for (size_t i = 0; i < t->n && rc >= 0; i++) {
        rc = vp_fs_write_all(fd, t->list[i], strlen(t->list[i]));
        rc = rc < 0 ? rc : vp_fs_write_all(fd, "\n", 1);
    }
    if (rc >= 0 && rename(fresh, path) < 0)
        rc = vp_fail(VP_EIO, "cannot save the capture targets: %s", strerror(errno));
    if (rc < 0)
        (void)unlink(fresh);
    return rc;
}
