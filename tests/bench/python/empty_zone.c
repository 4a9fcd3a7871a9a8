/* An empty context manager as a C extension: what a zone from Python cannot be cheaper than. Built
 * by scripts/bench python, of the same shape as python/native/native.c: made for each use, with a
 * name. */
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
    PyObject_HEAD PyObject *name;
} empty;

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    empty *e = (empty *)PyType_GenericAlloc(type, 0);
    if (e)
        e->name = Py_NewRef(PyTuple_GetItem(args, 0));
    return (PyObject *)e;
}

static void dealloc(empty *e)
{
    PyTypeObject *type = Py_TYPE(e);
    Py_XDECREF(e->name);
    PyObject_Free(e);
    Py_DECREF(type);
}

static PyObject *enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *leave(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    (void)args;
    (void)n;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_new, make}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods}, {0, NULL}};
static PyType_Spec spec = {"empty_zone.empty", sizeof(empty), 0, Py_TPFLAGS_DEFAULT, slots};

static int start(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    return type ? PyModule_AddObjectRef(module, "empty", type) : -1;
}

static PyModuleDef_Slot phases[] = {{Py_mod_exec, start}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "empty_zone",
                                        .m_slots = phases};

PyMODINIT_FUNC PyInit_empty_zone(void)
{
    return PyModuleDef_Init(&definition);
}
