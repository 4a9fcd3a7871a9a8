/* What the adapters' libraries call in the recorder's. Exported, and for them alone: whoever builds
 * one builds the other.
 *
 * The adapters (libview_profile_nvtx.so, _itt.so, _instrument.so) are thin libraries without a
 * recorder of their own: a program that is linked with the recorder and injected, too, has it once.
 * Only the recorder's shared library has the constructor that reads the environment: neither the
 * viewer nor tests record themselves. Thread-local memory of each library stays within 64 bytes:
 * what is loaded late, as NVTX does it, shares 1.6 KB of the static kind with all others, and where
 * that is used up does not load. */
#ifndef VP_CAPTURE_INJECT_ADAPTERS_H
#define VP_CAPTURE_INJECT_ADAPTERS_H

#include "include/view_profile_status.h"
#include "trace/capture/adapters/instrument.h"
#include "trace/capture/adapters/nvtx.h"

VP_API int vp__nvtx_attach(nvtx_export_fn *tables);                  /* nvtx_attach */
VP_API void vp__itt_attach(void *global);                            /* itt_attach */
VP_API void vp__function_enter(void *function, instrument_place at); /* instrument_enter */
VP_API void vp__function_exit(void *function);                       /* instrument_exit */

#endif
