/* What the files of the extension share: the state of one module. Included by them alone. */
#ifndef VP_PYTHON_NATIVE_H
#define VP_PYTHON_NATIVE_H

#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include "view_profile_capture.h"

/* Names that zones were called lately, so that a literal costs one comparison. Direct-mapped by the
 * address of the string, which is kept alive: its address is then no other string's. */
enum { NAMES_KEPT = 1024 };

typedef struct native {
    bool others; /* zones call open_others */
    PyObject *open_others, *wrap, *log, *error;
    PyObject *trace_me,
        *trace_on;          /* JAX's zone, and whether it records; NULL before it is loaded */
    PyObject *enter, *exit; /* "__enter__", "__exit__" */
    PyTypeObject *zone;
    struct {
        PyObject *text;
        uint32_t id;
        vp__site *site;
    } names[NAMES_KEPT];
} native;

/* *place becomes `value`, a reference that is handed over; what was there is let go last. */
static inline void native_set(PyObject **place, PyObject *value)
{
    PyObject *before = *place;
    *place = value;
    Py_XDECREF(before);
}

#endif
