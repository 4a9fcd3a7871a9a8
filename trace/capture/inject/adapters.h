/* What the adapters' libraries call in the recorder's. It is exported for them alone: whoever
 * builds one builds the other.
 *
 * The adapters (VP_ADAPTERS in scripts/recorder.cmake: libview_profile_nvtx.so, …) are thin
 * libraries without a recorder of their own, so that a program that is linked with the recorder and
 * also injected has it once. Only the recorder's shared library has the constructor that reads the
 * environment: neither the viewer nor tests record themselves. Thread-local memory of each library
 * stays within 64 bytes: libraries that are loaded late, as NVTX loads its, share 1.6 KB of it, and
 * cannot be loaded where that is used up. */
#ifndef VP_CAPTURE_INJECT_ADAPTERS_H
#define VP_CAPTURE_INJECT_ADAPTERS_H

#include "include/view_profile_status.h"
#include "trace/capture/adapters/instrument.h"
#include "trace/capture/adapters/itt.h"
#include "trace/capture/adapters/nvtx.h"

/* A row a function of trace/capture/adapters: its name, its parameters, and how they are passed on.
 * The recorder exports each as vp__NAME, which does that and nothing else (inject_load.c). INT: it
 * returns an int; VOID: nothing, and C has no `return` that is right for both. */
#define VP_ADAPTER_CALLS(INT, VOID)                                                                \
    INT(nvtx_attach, (nvtx_export_fn * tables), (tables))                                          \
    VOID(itt_attach, (void *global), (global))                                                     \
    VOID(instrument_enter, (void *function, instrument_place at), (function, at))                  \
    VOID(instrument_exit, (void *function), (function))

#define VP_INT_DECLARED(name, parameters, arguments) VP_API int vp__##name parameters;
#define VP_VOID_DECLARED(name, parameters, arguments) VP_API void vp__##name parameters;
VP_ADAPTER_CALLS(VP_INT_DECLARED, VP_VOID_DECLARED)

#endif
