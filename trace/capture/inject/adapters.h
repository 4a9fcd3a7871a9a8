/* What the adapters' libraries call in the recorder's. Exported, and for them alone: whoever builds
 * one builds the other. */
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
