#include "trace/base/mem_available.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "trace/base/limits.h"
#include "trace/base/str.h"

/* File names of one version of control groups. */
typedef struct generation generation;
struct generation {
    const char *line; /* prefix after the number in /proc/self/cgroup */
    const char *mount;
    int64_t (*available)(const generation *g, const char *dir); /* of one group; -1: no limit */
    const char *limit, *use, *cache;
};

/* Reads the file as text; "" if it cannot be read. The allocator calls this, so it must not
 * allocate or record an error. */
static void read_small_file(char *text, size_t cap, const char *path)
{
    size_t n = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n < cap - 1 && (got = read(fd, text + n, cap - 1 - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[got < 0 ? 0 : n] = 0;
}

/* The number after `key` at the start of a line; -1: none, or "max". */
static int64_t number_after_key(const char *text, const char *key)
{
    vp_str rest = vp_str_of(text), line;
    uint64_t v;
    while (rest.n) {
        if (!vp_take_until(&rest, '\n', rest.n, &line))
            break;
        if (!vp_str_starts(line, vp_str_of(key)))
            continue;
        line = vp_str_trim(vp_str_skip(line, strlen(key)));
        return vp_take_uint(&line, INT64_MAX, &v) ? (int64_t)v : -1;
    }
    return -1;
}

static int64_t cgroup_file_number(const char *dir, const char *name, const char *key)
{
    char path[VP_PATH_MAX], text[8192];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    read_small_file(text, sizeof text, path);
    return number_after_key(text, key);
}

static int64_t smaller_known_limit(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int64_t available_in_group(const generation *g, const char *dir)
{
    int64_t limit = cgroup_file_number(dir, g->limit, ""),
            use = cgroup_file_number(dir, g->use, "");
    int64_t cache = cgroup_file_number(dir, "memory.stat", g->cache);
    if (limit < 0 || use < 0)
        return -1;
    use -= cache > 0 && cache < use ? cache : 0;
    return limit > use ? limit - use : 0;
}

/* Version 2 has quota and period in one file, and "max" for no quota; version 1 has two files and
 * -1. */
static int64_t cpus_in_group(const generation *g, const char *dir)
{
    char path[VP_PATH_MAX], text[64];
    uint64_t quota, period;
    snprintf(path, sizeof path, "%s/%s", dir, g->limit);
    read_small_file(text, sizeof text, path);
    vp_str rest = vp_str_of(text);
    if (!vp_take_uint(&rest, INT64_MAX / 2, &quota))
        return -1;
    rest = vp_str_trim(rest);
    if (g->use)
        period = (uint64_t)cgroup_file_number(dir, g->use, "");
    else if (!vp_take_uint(&rest, INT64_MAX / 2, &period))
        return -1;
    return period && period < INT64_MAX / 2 ? (int64_t)((quota + period - 1) / period) : -1;
}

static const generation memory_groups[] = {
    {"::", "/sys/fs/cgroup", available_in_group, "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", available_in_group, "memory.limit_in_bytes",
     "memory.usage_in_bytes", "total_inactive_file "},
    {0},
};

static const generation cpu_groups[] = {
    {"::", "/sys/fs/cgroup", cpus_in_group, "cpu.max", NULL, NULL},
    {":cpu,cpuacct:", "/sys/fs/cgroup/cpu,cpuacct", cpus_in_group, "cpu.cfs_quota_us",
     "cpu.cfs_period_us", NULL},
    {":cpu:", "/sys/fs/cgroup/cpu", cpus_in_group, "cpu.cfs_quota_us", "cpu.cfs_period_us", NULL},
    {0},
};

/* The use of a group counts in all of its ancestors. In a container the path may be the host's;
 * then only the part below the mount is visible. */
static int64_t available_along(const char *root, const generation *g, vp_str path)
{
    char dir[VP_PATH_MAX];
    int64_t available = -1;
    for (;;) {
        snprintf(dir, sizeof dir, "%s%s%.*s", root, g->mount, (int)path.n, path.p);
        available = smaller_known_limit(available, g->available(g, dir));
        if (!path.n)
            return available;
        path = vp_str_head(path, vp_str_rfind_char(path, '/') % path.n);
    }
}

static int64_t available_in_groups(const char *root, const generation *list)
{
    char path[VP_PATH_MAX], text[8192];
    int64_t available = -1;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    read_small_file(text, sizeof text, path);
    vp_str rest = vp_str_of(text), line;
    while (rest.n && vp_take_until(&rest, '\n', rest.n, &line))
        for (const generation *g = list; g->line; g++) {
            vp_str group = vp_str_skip(line, vp_str_find(line, VP_STR(":")));
            vp_str head = vp_str_of(g->line);
            if (vp_str_starts(group, head))
                available = smaller_known_limit(
                    available, available_along(root, g, vp_str_skip(group, head.n)));
        }
    return available;
}

int64_t vp_mem_available(const char *root)
{
    char path[VP_PATH_MAX];
    snprintf(path, sizeof path, "%s/proc", root);
    int64_t available = cgroup_file_number(path, "meminfo", "MemAvailable:");
    return smaller_known_limit(available < 0 ? -1 : available * 1024,
                               available_in_groups(root, memory_groups));
}

int64_t vp_cpu_limit(const char *root)
{
    return available_in_groups(root, cpu_groups);
}
