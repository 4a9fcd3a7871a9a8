/* The calls of the recorder that Python's half is built on. */
#ifndef VP_PYTHON_CALLS_H
#define VP_PYTHON_CALLS_H

#include "native.h"

/* Adds them and _native.Error to the module. -1: an exception is set. */
int calls_start(PyObject *module, native *m);

#endif
