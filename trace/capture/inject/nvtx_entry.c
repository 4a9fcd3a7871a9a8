/* libview_profile_nvtx.so: the entry point that NVTX looks up in the library named by
 * NVTX_INJECTION64_PATH. */
#include "trace/capture/inject/adapters.h"

VP_API int InitializeInjectionNvtx2(nvtx_export_fn *tables);

int InitializeInjectionNvtx2(nvtx_export_fn *tables)
{
    return vp__nvtx_attach(tables);
}
