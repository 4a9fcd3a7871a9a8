/* What the files of the extension share: the state of one module. */
#ifndef VP_PYTHON_NATIVE_H
#define VP_PYTHON_NATIVE_H

#include <pyconfig.h>
#ifndef Py_GIL_DISABLED /* a free-threaded Python has no limited API */
#define Py_LIMITED_API 0x030A0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include "view_profile_capture.h"

/* Without a lock around all of Python, ALONE(object) to TOGETHER is one thread's at a time. */
#ifdef Py_GIL_DISABLED
#define ALONE(object) Py_BEGIN_CRITICAL_SECTION(object)
#define TOGETHER Py_END_CRITICAL_SECTION()
#else
#define ALONE(object) {
#define TOGETHER }
#endif

/* A name that zones have: the number of vp_name, and the place that they are recorded as. */
typedef struct named {
    uint32_t id;
    vp__site *site;
} named;

/* Those that zones were called lately, so that a literal costs one comparison. Direct-mapped by the
 * address of the string, which is kept alive: its address is then no other string's. */
enum { NAMES_KEPT = 1024 };

typedef struct native {
    bool others; /* zones call open_others */
    PyObject *open_others, *wrap, *log, *error;
    PyObject *trace_me,
        *trace_on;          /* JAX's zone, and whether it records; NULL before it is loaded */
    PyObject *enter, *exit; /* "__enter__", "__exit__" */
    PyTypeObject *zone;
#ifndef Py_GIL_DISABLED
    struct {
        PyObject *text;
        named name;
    } names[NAMES_KEPT];
#endif
} native;

static inline PyObject *native_get(PyObject *const *place)
{
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/* *place becomes `value`, a reference that is handed over; what was there is let go last, or, where
 * another thread may be using it, never: these are set once or twice in a process. */
static inline void native_set(PyObject **place, PyObject *value)
{
    PyObject *before = native_get(place);
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
#ifndef Py_GIL_DISABLED
    Py_XDECREF(before);
#else
    (void)before;
#endif
}

#endif
