/* Functions of the recorder's library for the adapters' libraries. They are exported only for
 * these, and built together.
 *
 * The adapters (VP_ADAPTERS in scripts/recorder.cmake: libview_profile_nvtx.so, …) are thin
 * libraries without a recorder of their own, so that a program that is linked with the recorder and
 * also injected has one recorder. Only the recorder's shared library has the constructor that reads
 * the environment: neither the viewer nor tests record themselves. Each library uses at most 64
 * bytes of thread-local storage. Libraries loaded late, as by NVTX, share 1.6 KB of it, and cannot
 * be loaded when that is used up. */
#ifndef VP_CAPTURE_INJECT_ADAPTERS_H
#define VP_CAPTURE_INJECT_ADAPTERS_H

#include "include/view_profile_status.h"
#include "trace/capture/adapters/instrument.h"
#include "trace/capture/adapters/itt.h"
#include "trace/capture/adapters/nvtx.h"

/* One row for each function of trace/capture/adapters: name, parameters, arguments. The recorder
 * exports each as vp__NAME, which only forwards the call (inject_load.c). INT: returns an int;
 * VOID: returns nothing, because C has no `return` for both. */
#define VP_ADAPTER_CALLS(INT, VOID)                                                                \
    INT(nvtx_attach, (nvtx_export_fn * tables), (tables))                                          \
    VOID(itt_attach, (void *global), (global))                                                     \
    VOID(instrument_enter, (void *function, instrument_place at), (function, at))                  \
    VOID(instrument_exit, (void *function), (function))

#define VP_INT_DECLARED(name, parameters, arguments) VP_API int vp__##name parameters;
#define VP_VOID_DECLARED(name, parameters, arguments) VP_API void vp__##name parameters;
VP_ADAPTER_CALLS(VP_INT_DECLARED, VP_VOID_DECLARED)

#endif
