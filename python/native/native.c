/* view_profile._native: zones, steps and recordings of view_profile_capture.h for Python, at the
 * cost of a call into C. Written against the limited API of 3.10, so that one file serves all later
 * versions; a free-threaded one has a file of its own. Everything a module owns lies in its state;
 * a zone holds a reference to its type, which holds the module. What only Python can do (schedules,
 * other profilers) stands in the package. */
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#include "calls.h"
#include "names.h"

/* ---- A zone: with annotate("forward", batch=8): … ---------------------------------------------
 */

/* What few zones have: the same zone for JAX's and PyTorch's profilers, entered, and the entry
 * around this one where a zone was entered again before its end. */
typedef struct more {
    PyObject *others; /* a context manager; NULL: none */
    struct more *outer;
    uint64_t outer_start;
    uint32_t outer_generation;
} more;

typedef struct zone {
    PyObject_HEAD PyObject *name, *args; /* args: a dict, or NULL */
    uint64_t start;
    uint32_t generation; /* of the recording that was on; 0: none was */
    uint32_t open;       /* how often it was entered and not left */
    more *more;          /* NULL: none of that */
} zone;

/* The state of the interpreter that came first, which needs no call to be found, and its type of
 * zones: who has that is of this interpreter, which may have a lock of its own, and end. Whether
 * the zones of any ask for other profilers. */
static native *first;
static PyTypeObject *first_type;
static bool asking;

static native *state_of(PyTypeObject *type)
{
    return VP__LOAD(first_type) == type ? VP__LOAD(first) : PyType_GetModuleState(type);
}

/* Zones of the first interpreter that were let go, empty, which the next ones are made of: a with
 * statement then asks for no memory, a tenth of what it costs. Who has the interpreter's lock has
 * them; without such a lock there are none. */
enum { SPARE_MAX = 16 };
#ifndef Py_GIL_DISABLED
static zone *spare[SPARE_MAX];
static unsigned spare_count;
#endif

static zone *take_zone(PyTypeObject *type)
{
#ifndef Py_GIL_DISABLED
    if (VP__LOAD(first_type) == type && spare_count)
        return (zone *)PyObject_Init((PyObject *)spare[--spare_count], type);
#endif
    return (zone *)PyType_GenericAlloc(type, 0);
}

static void give_zone(zone *z, PyTypeObject *type)
{
#ifndef Py_GIL_DISABLED
    if (VP__LOAD(first_type) == type && spare_count < SPARE_MAX) {
        z->args = NULL;
        z->more = NULL;
        z->generation = z->open = 0;
        spare[spare_count++] = z;
        return;
    }
#endif
    (void)type;
    PyObject_Free(z);
}

/* Before the interpreter whose they are ends. */
static void free_spares(void)
{
#ifndef Py_GIL_DISABLED
    while (spare_count)
        PyObject_Free(spare[--spare_count]);
#endif
}

static PyObject *zone_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (Py_SIZE(args) != 1) {
        PyErr_SetString(PyExc_TypeError, "annotate(name, **args) takes one name");
        return NULL;
    }
    PyObject *name = PyTuple_GetItem(args, 0);
    if (Py_TYPE(name) != &PyUnicode_Type && !PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "annotate: the name must be a string, not %R", Py_TYPE(name));
        return NULL;
    }
    zone *z = take_zone(type);
    if (!z)
        return NULL;
    z->name = Py_NewRef(name);
    if (kwargs && PyDict_Size(kwargs) > 0)
        z->args = Py_NewRef(kwargs);
    return (PyObject *)z;
}

static void zone_dealloc(zone *z)
{
    PyTypeObject *type = Py_TYPE(z);
    for (more *e = z->more, *next; e; e = next) {
        next = e->outer;
        Py_XDECREF(e->others);
        PyMem_Free(e);
    }
    Py_DECREF(z->name);
    Py_XDECREF(z->args);
    give_zone(z, type);
    Py_DECREF(type);
}

#define SELDOM __attribute__((cold, noinline))

/* Lays the entry that was there aside for the one that begins, with that one's `others`. */
SELDOM static bool need_more(zone *z, PyObject *others)
{
    more *e = PyMem_Calloc(1, sizeof *e);
    if (!e)
        return false;
    *e = (more){others, z->more, z->start, z->generation};
    z->more = e;
    return true;
}

/* JAX's zone of this one, not entered; NULL: it does not record, or it cannot be made. */
static PyObject *make_trace_me(zone *z, native *m)
{
    PyObject *trace_me = native_get(&m->trace_me), *made = NULL;
    PyObject *on = trace_me ? PyObject_CallNoArgs(native_get(&m->trace_on)) : NULL;
    if (on == Py_True && z->args) {
        PyObject *one = PyTuple_Pack(1, z->name);
        made = one ? PyObject_Call(trace_me, one, z->args) : NULL;
        Py_XDECREF(one);
    } else if (on == Py_True) {
        made = PyObject_CallFunctionObjArgs(trace_me, z->name, NULL);
    }
    Py_XDECREF(on);
    return made;
}

