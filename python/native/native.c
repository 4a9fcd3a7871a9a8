/* view_profile._native: zones, steps and recordings of view_profile_capture.h for Python, at the
 * cost of a call into C. Written against the limited API of 3.10, so that one file serves all later
 * versions. Everything a module owns lies in its state; a zone holds a reference to its type, which
 * holds the module. What only Python can do (schedules, other profilers) stands in the package. */
#include "native.h"

#include <structmember.h>

#include "calls.h"
#include "names.h"

/* ---- A zone: with annotate("forward", batch=8): … ---------------------------------------------
 */

/* One entry of a zone that is open. A zone that is entered again before its end keeps the outer
 * ones in `outer`. */
typedef struct entry {
    uint64_t start;
    uint32_t generation; /* of the recording that was on; 0: none was */
    PyObject *others;    /* the same zone for JAX's and PyTorch's profilers, entered; NULL: none */
    struct entry *outer;
} entry;

typedef struct zone {
    PyObject_HEAD native *m;
    PyObject *name, *args; /* args: a dict, or NULL */
    entry now;
    bool open;
} zone;

static PyObject *zone_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *name;
    if (PyTuple_Size(args) != 1) {
        PyErr_SetString(PyExc_TypeError, "annotate(name, **args) takes one name");
        return NULL;
    }
    name = PyTuple_GetItem(args, 0);
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "annotate: the name must be a string, not %R", Py_TYPE(name));
        return NULL;
    }
    zone *z = (zone *)PyType_GenericAlloc(type, 0);
    if (!z)
        return NULL;
    z->m = PyType_GetModuleState(type);
    z->name = Py_NewRef(name);
    if (kwargs && PyDict_Size(kwargs) > 0)
        z->args = Py_NewRef(kwargs);
    return (PyObject *)z;
}

static void zone_dealloc(zone *z)
{
    PyTypeObject *type = Py_TYPE(z);
    for (entry *e = z->now.outer, *next; e; e = next) {
        next = e->outer;
        Py_XDECREF(e->others);
        PyMem_Free(e);
    }
    Py_XDECREF(z->now.others);
    Py_XDECREF(z->name);
    Py_XDECREF(z->args);
    PyObject_Free(z);
    Py_DECREF(type);
}

/* Keeps the entry that is open, since another one begins. */
static int push(zone *z)
{
    entry *e = PyMem_Malloc(sizeof *e);
    if (!e) {
        PyErr_NoMemory();
        return -1;
    }
    *e = z->now;
    z->now = (entry){.outer = e};
    return 0;
}

static void pop(zone *z)
{
    entry *e = z->now.outer;
    z->open = e != NULL;
    z->now = e ? *e : (entry){0};
    PyMem_Free(e);
}

/* Enters the zone in the other profilers that are on. A failure of theirs is not the program's. */
static void enter_others(zone *z)
{
    PyObject *made = z->m->open_others
                         ? PyObject_CallFunctionObjArgs(z->m->open_others, z->name,
                                                        z->args ? z->args : Py_None, NULL)
                         : NULL;
    if (!made)
        PyErr_Clear();
    else if (made == Py_None)
        Py_DECREF(made);
    else
        z->now.others = made;
}

static void exit_others(zone *z)
{
    PyObject *r = PyObject_CallFunctionObjArgs(z->m->close_others, z->now.others, NULL);
    Py_CLEAR(z->now.others);
    if (!r)
        PyErr_Clear();
    Py_XDECREF(r);
}

static PyObject *zone_enter(PyObject *self, PyObject *unused)
{
    zone *z = (zone *)self;
    uint32_t generation = vp__generation();
    (void)unused;
    if (z->open && push(z) < 0)
        return NULL;
    z->open = true;
    if (z->m->others)
        enter_others(z);
    z->now.generation = generation;
    if (generation)
        z->now.start = vp__ticks(generation);
    return Py_NewRef(self);
}

