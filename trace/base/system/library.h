/* Functions of libraries that are loaded at run time if they are installed, not linked. The caller
 * closes a library that it opened; a vp_library stays open for the life of the process. */
#ifndef VP_BASE_LIBRARY_H
#define VP_BASE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct vp_symbol {
    void *slot; /* pointer to a function pointer, which becomes NULL if the library lacks the
                   function */
    const char *name;
    bool optional;
} vp_symbol;

/* Fills the slots. Returns the first missing name that is not optional, or NULL. */
const char *vp_take_symbols(void *library, const vp_symbol *table, size_t n);

/* A library that only some features need. A static object. */
typedef struct vp_library {
    const char *soname;
    pthread_mutex_t lock;
    bool loaded;
} vp_library;

#define VP_LIBRARY(soname)                                                                         \
    {                                                                                              \
        soname, PTHREAD_MUTEX_INITIALIZER, false                                                   \
    }

/* Loads the library and all functions of the table, once; thread-safe. VP_EUNSUPPORTED: not
 * installed, or another version. */
int vp_library_load(vp_library *library, const vp_symbol *table, size_t n);

#endif
