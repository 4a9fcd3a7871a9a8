/* libview_profile_nvtx.so: what NVTX looks for in the library that NVTX_INJECTION64_PATH names. */
#include "trace/capture/inject/adapters.h"

VP_API int InitializeInjectionNvtx2(nvtx_export_fn *tables);

int InitializeInjectionNvtx2(nvtx_export_fn *tables)
{
    return vp__nvtx_attach(tables);
}
