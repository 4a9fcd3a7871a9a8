/* Python's strings as the names and args of zones. */
#ifndef VP_PYTHON_NAMES_H
#define VP_PYTHON_NAMES_H

#include "native.h"

/* Its number is 0, "(no name)", where there is no room. Never raises: a lone surrogate or a NUL is
 * written as an escape. */
named name_of(native *m, PyObject *text);
void names_forget(native *m);
/* A zone that ends now, with the first 15 of these args: what is no number is noted as its text.
 * Never raises. */
void zone_with_args(uint32_t name, uint64_t start, uint32_t generation, PyObject *args);
/* The UTF-8 of a string in memory that PyMem_Free frees; NULL and no error where there is none. */
char *text_of(PyObject *text);

#endif