/* The zone in the other profilers that are on, entered. A failure of theirs is not the program's.
 * They may let another thread run, so nothing of the zone has been changed yet. */
SELDOM static PyObject *enter_others(zone *z, native *m)
{
    PyObject *made = make_trace_me(z, m), *open = native_get(&m->open_others);
    if (!made && open) {
        PyErr_Clear();
        made = PyObject_CallFunctionObjArgs(open, z->name, z->args ? z->args : Py_None, NULL);
    }
    PyObject *entered =
        made && made != Py_None ? PyObject_CallMethodObjArgs(made, m->enter, NULL) : NULL;
    PyErr_Clear();
    if (!entered)
        Py_CLEAR(made);
    Py_XDECREF(entered);
    return made;
}

SELDOM static void exit_others(PyObject *others, native *m)
{
    PyObject *r = PyObject_CallMethodObjArgs(others, m->exit, Py_None, Py_None, Py_None, NULL);
    PyErr_Clear();
    Py_XDECREF(r);
    Py_DECREF(others);
}

static PyObject *zone_enter(PyObject *self, PyObject *unused)
{
    zone *z = (zone *)self;
    PyObject *others = NULL;
    bool fits;
    (void)unused;
    if (VP__LOAD(asking) && VP__LOAD(state_of(Py_TYPE(self))->others))
        others = enter_others(z, state_of(Py_TYPE(self)));
    ALONE(self);
    fits = (!z->open && !others) || need_more(z, others);
    if (fits) {
        z->open++;
        z->generation = vp__generation();
        if (z->generation)
            z->start = vp__ticks(z->generation);
    }
    TOGETHER;
    if (fits)
        return Py_NewRef(self);
    if (others)
        exit_others(others, state_of(Py_TYPE(self)));
    return PyErr_NoMemory();
}

static void record_zone(zone *z, native *m, uint64_t start, uint32_t generation)
{
    if (z->args)
        zone_with_args(name_of(m, z->name).id, start, generation, z->args);
    else if (!vp__zone_plain(name_of(m, z->name).site, start, generation))
        vp__zone(name_of(m, z->name).id, start, generation);
}

/* Goes on with the entry around this one; what of it lay aside is the caller's. */
SELDOM static more *take_more(zone *z)
{
    more *e = z->more;
    z->more = e->outer;
    z->start = e->outer_start;
    z->generation = e->outer_generation;
    return e;
}

static PyObject *zone_exit(PyObject *self, PyObject *const *exception, Py_ssize_t n)
{
    zone *z = (zone *)self;
    uint64_t start = 0;
    uint32_t generation = 0;
    more *over = NULL;
    (void)exception;
    (void)n;
    ALONE(self);
    if (z->open) {
        z->open--;
        start = z->start;
        generation = z->generation;
        if (z->more)
            over = take_more(z);
    }
    TOGETHER;
    if (generation && generation == vp__generation())
        record_zone(z, state_of(Py_TYPE(self)), start, generation);
    if (over) {
        if (over->others)
            exit_others(over->others, state_of(Py_TYPE(self)));
        PyMem_Free(over);
    }
    Py_RETURN_NONE;
}

/* @annotate("name"): what wraps a function, coroutine or generator stands in Python. */
static PyObject *zone_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *fn = PyTuple_Size(args) == 1 && !kwargs ? PyTuple_GetItem(args, 0) : NULL;
    if (!fn || !PyCallable_Check(fn)) {
        PyErr_SetString(PyExc_TypeError, "annotate(name) wraps one function");
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(state_of(Py_TYPE(self))->wrap, self, fn, NULL);
}

