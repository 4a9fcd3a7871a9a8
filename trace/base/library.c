#include "trace/base/library.h"

#include <dlfcn.h>
#include <string.h>

const char *vp_take_symbols(void *library, const vp_symbol *table, size_t n)
{
    const char *lacks = NULL;
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(library, table[i].name);
        /* POSIX lets a data pointer carry a function's address; ISO C only by its bytes. */
        memcpy(table[i].slot, &symbol, sizeof symbol);
        if (!symbol && !table[i].optional && !lacks)
            lacks = table[i].name;
    }
    return lacks;
}
