#include "names.h"

#include <string.h>

enum { ARGS_MAX = 15, VALUE_MAX = 4095 };

static char *copy(const char *s, size_t n)
{
    char *out = PyMem_Malloc(n + 1);
    if (out) {
        memcpy(out, s, n);
        out[n] = 0;
    }
    return out;
}

/* The text with what no C string can hold as escapes. */
static char *escaped(PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    char *s = NULL, *out = NULL;
    Py_ssize_t n = 0;
    if (bytes && PyBytes_AsStringAndSize(bytes, &s, &n) == 0) {
        PyObject *whole = memchr(s, 0, (size_t)n)
                              ? PyObject_CallMethod(bytes, "replace", "y#y#", "\0", (Py_ssize_t)1,
                                                    "\\x00", (Py_ssize_t)4)
                              : Py_NewRef(bytes);
        if (whole && PyBytes_AsStringAndSize(whole, &s, &n) == 0)
            out = copy(s, (size_t)n);
        Py_XDECREF(whole);
    }
    Py_XDECREF(bytes);
    PyErr_Clear();
    return out;
}

char *text_of(PyObject *text)
{
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(text, &n);
    if (s && !memchr(s, 0, (size_t)n))
        return copy(s, (size_t)n);
    PyErr_Clear();
    return escaped(text);
}

/* Without a copy where it can be had: the recorder makes its own. */
static uint32_t name_new(PyObject *text)
{
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(text, &n);
    if (s && !memchr(s, 0, (size_t)n))
        return vp_name(s);
    PyErr_Clear();
    char *other = escaped(text);
    uint32_t id = other ? vp_name(other) : 0;
    PyMem_Free(other);
    return id;
}

static size_t find(native *m, PyObject *text)
{
    size_t i = ((uintptr_t)text >> 4) % NAMES_KEPT;
    if (m->names[i].text != text) {
        uint32_t id = name_new(text);
        native_set(&m->names[i].text, Py_NewRef(text));
        m->names[i].id = id;
        m->names[i].site = vp__site_of(id);
    }
    return i;
}

uint32_t name_of(native *m, PyObject *text)
{
    return m->names[find(m, text)].id;
}

vp__site *site_of_name(native *m, PyObject *text)
{
    return m->names[find(m, text)].site;
}

void names_forget(native *m)
{
    for (size_t i = 0; i < NAMES_KEPT; i++)
        Py_CLEAR(m->names[i].text);
}

static vp_arg value_of(const char *key, PyObject *value, char **text)
{
    int over = 0;
    if (PyLong_Check(value)) {
        long long i = PyLong_AsLongLongAndOverflow(value, &over);
        if (!over)
            return vp__arg_i64(key, i);
    } else if (PyFloat_Check(value)) {
        return vp__arg_f64(key, PyFloat_AsDouble(value));
    }
    PyObject *shown = PyUnicode_Check(value) ? Py_NewRef(value) : PyObject_Str(value);
    *text = shown ? text_of(shown) : NULL;
    Py_XDECREF(shown);
    PyErr_Clear();
    return vp__arg_str(key, *text ? *text : "?");
}

void zone_with_args(uint32_t name, uint64_t start, uint32_t generation, PyObject *args)
{
    vp_arg list[ARGS_MAX];
    char *keys[ARGS_MAX], *texts[ARGS_MAX] = {0};
    size_t n = 0;
    PyObject *key, *value;
    uint64_t end = vp__ticks(generation);
    for (Py_ssize_t at = 0; n < ARGS_MAX && PyDict_Next(args, &at, &key, &value);) {
        if (!(keys[n] = text_of(key)))
            continue;
        list[n] = value_of(keys[n], value, &texts[n]);
        if (texts[n] && strlen(texts[n]) > VALUE_MAX)
            texts[n][VALUE_MAX] = 0;
        n++;
    }
    PyErr_Clear();
    vp__zone_args(name, start, end, generation, list, n);
    for (size_t i = 0; i < n; i++) {
        PyMem_Free(keys[i]);
        PyMem_Free(texts[i]);
    }
}
