/* Functions of libraries that are loaded where they are installed, and not linked. Everyone may
 * include this header; whoever opened the library closes it. */
#ifndef VP_BASE_LIBRARY_H
#define VP_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct vp_symbol {
    void *slot; /* a function pointer; NULL afterwards where the library lacks it */
    const char *name;
    bool optional;
} vp_symbol;

/* Fills the slots. The first name that the library lacks and that is not optional; NULL: none. */
const char *vp_take_symbols(void *library, const vp_symbol *table, size_t n);

#endif
