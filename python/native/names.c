#include "names.h"

#include <string.h>

enum { ARGS_MAX = 15, VALUE_MAX = 4095 };

static char *copy_c_string(const char *s, size_t n)
{
    char *out = PyMem_Malloc(n + 1);
    if (out) {
        memcpy(out, s, n);
        out[n] = 0;
    }
    return out;
}

/* The text with what no C string can hold as escapes. */
static char *escaped_text(PyObject *text)
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
            out = copy_c_string(s, (size_t)n);
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
        return copy_c_string(s, (size_t)n);
    PyErr_Clear();
    return escaped_text(text);
}

/* Without a copy where it can be had: the recorder makes its own. */
static uint32_t name_new(PyObject *text)
{
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(text, &n);
    if (s && !memchr(s, 0, (size_t)n))
        return vp_name(s);
    PyErr_Clear();
    char *other = escaped_text(text);
    uint32_t id = other ? vp_name(other) : 0;
    PyMem_Free(other);
    return id;
}

#ifdef Py_GIL_DISABLED
/* Each thread has its own and keeps no string: that the text is still the one is looked at. */
enum { LATELY = 256 };
static _Thread_local named lately[LATELY];

named name_of(native *m, PyObject *text)
{
    (void)m;
    named *at = &lately[((uintptr_t)text >> 4) % LATELY];
    Py_ssize_t n;
    const char *s = at->site ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
    if (!s || strlen(at->site->name) != (size_t)n || memcmp(s, at->site->name, (size_t)n) != 0) {
        PyErr_Clear();
        at->id = name_new(text);
        at->site = vp__site_of(at->id);
    }
    return *at;
}

void names_forget(native *m)
{
    (void)m;
}
#else
named name_of(native *m, PyObject *text)
{
    size_t i = ((uintptr_t)text >> 4) % NAMES_KEPT;
    if (m->names[i].text != text) {
        uint32_t id = name_new(text);
        native_set(&m->names[i].text, Py_NewRef(text));
        m->names[i].name = (named){id, vp__site_of(id)};
    }
    return m->names[i].name;
}

void names_forget(native *m)
{
    for (size_t i = 0; i < NAMES_KEPT; i++)
        Py_CLEAR(m->names[i].text);
}
#endif

static vp_arg arg_of_value(const char *key, PyObject *value, char **text)
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

static void zone_with_items(uint32_t name, uint64_t start, uint32_t generation, PyObject *args)
{
    vp_arg list[ARGS_MAX];
    char *keys[ARGS_MAX], *texts[ARGS_MAX] = {0};
    size_t n = 0, all = (size_t)PyDict_Size(args);
    size_t room = all > ARGS_MAX ? ARGS_MAX - 1 : ARGS_MAX;
    PyObject *key, *value;
    uint64_t end = vp__ticks(generation);
    for (Py_ssize_t at = 0; n < room && PyDict_Next(args, &at, &key, &value);) {
        if (!(keys[n] = text_of(key)))
            continue;
        list[n] = arg_of_value(keys[n], value, &texts[n]);
        if (texts[n] && strlen(texts[n]) > VALUE_MAX)
            texts[n][VALUE_MAX] = 0;
        n++;
    }
    PyErr_Clear();
    if (all > ARGS_MAX)
        list[n] = vp__arg_i64("args left out", (long long)(all - n));
    vp__zone_args(name, start, end, generation, list, n + (all > ARGS_MAX));
    for (size_t i = 0; i < n; i++) {
        PyMem_Free(keys[i]);
        PyMem_Free(texts[i]);
    }
}

void zone_with_args(uint32_t name, uint64_t start, uint32_t generation, PyObject *args)
{
#ifdef Py_GIL_DISABLED /* which may change while it is gone through */
    PyObject *own = PyDict_Copy(args);
    if (own)
        zone_with_items(name, start, generation, own);
    Py_XDECREF(own);
    PyErr_Clear();
#else
    zone_with_items(name, start, generation, args);
#endif
}
