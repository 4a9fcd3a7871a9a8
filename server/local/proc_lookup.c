#include "server/local/proc_lookup.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

#define DESCRIPTORS_SEEN_MAX 65536

static bool process_holds_socket(const char *pid, const char *socket_name)
{
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%.16s/fd", pid);
    DIR *d = opendir(path);
    const struct dirent *e;
    bool found = false;
    for (int seen = 0; d && !found && seen < DESCRIPTORS_SEEN_MAX && (e = readdir(d)); seen++) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        found = strcmp(target, socket_name) == 0;
    }
    if (d)
        closedir(d);
    return found;
}

pid_t proc_socket_pid(uint64_t socket_inode)
{
    char socket_name[64];
    snprintf(socket_name, sizeof socket_name, "socket:[%llu]", (unsigned long long)socket_inode);
    DIR *d = opendir("/proc");
    const struct dirent *e;
    uint64_t pid, found = 0;
    while (d && !found && (e = readdir(d)))
        if (vp_str_to_u64(vp_str_of(e->d_name), &pid) &&
            process_holds_socket(e->d_name, socket_name))
            found = pid;
    if (d)
        closedir(d);
    return (pid_t)found;
}

int proc_directory(char *out, size_t cap, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/cwd", (long)pid);
    ssize_t n = readlink(path, out, cap - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : VP_ENOTFOUND;
}
