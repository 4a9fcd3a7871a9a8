#include "trace/capture/gpu/cupti_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/system/library.h"

/* The newest known version. CUPTI's number for 13.0 is 130000; old versions count up to 28. A newer
 * one is tried, because field offsets have not changed since CUDA 9. */
#define VERSION_MAX 139999u

static const char *const sonames[] = {"libcupti.so.14",   "libcupti.so.13",   "libcupti.so.12",
                                      "libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6",
                                      "libcupti.so"};
static const char *const below_home[] = {"extras/CUPTI/lib64", "lib64", "lib"};
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Below a directory of Python packages: nvidia-cuda-cupti, also of nvidia-cuda-cupti-cu12. */
static const char *const wheels[] = {"nvidia/cuda_cupti/lib/libcupti.so*",
                                     "nvidia/cu[0-9]*/lib/libcupti.so*"};

static void *open_matching(char *out, size_t cap, const char *root, const char *below)
{
    char pattern[VP_PATH_MAX];
    glob_t found;
    void *lib = NULL;
    int n = snprintf(pattern, sizeof pattern, "%s/%s", root, below);
    if (n <= 0 || (size_t)n >= sizeof pattern || glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = 0; i < found.gl_pathc && !lib; i++)
        if ((lib = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL)))
            snprintf(out, cap, "%s", found.gl_pathv[i]);
    globfree(&found);
    return lib;
}

static void *open_wheel(char *out, size_t cap, const char *packages)
{
    void *lib = NULL;
    for (size_t i = 0; i < COUNT(wheels) && !lib && packages[0]; i++)
        lib = open_matching(out, cap, packages, wheels[i]);
    return lib;
}

/* The directory of Python packages from which a library was loaded, if NVIDIA's packages are in
 * it. */
static int find_packages(struct dl_phdr_info *info, size_t size, void *ctx)
{
    static const char *const names[] = {"/site-packages/", "/dist-packages/"};
    char *out = ctx;
    (void)size;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *at = strstr(info->dlpi_name, names[i]);
        int n = at ? (int)(at - info->dlpi_name) + (int)strlen(names[i]) : 0;
        if (!at || (size_t)n >= VP_PATH_MAX - 8)
            continue;
        snprintf(out, VP_PATH_MAX, "%.*snvidia", n, info->dlpi_name);
        if (access(out, X_OK) == 0) {
            out[n - 1] = 0;
            return 1;
        }
    }
    out[0] = 0;
    return 0;
}

/* Opens the CUPTI installed by pip or conda, which JAX and PyTorch depend on. */
static void *open_packaged(char *out, size_t cap)
{
    static const char *const homes[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    char packages[VP_PATH_MAX] = "";
    dl_iterate_phdr(find_packages, packages);
    void *lib = open_wheel(out, cap, packages);
    for (const char *p = getenv("PYTHONPATH"), *end; p && *p && !lib; p = *end ? end + 1 : end) {
        end = strchrnul(p, ':');
        snprintf(packages, sizeof packages, "%.*s", (int)(end - p), p);
        lib = open_wheel(out, cap, packages);
    }
    for (size_t i = 0; i < COUNT(homes) && !lib; i++) {
        const char *home = getenv(homes[i]);
        int n =
            snprintf(packages, sizeof packages, "%s/lib/python3*/site-packages", home ? home : "");
        if (home && home[0] && n > 0 && (size_t)n < sizeof packages)
            lib = open_wheel(out, cap, packages);
    }
    return lib;
}

/* Tries dlopen with every place in order; out is the path of the one that succeeded. */
static void *open_any(char *out, size_t cap)
{
    const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    void *lib = NULL;
    for (size_t i = 0; i < COUNT(sonames) && !lib; i++)
        if ((lib = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)))
            snprintf(out, cap, "%s", sonames[i]);
    lib = lib ? lib : open_packaged(out, cap);
    for (size_t i = 0; i < COUNT(sonames) && !lib; i++)
        if ((lib = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL)))
            snprintf(out, cap, "%s", sonames[i]);
    for (size_t h = 0; h < COUNT(homes) && !lib; h++)
        for (size_t i = 0; homes[h] && homes[h][0] && i < COUNT(below_home) && !lib; i++) {
            int n = snprintf(out, cap, "%s/%s/libcupti.so", homes[h], below_home[i]);
            lib = n > 0 && (size_t)n < cap ? dlopen(out, RTLD_NOW | RTLD_LOCAL) : NULL;
        }
    const struct link_map *map = NULL;
    if (lib && dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
        snprintf(out, cap, "%s", map->l_name);
    if (!lib && cap)
        out[0] = 0;
    return lib;
}

void cupti_library_find(char *out, size_t cap)
{
    void *lib = open_any(out, cap);
    if (lib)
        dlclose(lib);
}

static int take_cupti_symbols(cupti_library *l, void *lib)
{
    const vp_symbol table[] = {
        {&l->version, "cuptiGetVersion", false},
        {&l->timestamp, "cuptiGetTimestamp", false},
        {&l->register_callbacks, "cuptiActivityRegisterCallbacks", false},
        {&l->enable, "cuptiActivityEnable", false},
        {&l->disable, "cuptiActivityDisable", false},
        {&l->flush, "cuptiActivityFlushAll", false},
        {&l->next_record, "cuptiActivityGetNextRecord", false},
        {&l->dropped, "cuptiActivityGetNumDroppedRecords", false},
        {&l->result_string, "cuptiGetResultString", true},
        {&l->register_timestamp, "cuptiActivityRegisterTimestampCallback", true},
        {&l->thread_ids, "cuptiSetThreadIdType", true},
        {&l->subscribe, "cuptiSubscribe", true},
        {&l->unsubscribe, "cuptiUnsubscribe", true},
        {&l->call_name, "cuptiGetCallbackName", true},
    };
    const char *lacks = vp_take_symbols(lib, table, COUNT(table));
    return lacks ? vp_fail(VP_EGPU_UNAVAILABLE, "this CUPTI has no %s", lacks) : 0;
}

int cupti_library_load(cupti_library *out, const char *path)
{
    char found[VP_PATH_MAX];
    uint32_t version = 0;
    cupti_library l = {0};
    void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : open_any(found, sizeof found);
    if (!lib)
        return vp_fail(VP_EGPU_UNAVAILABLE,
                       "cannot load libcupti.so; install CUPTI with CUDA, add its directory to "
                       "LD_LIBRARY_PATH, or pip install nvidia-cuda-cupti");
    int rc = take_cupti_symbols(&l, lib);
    if (rc == 0 && l.version(&version) != CUPTI_OK)
        rc = vp_fail(VP_EGPU_UNAVAILABLE, "CUPTI returns no version");
    l.newer = version > VERSION_MAX ? version : 0;
    if (rc < 0) {
        dlclose(lib);
        return vp_fail_at(rc, path ? path : found, -1, -1);
    }
    *out = l;
    return 0;
}
