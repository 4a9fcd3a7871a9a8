/* libview_profile_instrument.so: functions called by a program that was built with
 * -finstrument-functions. The C library defines them, too, without effect. If this library is
 * loaded before it (`view_profile record --functions`, LD_PRELOAD) or linked, these are found
 * first. */
#include "trace/capture/inject/adapters.h"

VP_API void __cyg_profile_func_enter(void *function, void *caller);
VP_API void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    vp__instrument_enter(
        function, (instrument_place){(uintptr_t)__builtin_frame_address(0), (uintptr_t)caller});
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    vp__instrument_exit(function);
}
