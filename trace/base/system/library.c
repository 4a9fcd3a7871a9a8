#include "trace/base/system/library.h"

#include <dlfcn.h>
#include <string.h>

#include "trace/base/err.h"

const char *vp_take_symbols(void *library, const vp_symbol *table, size_t n)
{
    const char *lacks = NULL;
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(library, table[i].name);
        /* POSIX allows a function's address in a data pointer; ISO C allows only copying its
         * bytes. */
        memcpy(table[i].slot, &symbol, sizeof symbol);
        if (!symbol && !table[i].optional && !lacks)
            lacks = table[i].name;
    }
    return lacks;
}

static int load_library_symbols(const char *soname, const vp_symbol *table, size_t n)
{
    void *handle = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return vp_fail(VP_EUNSUPPORTED, "%s cannot be loaded: is it installed?", soname);
    const char *lacks = vp_take_symbols(handle, table, n);
    return lacks ? vp_fail(VP_EUNSUPPORTED, "%s lacks %s: is it another version?", soname, lacks)
                 : 0;
}

int vp_library_load(vp_library *library, const vp_symbol *table, size_t n)
{
    pthread_mutex_lock(&library->lock);
    int rc = library->loaded ? 0 : load_library_symbols(library->soname, table, n);
    library->loaded = !rc;
    pthread_mutex_unlock(&library->lock);
    return rc;
}
