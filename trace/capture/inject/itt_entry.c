/* libview_profile_itt.so: what ittnotify looks for in the library that INTEL_LIBITTNOTIFY64 names.
 */
#include "trace/capture/inject/adapters.h"

VP_API void __itt_api_init(void *global, int groups);

void __itt_api_init(void *global, int groups)
{
    (void)groups;
    vp__itt_attach(global);
}
