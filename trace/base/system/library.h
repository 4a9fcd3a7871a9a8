/* Functions of libraries that are loaded where they are installed, and not linked. Everyone may
 * include this header; whoever opened a library closes it, and a vp_library stays open. */
#ifndef VP_BASE_LIBRARY_H
#define VP_BASE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct vp_symbol {
    void *slot; /* a function pointer; NULL afterwards where the library lacks it */
    const char *name;
    bool optional;
} vp_symbol;

/* Fills the slots. The first name that the library lacks and that is not optional; NULL: none. */
const char *vp_take_symbols(void *library, const vp_symbol *table, size_t n);

/* A library that this program needs for some of what it does. A static object. */
typedef struct vp_library {
    const char *soname;
    pthread_mutex_t lock;
    bool loaded;
} vp_library;

#define VP_LIBRARY(soname)                                                                         \
    {                                                                                              \
        soname, PTHREAD_MUTEX_INITIALIZER, false                                                   \
    }

/* Loads it with all functions of the table; on any thread, and nothing the second time.
 * VP_EUNSUPPORTED: it is not installed, or of another version. */
int vp_library_load(vp_library *library, const vp_symbol *table, size_t n);

#endif
