#include "calls.h"

#include "names.h"

/* ---- Errors -----------------------------------------------------------------------------------
 */

/* Raises _native.Error("PATH: message"), whose `code` is one of VP_E…. Returns NULL. */
static PyObject *raise_native_error(native *m, int code)
{
    const vp_error *e = vp_error_last();
    PyObject *raised =
        PyObject_CallFunction(m->error, "N",
                              e->path[0] ? PyUnicode_FromFormat("%s: %s", e->path, e->message)
                                         : PyUnicode_FromString(e->message));
    PyObject *number = PyLong_FromLong(code);
    if (raised && number && PyObject_SetAttrString(raised, "code", number) == 0)
        PyErr_SetObject(m->error, raised);
    Py_XDECREF(number);
    Py_XDECREF(raised);
    return NULL;
}

/* None, or what failed. */
static PyObject *none_or_error(native *m, int rc)
{
    return rc < 0 ? raise_native_error(m, rc) : Py_NewRef(Py_None);
}

/* ---- A recording ------------------------------------------------------------------------------
 */

/* The recorder speaks from any of its threads, also at the end of the process. */
static void log_recorder_message(void *ctx, int level, const char *message)
{
    native *m = ctx;
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *log = native_get(&m->log);
    PyObject *r = log ? PyObject_CallFunction(log, "is", level, message) : NULL;
    if (!r)
        PyErr_Clear();
    Py_XDECREF(r);
    PyGILState_Release(held);
}

static PyObject *call_start(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dir",         "host",      "pool_bytes", "ring",
                            "duration_ms", "in_memory", "gpu",        NULL};
    native *m = PyModule_GetState(module);
    vp_config cfg = VP_CONFIG_INIT;
    vp_recording *r = NULL;
    unsigned long long pool = 0;
    unsigned duration = 0;
    int ring = 0, in_memory = 0, gpu = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|zKpIpp", names, &cfg.dir, &cfg.host, &pool,
                                     &ring, &duration, &in_memory, &gpu))
        return NULL;
    cfg.pool_bytes = (size_t)pool;
    cfg.mode = ring ? VP_RING : VP_KEEP_FIRST;
    cfg.duration_ms = duration;
    cfg.in_memory = in_memory;
    cfg.gpu = gpu ? VP_GPU_AUTO : VP_GPU_OFF;
    cfg.export_now = true;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) { /* others may end before it */
        cfg.log = log_recorder_message;
        cfg.ctx = m;
    }
    PyThreadState *held = PyEval_SaveThread();
    int rc = vp_start(&r, &cfg);
    PyEval_RestoreThread(held);
    return rc < 0 ? raise_native_error(m, rc)
                  : Py_BuildValue("(Ns)", PyLong_FromVoidPtr(r), vp_recording_dir(r));
}

static PyObject *as_dict(const vp_result *r)
{
    return Py_BuildValue(
        "{s:s,s:K,s:K,s:K,s:K,s:L,s:L,s:O,s:K}", "run_dir", r->run_dir, "zones",
        (unsigned long long)r->zones, "dropped",
        (unsigned long long)(r->dropped_full + r->dropped_signal + r->dropped_depth), "overwritten",
        (unsigned long long)r->overwritten, "threads", (unsigned long long)r->threads,
        "start_unix_ns", (long long)r->start_unix_ns, "duration_ns", (long long)r->duration_ns,
        "truncated", r->truncated ? Py_True : Py_False, "bytes_written",
        (unsigned long long)r->bytes_written);
}

static PyObject *call_stop(PyObject *module, PyObject *handle)
{
    native *m = PyModule_GetState(module);
    vp_result result = VP_RESULT_INIT;
    vp_recording *r = PyLong_AsVoidPtr(handle);
    if (!r && PyErr_Occurred())
        return NULL;
    PyThreadState *held = PyEval_SaveThread();
    int rc = vp_stop(r, &result);
    PyEval_RestoreThread(held);
    return rc < 0 ? raise_native_error(m, rc) : as_dict(&result);
}

static PyObject *call_past(PyObject *module, PyObject *args)
{
    native *m = PyModule_GetState(module);
    vp_result result = VP_RESULT_INIT;
    PyObject *handle;
    double seconds;
    if (!PyArg_ParseTuple(args, "Od", &handle, &seconds))
        return NULL;
    vp_recording *r = PyLong_AsVoidPtr(handle);
    if (!r && PyErr_Occurred())
        return NULL;
    PyThreadState *held = PyEval_SaveThread();
    int rc = vp_capture_past(r, seconds, &result);
    PyEval_RestoreThread(held);
    return rc < 0 ? raise_native_error(m, rc) : as_dict(&result);
}

static PyObject *call_active(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(vp__generation() != 0);
}

/* ---- Steps, instants, counters -----------------------------------------------------------------
 */

