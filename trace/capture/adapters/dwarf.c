#include "trace/capture/adapters/dwarf.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/system/library.h"
#include "trace/capture/adapters/symbol.h"

#define SONAME "libdw.so.1"
#define IMAGES_MAX 64u
#define ID_MAX 64u

/* From elfutils/libdwfl.h; the objects behind the pointers belong to libdw. */
typedef struct dw_callbacks {
    void *find_elf, *find_debuginfo, *section_address;
    char **debuginfo_path;
} dw_callbacks;
typedef struct libdw {
    void *(*begin)(const dw_callbacks *callbacks);
    void (*report_begin)(void *dwfl);
    void *(*report)(void *dwfl, const char *name, const char *path, int fd, uint64_t base,
                    bool add_vaddr);
    int (*report_end)(void *dwfl, void *removed, void *arg);
    int (*build_id)(void *module, const unsigned char **bits, uint64_t *vaddr);
    void *(*source)(void *module, uint64_t address);
    const char *(*info)(void *at, uint64_t *address, int *line, int *column, uint64_t *mtime,
                        uint64_t *length);
    /* finds separate debug files by build id on this machine; libdw's default search queries
     * servers */
    void *local_debuginfo;
} libdw;

/* A file as loaded in this process. */
typedef struct image {
    uintptr_t bias;
    void *module; /* a Dwfl_Module; NULL: none is usable */
} image;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static libdw dw;
static dw_callbacks callbacks;
static void *dwfl;
static image images[IMAGES_MAX];
static unsigned image_count;

static void dwarf_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void dwarf_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static bool take_libdw_symbols(libdw *out, void *lib)
{
    const vp_symbol table[] = {
        {&out->begin, "dwfl_begin", false},
        {&out->report_begin, "dwfl_report_begin_add", false},
        {&out->report, "dwfl_report_elf", false},
        {&out->report_end, "dwfl_report_end", false},
        {&out->build_id, "dwfl_module_build_id", false},
        {&out->source, "dwfl_module_getsrc", false},
        {&out->info, "dwfl_lineinfo", false},
        {&out->local_debuginfo, "dwfl_build_id_find_debuginfo", false},
    };
    return !vp_take_symbols(lib, table, sizeof table / sizeof *table);
}

static void load_libdw(void)
{
    void *lib = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!lib || !take_libdw_symbols(&dw, lib) ||
        pthread_atfork(dwarf_before_fork, dwarf_after_fork, dwarf_after_fork) != 0)
        return;
    callbacks.find_debuginfo = dw.local_debuginfo;
    dwfl = dw.begin(&callbacks);
}

void dwarf_find(char *out, size_t cap)
{
    const struct link_map *map = NULL;
    void *lib = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    snprintf(out, cap, "%s",
             lib && dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0] ? map->l_name
             : lib                                                                   ? SONAME
                                                                                     : "");
}

/* ---- Build ids of loaded files ---- */

typedef struct seen_id {
    uintptr_t bias;
    size_t n;
    unsigned char id[ID_MAX];
} seen_id;

static void take_id(seen_id *out, const char *p, size_t n)
{
    const ElfW(Nhdr) * note;
    while (n >= sizeof *note) {
        note = (const void *)p;
        size_t name = ((size_t)note->n_namesz + 3) & ~(size_t)3;
        size_t desc = ((size_t)note->n_descsz + 3) & ~(size_t)3, head = sizeof *note;
        if (name > n - head || desc > n - head - name)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(p + head, "GNU", 4) &&
            note->n_descsz <= ID_MAX) {
            out->n = note->n_descsz;
            memcpy(out->id, p + head + name, out->n);
            return;
        }
        p += head + name + desc;
        n -= head + name + desc;
    }
}

static int find_id(struct dl_phdr_info *info, size_t size, void *ctx)
{
    seen_id *out = ctx;
    (void)size;
    if (info->dlpi_addr != out->bias)
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum && !out->n; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            take_id(out, (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                    info->dlpi_phdr[i].p_memsz);
    return 1;
}

/* ---- Sources --------------------------------------------------------------------------------- */

static bool is_loaded_one(void *module, const seen_id *id)
{
    const unsigned char *bits = NULL;
    uint64_t vaddr;
    int n = dw.build_id(module, &bits, &vaddr);
    return id->n && n > 0 && (size_t)n == id->n && !memcmp(bits, id->id, id->n);
}

static void *dwfl_report_module(const char *path, const seen_id *id)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    dw.report_begin(dwfl);
    void *module = dw.report(dwfl, path, path, fd, id->bias, true); /* takes ownership of fd */
    dw.report_end(dwfl, NULL, NULL);
    if (!module)
        close(fd);
    return module && is_loaded_one(module, id) ? module : NULL;
}

/* The caller holds the lock. */
static void *dwfl_module_of(const char *path, const seen_id *id)
{
    for (unsigned i = 0; i < image_count; i++)
        if (images[i].bias == id->bias)
            return images[i].module;
    if (image_count == IMAGES_MAX)
        return NULL;
    void *module = dwfl_report_module(path, id);
    images[image_count++] = (image){id->bias, module};
    return module;
}

/* Calls the dynamic linker before taking our lock: the linker has its own lock, and may hold it
 * when a constructor calls us. */
bool dwarf_source(char *file, size_t cap, uint32_t *line, void *function)
{
    Dl_info info;
    struct link_map *map = NULL;
    int number = 0;
    pthread_once(&once, load_libdw);
    if (!dwfl || !dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) || !map ||
        !info.dli_fname)
        return false;
    seen_id id = {.bias = map->l_addr};
    dl_iterate_phdr(find_id, &id);
    pthread_mutex_lock(&lock);
    void *module = dwfl_module_of(symbol_file(&info), &id);
    void *at = module ? dw.source(module, (uintptr_t)function) : NULL;
    const char *name = at ? dw.info(at, NULL, &number, NULL, NULL, NULL) : NULL;
    bool known = name && number > 0;
    if (known)
        snprintf(file, cap, "%s", name);
    pthread_mutex_unlock(&lock);
    *line = known ? (uint32_t)number : 0;
    return known;
}
