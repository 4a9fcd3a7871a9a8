#include "trace/capture/adapters/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

/* The last examined file: functions of one file usually follow each other. */
typedef struct image {
    void *base; /* load address of the file; NULL: none */
    const uint8_t *p;
    size_t n;
    const ElfW(Sym) * symbols;
    size_t count;
    const char *names;
    size_t names_n;
    uintptr_t bias;
} image;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static image last;

static void symbol_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void symbol_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void symbol_install(void)
{
    pthread_atfork(symbol_before_fork, symbol_after_fork, symbol_after_fork);
}

/* `count` elements of `size` bytes at `offset`; NULL: not within the file. */
static const void *image_part(const image *m, uint64_t offset, uint64_t count, size_t size)
{
    if (offset > m->n || count > (m->n - offset) / size || offset % sizeof(uint64_t))
        return NULL;
    return m->p + offset;
}

static const ElfW(Shdr) * image_section(const image *m, const ElfW(Ehdr) * head, uint32_t i)
{
    const ElfW(Shdr) *all = image_part(m, head->e_shoff, head->e_shnum, sizeof *all);
    return all && i < head->e_shnum ? &all[i] : NULL;
}

static void find_symbols(image *m)
{
    const ElfW(Ehdr) *head = image_part(m, 0, 1, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof(ElfW(Shdr)))
        return;
    m->bias = head->e_type == ET_DYN ? (uintptr_t)m->base : 0;
    for (uint32_t i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *s = image_section(m, head, i);
        const ElfW(Shdr) *names =
            s && s->sh_type == SHT_SYMTAB ? image_section(m, head, s->sh_link) : NULL;
        if (!names || names->sh_offset > m->n || names->sh_size > m->n - names->sh_offset)
            continue;
        m->symbols =
            image_part(m, s->sh_offset, s->sh_size / sizeof *m->symbols, sizeof *m->symbols);
        m->count = m->symbols ? s->sh_size / sizeof *m->symbols : 0;
        m->names = (const char *)m->p + names->sh_offset;
        m->names_n = names->sh_size;
        return;
    }
}

/* The linker's name of the program itself may be invalid in the current directory. */
const char *symbol_file(const Dl_info *info)
{
    Dl_info entry;
    if (dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &entry) &&
        entry.dli_fbase == info->dli_fbase)
        return "/proc/self/exe";
    return info->dli_fname;
}

static void load_symbol_image(image *m, const Dl_info *info)
{
    struct stat st;
    if (m->p)
        munmap((void *)(uintptr_t)m->p, m->n);
    *m = (image){.base = info->dli_fbase};
    VP_CLEANUP(vp_fs_close) int fd = open(symbol_file(info), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
        return;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return;
    m->p = p;
    m->n = (size_t)st.st_size;
    find_symbols(m);
}

/* Searches the file's symbol table. The caller holds the lock; false: not found. */
static bool name_from_symbol_table(char *out, size_t cap, const Dl_info *info, uintptr_t function)
{
    if (last.base != info->dli_fbase)
        load_symbol_image(&last, info);
    for (size_t i = 0; i < last.count; i++) {
        const ElfW(Sym) *s = &last.symbols[i];
        if ((s->st_info & 0xf) != STT_FUNC || last.bias + s->st_value != function ||
            s->st_name >= last.names_n)
            continue;
        const char *name = last.names + s->st_name;
        size_t n = strnlen(name, last.names_n - s->st_name);
        snprintf(out, cap, "%.*s", n < cap ? (int)n : (int)cap - 1, name);
        return n > 0;
    }
    return false;
}

typedef char *demangle_fn(const char *mangled, char *out, size_t *n, int *status);

/* The demangler of the Itanium ABI: a C++ program has it loaded; else that of libstdc++, if
 * installed. Called without our lock: the dynamic linker has its own lock, and may hold it when a
 * constructor calls us. */
static demangle_fn *find_demangler(void)
{
    static void *_Atomic known;
    static _Atomic bool sought;
    demangle_fn *fn;
    void *symbol = known;
    if (!symbol && !sought) {
        symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
        void *lib = symbol ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        symbol = lib ? dlsym(lib, "__cxa_demangle") : symbol;
        known = symbol;
        sought = true;
    }
    memcpy(&fn, &symbol, sizeof fn);
    return fn;
}

/* Demangles a name; other names are unchanged. */
static void demangle_in_place(char *out, size_t cap)
{
    int status = -1;
    if (strncmp(out, "_Z", 2) != 0)
        return;
    demangle_fn *fn = find_demangler();
    char *plain = fn ? fn(out, NULL, NULL, &status) : NULL;
    if (plain && status == 0)
        snprintf(out, cap, "%s", plain);
    vp_free(plain);
}

static void mangled_name(char *out, size_t cap, void *function)
{
    Dl_info info;
    if (!dladdr(function, &info) || !info.dli_fname) {
        snprintf(out, cap, "%p", function);
        return;
    }
    if (info.dli_sname && info.dli_saddr == function) {
        snprintf(out, cap, "%s", info.dli_sname);
        return;
    }
    pthread_once(&once, symbol_install);
    pthread_mutex_lock(&lock);
    bool found = name_from_symbol_table(out, cap, &info, (uintptr_t)function);
    pthread_mutex_unlock(&lock);
    if (!found)
        snprintf(out, cap, "%s+0x%zx", vp_path_name(info.dli_fname),
                 (size_t)((char *)function - (char *)info.dli_fbase));
}

void symbol_name(char *out, size_t cap, void *function)
{
    mangled_name(out, cap, function);
    demangle_in_place(out, cap);
}