static PyObject *call_step_begin(PyObject *module, PyObject *args)
{
    native *m = PyModule_GetState(module);
    PyObject *name;
    unsigned long long number;
    if (!PyArg_ParseTuple(args, "UK", &name, &number))
        return NULL;
    char *text = text_of(name);
    int rc = text ? vp_step_begin(text, number) : 0;
    PyMem_Free(text);
    return none_or_error(m, rc);
}

static PyObject *call_step_end(PyObject *module, PyObject *unused)
{
    native *m = PyModule_GetState(module);
    int rc = vp_step_end();
    (void)unused;
    return none_or_error(m, rc);
}

/* A zone without length: Perfetto and TensorBoard show it as the instant it is. */
static PyObject *call_instant(PyObject *module, PyObject *args, PyObject *kwargs)
{
    native *m = PyModule_GetState(module);
    uint32_t generation = vp__generation();
    PyObject *name;
    if (!PyArg_ParseTuple(args, "U", &name))
        return NULL;
    if (generation && kwargs && PyDict_Size(kwargs))
        zone_with_args(name_of(m, name).id, vp__ticks(generation), generation, kwargs);
    else if (generation)
        vp__instant(name_of(m, name).site, generation);
    Py_RETURN_NONE;
}

static PyObject *call_counter(PyObject *module, PyObject *args)
{
    native *m = PyModule_GetState(module);
    uint32_t generation = vp__generation();
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "UO", &name, &value))
        return NULL;
    if (PyFloat_Check(value)) {
        if (generation)
            vp__counter_real(name_of(m, name).site, generation, PyFloat_AsDouble(value));
        Py_RETURN_NONE;
    }
    long long i = PyLong_AsLongLong(value);
    if (i == -1 && PyErr_Occurred())
        return NULL;
    if (generation)
        vp__counter(name_of(m, name).site, generation, i);
    Py_RETURN_NONE;
}

static PyObject *call_thread_name(PyObject *module, PyObject *name)
{
    native *m = PyModule_GetState(module);
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "thread_name: the name must be a string");
        return NULL;
    }
    char *text = text_of(name);
    int rc = text ? vp_thread_name(text) : 0;
    PyMem_Free(text);
    return none_or_error(m, rc);
}

static PyObject *call_meta(PyObject *module, PyObject *args)
{
    native *m = PyModule_GetState(module);
    PyObject *key, *value;
    if (!PyArg_ParseTuple(args, "UU", &key, &value))
        return NULL;
    char *k = text_of(key), *v = text_of(value);
    int rc = k && v ? vp_meta_str(k, v) : 0;
    PyMem_Free(k);
    PyMem_Free(v);
    return none_or_error(m, rc);
}

/* ---- Control ------------------------------------------------------------------------------------
 */

static PyObject *call_control(PyObject *module, PyObject *on)
{
    native *m = PyModule_GetState(module);
    int yes = PyObject_IsTrue(on), rc = 0;
    if (yes < 0)
        return NULL;
    PyThreadState *held = PyEval_SaveThread();
    if (yes)
        rc = vp_control_start(NULL);
    else
        vp_control_stop();
    PyEval_RestoreThread(held);
    return none_or_error(m, rc);
}

static PyObject *call_log(PyObject *module, PyObject *log)
{
    native *m = PyModule_GetState(module);
    native_set(&m->log, log == Py_None ? NULL : Py_NewRef(log));
    Py_RETURN_NONE;
}

static PyObject *call_now(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(vp_now());
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef calls[] = {
    {"start", WITH_KEYWORDS(call_start), METH_VARARGS | METH_KEYWORDS,
     "start(dir, host=None, pool_bytes=0, ring=False, duration_ms=0, in_memory=False, gpu=False) "
     "-> "
     "(handle, run directory)"},
    {"stop", call_stop, METH_O, "stop(handle) -> dict, once the files are written"},
    {"past", call_past, METH_VARARGS, "past(handle, seconds) -> dict"},
    {"active", call_active, METH_NOARGS, "whether a recording is active"},
    {"step_begin", call_step_begin, METH_VARARGS, "step_begin(name, number)"},
    {"step_end", call_step_end, METH_NOARGS, "step_end()"},
    {"instant", WITH_KEYWORDS(call_instant), METH_VARARGS | METH_KEYWORDS, "instant(name, **args)"},
    {"counter", call_counter, METH_VARARGS, "counter(name, value)"},
    {"thread_name", call_thread_name, METH_O, "thread_name(name)"},
    {"meta", call_meta, METH_VARARGS, "meta(key, value)"},
    {"control", call_control, METH_O, "control(on): open or close the control socket"},
    {"log", call_log, METH_O, "log(function(level, message))"},
    {"now", call_now, METH_NOARGS, "current time in ticks of the recorder's clock"},
    {NULL, NULL, 0, NULL},
};

int calls_start(PyObject *module, native *m)
{
    m->error = PyErr_NewExceptionWithDoc("view_profile.Error", "An error of the recorder.",
                                         PyExc_RuntimeError, NULL);
    return m->error && PyModule_AddObjectRef(module, "Error", m->error) == 0
               ? PyModule_AddFunctions(module, calls)
               : -1;
}
