/* The calls of the recorder that Python's half is built on. */
#ifndef VP_PYTHON_CALLS_H
#define VP_PYTHON_CALLS_H

#include "native.h"

PyObject *call_start(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *call_stop(PyObject *module, PyObject *args);
PyObject *call_past(PyObject *module, PyObject *args);
PyObject *call_active(PyObject *module, PyObject *unused);
PyObject *call_step_begin(PyObject *module, PyObject *args);
PyObject *call_step_end(PyObject *module, PyObject *unused);
PyObject *call_instant(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *call_counter(PyObject *module, PyObject *args);
PyObject *call_thread_name(PyObject *module, PyObject *name);
PyObject *call_meta(PyObject *module, PyObject *args);
PyObject *call_control(PyObject *module, PyObject *on);
PyObject *call_log(PyObject *module, PyObject *log);
PyObject *call_now(PyObject *module, PyObject *unused);

#define CALLS                                                                                      \
    {"start", (PyCFunction)(void (*)(void))call_start, METH_VARARGS | METH_KEYWORDS,               \
     "start(dir, host=None, pool_bytes=0, ring=False, duration_ms=0, in_memory=False, gpu=False) " \
     "-> (handle, run directory)"},                                                                \
        {"stop", call_stop, METH_VARARGS, "stop(handle) -> dict, once the files are written"},     \
        {"past", call_past, METH_VARARGS, "past(handle, seconds) -> dict"},                        \
        {"active", call_active, METH_NOARGS, "whether a recording is on"},                         \
        {"step_begin", call_step_begin, METH_VARARGS, "step_begin(name, number)"},                 \
        {"step_end", call_step_end, METH_NOARGS, "step_end()"},                                    \
        {"instant", (PyCFunction)(void (*)(void))call_instant, METH_VARARGS | METH_KEYWORDS,       \
         "instant(name, **args)"},                                                                 \
        {"counter", call_counter, METH_VARARGS, "counter(name, value)"},                           \
        {"thread_name", call_thread_name, METH_O, "thread_name(name)"},                            \
        {"meta", call_meta, METH_VARARGS, "meta(key, value)"},                                     \
        {"control", call_control, METH_O, "control(on): the socket that list and the page see"},   \
        {"log", call_log, METH_O, "log(function(level, message))"},                                \
    {                                                                                              \
        "now", call_now, METH_NOARGS, "ticks of the recorder's clock"                              \
    }

/* Makes _native.Error. */
int calls_start(PyObject *module, native *m);

#endif
