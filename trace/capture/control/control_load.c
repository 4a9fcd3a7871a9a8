/* Starts control when one of our libraries is loaded, and ends it with the process. */
#include <stdatomic.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/capture/control/control.h"
#include "trace/capture/pool/recorder.h"

static void control_at_exit(void)
{
    control_thread_stop();
    control_end();
}

void control_load(void)
{
    static _Atomic bool loaded;
    environment *env = control_environment();
    if (atomic_exchange(&loaded, true))
        return;
    if (environment_read(env, NULL) < 0) {
        vp_log(VP_LOG_ERROR, "%s", vp_error_last()->message);
        return;
    }
    if (!env->on)
        return;
    cap_on_step(CAP_STEPS_CONTROL, control_step);
    control_begin();
    /* Registered after control_begin, so it runs before the handlers of a recording. */
    atexit(control_at_exit);
    if (control_thread_start(true) < 0)
        vp_log(VP_LOG_WARN, "no control socket: %s", vp_error_last()->message);
    if (env->signal_number && vp_install_signal(env->signal_number, false) < 0)
        vp_log(VP_LOG_WARN, "VIEW_PROFILE_SIGNAL: %s", vp_error_last()->message);
}
