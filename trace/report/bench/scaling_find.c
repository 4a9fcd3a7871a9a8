/* Finds the files of a directory that are benchmark results. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/report/bench/scaling.h"
#include "trace/report/data/fields.h"

/* Names of one directory; other entries are ignored. */
#define NAMES_MAX 4096u
#define SUFFIX "_results.json"

typedef struct names {
    char **items;
    size_t count, cap;
} names;

static void names_free(names *n)
{
    for (size_t i = 0; i < n->count; i++)
        vp_free(n->items[i]);
    vp_free(n->items);
}

static int by_version_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static bool is_file_name(const char *name)
{
    vp_str s = vp_str_of(name), suffix = VP_STR(SUFFIX);
    return s.n > suffix.n && vp_str_ends(s, suffix);
}

/* The number of devices in "4gpu_20261122_004044"; -1. */
static long devices_in(const char *name)
{
    char *end;
    if (name[0] < '0' || name[0] > '9')
        return -1;
    errno = 0;
    long n = strtol(name, &end, 10);
    return errno || strncmp(end, "gpu_", 4) != 0 ? -1 : n;
}

static bool is_dir_name(const char *name)
{
    return devices_in(name) >= 0;
}

/* Sorted by number, 2 before 10. */
static int list_wanted_files(names *out, const char *dir, bool (*wanted)(const char *name))
{
    const struct dirent *entry;
    int rc = 0;
    DIR *d = opendir(dir);
    if (!d)
        return 0; /* a file, or an entry whose reader reports the error */
    while (rc >= 0 && (entry = readdir(d))) {
        if (!wanted(entry->d_name))
            continue;
        rc = vp_grow(&out->items, &out->cap, out->count + 1, sizeof *out->items, NAMES_MAX);
        char *name = rc < 0 ? NULL : vp_strdup(entry->d_name);
        if (name)
            out->items[out->count++] = name;
        else if (rc >= 0)
            rc = vp_no_memory();
    }
    closedir(d);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_version_name);
    return rc < 0 ? vp_fail_at(rc, dir, -1, -1) : 0;
}

static bool is_results_file(const char *path)
{
    return rep_starts_with(path, "\"gpu_count\"");
}

static int each_in(const char *dir, scaling_file_fn *each, void *ctx, bool *found)
{
    char path[VP_PATH_MAX];
    names files = {0};
    int rc = list_wanted_files(&files, dir, is_file_name);
    for (size_t i = 0; rc == 0 && i < files.count; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", dir, files.items[i]);
        if (n > 0 && (size_t)n < sizeof path && is_results_file(path)) {
            *found = true;
            rc = each(ctx, path);
        }
    }
    names_free(&files);
    return rc;
}

/* If there are several, the newest with results: a bench that failed or still runs has none. */
static int each_of_newest(const char *root, const names *dirs, size_t first, size_t end,
                          scaling_file_fn *each, void *ctx)
{
    char path[VP_PATH_MAX];
    bool found = false;
    int rc = 0;
    for (size_t i = end; rc == 0 && !found && i-- > first;) {
        int length = snprintf(path, sizeof path, "%s/%s", root, dirs->items[i]);
        if (length > 0 && (size_t)length < sizeof path)
            rc = each_in(path, each, ctx, &found);
    }
    return rc;
}

static int each_below(const char *root, scaling_file_fn *each, void *ctx)
{
    names dirs = {0};
    int rc = list_wanted_files(&dirs, root, is_dir_name);
    for (size_t first = 0, end; rc == 0 && first < dirs.count; first = end) {
        long devices = devices_in(dirs.items[first]);
        for (end = first + 1; end < dirs.count && devices_in(dirs.items[end]) == devices; end++)
            continue;
        rc = each_of_newest(root, &dirs, first, end, each, ctx);
    }
    names_free(&dirs);
    return rc;
}

int scaling_each_file(const char *path, scaling_file_fn *each, void *ctx)
{
    if (is_results_file(path))
        return each(ctx, path);
    bool found = false;
    int rc = each_in(path, each, ctx, &found);
    return rc || found ? rc : each_below(path, each, ctx);
}