static PyObject *zone_exit(PyObject *self, PyObject *const *exception, Py_ssize_t n)
{
    zone *z = (zone *)self;
    (void)exception;
    (void)n;
    if (!z->open)
        Py_RETURN_NONE;
    if (z->now.generation && z->now.generation == vp__generation()) {
        uint32_t name = name_of(z->m, z->name);
        if (z->args)
            zone_with_args(name, z->now.start, z->now.generation, z->args);
        else
            vp__zone(name, z->now.start, z->now.generation);
    }
    if (z->now.others)
        exit_others(z);
    if (z->now.outer)
        pop(z);
    else
        z->open = false;
    Py_RETURN_NONE;
}

/* @annotate("name"): what wraps a function, coroutine or generator stands in Python. */
static PyObject *zone_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    zone *z = (zone *)self;
    PyObject *fn = PyTuple_Size(args) == 1 && !kwargs ? PyTuple_GetItem(args, 0) : NULL;
    if (!fn || !PyCallable_Check(fn)) {
        PyErr_SetString(PyExc_TypeError, "annotate(name) wraps one function");
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(z->m->wrap, self, fn, NULL);
}

static PyMethodDef zone_methods[] = {
    {"__enter__", zone_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))zone_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef zone_members[] = {
    {"name", T_OBJECT, offsetof(zone, name), READONLY, "what the zone is called"},
    {"args", T_OBJECT, offsetof(zone, args), READONLY, "what is noted with it, or None"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot zone_slots[] = {
    {Py_tp_doc, "annotate(name, **args): a zone of this name in the profile, as a context manager "
                "or around a function, coroutine or generator."},
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
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = zone_slots,
};

/* ---- The module -------------------------------------------------------------------------------
 */

/* hooks(open, close, wrap): Python's half of a zone. */
static PyObject *set_hooks(PyObject *module, PyObject *args)
{
    native *m = PyModule_GetState(module);
    PyObject *open, *close, *wrap;
    if (!PyArg_ParseTuple(args, "OOO", &open, &close, &wrap))
        return NULL;
    native_set(&m->open_others, Py_NewRef(open));
    native_set(&m->close_others, Py_NewRef(close));
    native_set(&m->wrap, Py_NewRef(wrap));
    Py_RETURN_NONE;
}

/* others(bool): whether zones ask for the other profilers. */
static PyObject *set_others(PyObject *module, PyObject *on)
{
    native *m = PyModule_GetState(module);
    int yes = PyObject_IsTrue(on);
    if (yes < 0)
        return NULL;
    m->others = yes;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"hooks", set_hooks, METH_VARARGS, NULL},
    {"others", set_others, METH_O, NULL},
    CALLS,
    {NULL, NULL, 0, NULL},
};

static int start(PyObject *module)
{
    native *m = PyModule_GetState(module);
    PyObject *type = PyType_FromModuleAndSpec(module, &zone_spec, NULL);
    if (!type)
        return -1;
    int rc = PyModule_AddObjectRef(module, "annotate", type);
    Py_DECREF(type);
    return rc < 0 ? rc : calls_start(module, m);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    native *m = PyModule_GetState(module);
    Py_VISIT(m->open_others);
    Py_VISIT(m->close_others);
    Py_VISIT(m->wrap);
    Py_VISIT(m->log);
    Py_VISIT(m->error);
    return 0;
}

static int clear(PyObject *module)
{
    native *m = PyModule_GetState(module);
    m->others = false;
    Py_CLEAR(m->open_others);
    Py_CLEAR(m->close_others);
    Py_CLEAR(m->wrap);
    Py_CLEAR(m->log);
    Py_CLEAR(m->error);
    names_forget(m);
    return 0;
}

static void release(void *module)
{
    (void)clear(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, start}, {0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "view_profile._native",
    .m_doc = "The recorder of view_profile.",
    .m_size = sizeof(native),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