static PyMethodDef zone_methods[] = {
    {"__enter__", zone_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))zone_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef zone_members[] = {
    {"name", T_OBJECT, offsetof(zone, name), READONLY, "name of the zone"},
    {"args", T_OBJECT, offsetof(zone, args), READONLY, "arguments of the zone, or None"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot zone_slots[] = {
    {Py_tp_doc, "annotate(name, **args): record a zone, as a context manager or as a decorator of "
                "a function, coroutine or generator."},
    {Py_tp_new, zone_new},
    {Py_tp_dealloc, zone_dealloc},
    {Py_tp_call, zone_call},
    {Py_tp_methods, zone_methods},
    {Py_tp_members, zone_members},
    {0, NULL},
};
static PyType_Spec zone_spec = {
    .name = "view_profile.annotate",
    .basicsize = sizeof(zone),
    .flags = Py_TPFLAGS_DEFAULT, /* no base: a zone finds its module by its type */
    .slots = zone_slots,
};

/* ---- The module -------------------------------------------------------------------------------
 */

/* hooks(open, wrap): Python's half of a zone. open(name, args) is called while `others` is on and
 * JAX is not, and makes the zone of another profiler that is to be entered, or None. */
static PyObject *set_hooks(PyObject *module, PyObject *args)
{
    native *m = PyModule_GetState(module);
    PyObject *open, *wrap;
    if (!PyArg_ParseTuple(args, "OO", &open, &wrap))
        return NULL;
    native_set(&m->open_others, Py_NewRef(open));
    native_set(&m->wrap, Py_NewRef(wrap));
    Py_RETURN_NONE;
}

/* jax(TraceMe, is_enabled): its zones are made from here on. */
static PyObject *set_jax(PyObject *module, PyObject *args)
{
    native *m = PyModule_GetState(module);
    PyObject *trace_me, *on;
    if (!PyArg_ParseTuple(args, "OO", &trace_me, &on))
        return NULL;
    native_set(&m->trace_on, Py_NewRef(on));
    native_set(&m->trace_me, Py_NewRef(trace_me));
    Py_RETURN_NONE;
}

/* others(bool): whether zones ask for the other profilers. */
static PyObject *set_others(PyObject *module, PyObject *on)
{
    native *m = PyModule_GetState(module);
    int yes = PyObject_IsTrue(on);
    if (yes < 0)
        return NULL;
    VP__STORE(m->others, yes);
    VP__STORE(asking, yes || (asking && m != first)); /* another interpreter's may still ask */
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"hooks", set_hooks, METH_VARARGS, NULL},
    {"jax", set_jax, METH_VARARGS, NULL},
    {"others", set_others, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static int native_exec(PyObject *module)
{
    native *m = PyModule_GetState(module), *none = NULL;
    PyObject *type = PyType_FromModuleAndSpec(module, &zone_spec, NULL);
    if (!type)
        return -1;
    m->zone = (PyTypeObject *)type;
    m->enter = PyUnicode_InternFromString("__enter__");
    m->exit = PyUnicode_InternFromString("__exit__");
    if (__atomic_compare_exchange_n(&first, &none, m, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        VP__STORE(first_type, m->zone);
    if (!m->enter || !m->exit || PyModule_AddObjectRef(module, "annotate", type) < 0)
        return -1;
    return calls_start(module, m);
}

static int native_traverse(PyObject *module, visitproc visit, void *arg)
{
    native *m = PyModule_GetState(module);
    Py_VISIT(m->open_others);
    Py_VISIT(m->wrap);
    Py_VISIT(m->trace_me);
    Py_VISIT(m->trace_on);
    Py_VISIT(m->log);
    Py_VISIT(m->error);
    Py_VISIT(m->zone);
    return 0;
}

static int native_clear(PyObject *module)
{
    native *m = PyModule_GetState(module);
    VP__STORE(m->others, false);
    if (VP__LOAD(first) == m) {
        free_spares();
        VP__STORE(first_type, NULL);
        VP__STORE(first, NULL);
    }
    Py_CLEAR(m->open_others);
    Py_CLEAR(m->wrap);
    Py_CLEAR(m->trace_me);
    Py_CLEAR(m->trace_on);
    Py_CLEAR(m->log);
    Py_CLEAR(m->error);
    Py_CLEAR(m->enter);
    Py_CLEAR(m->exit);
    Py_CLEAR(m->zone);
    names_forget(m);
    return 0;
}

static void native_free(void *module)
{
    (void)native_clear(module);
}

/* Interpreters with a lock of their own: Py_mod_multiple_interpreters and
 * Py_MOD_PER_INTERPRETER_GIL_SUPPORTED, which Pythons before 3.12, and their headers, do not know.
 */
enum { EACH_INTERPRETER = 3 };
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, native_exec},
    {EACH_INTERPRETER, (void *)2},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static PyModuleDef_Slot slots_before_3_12[] = {{Py_mod_exec, native_exec}, {0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "view_profile._native",
    .m_doc = "The recorder of view_profile.",
    .m_size = sizeof(native),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = native_traverse,
    .m_clear = native_clear,
    .m_free = native_free,
};

PyMODINIT_FUNC PyInit__native(void)
{
    const char *minor = strchr(Py_GetVersion(), '.');
    if (!minor || strtol(minor + 1, NULL, 10) < 12)
        definition.m_slots = slots_before_3_12;
    return PyModuleDef_Init(&definition);
}
