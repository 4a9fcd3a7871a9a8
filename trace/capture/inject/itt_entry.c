/* libview_profile_itt.so: the entry point that ittnotify looks up in the library named by
 * INTEL_LIBITTNOTIFY64. */
#include "trace/capture/inject/adapters.h"

VP_API void __itt_api_init(void *global, int groups);

void __itt_api_init(void *global, int groups)
{
    (void)groups;
    vp__itt_attach(global);
}
