#include "trace/capture/plan/control_failure.h"

#include <pthread.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"

/* The failure of the last capture. Its lock is the innermost of all, so it can be used while any
 * other is held. */
static struct {
    pthread_mutex_t lock;
    const vp_profiler *profiler;    /* observed profiler: control_hear */
    char text[CONTROL_FAILURE_MAX]; /* "": none */
    char path[VP_PATH_MAX];         /* "": none */
} failure = {.lock = PTHREAD_MUTEX_INITIALIZER};

void control_keep_failure(const char *text, const char *path)
{
    pthread_mutex_lock(&failure.lock);
    snprintf(failure.text, sizeof failure.text, "%s", text);
    snprintf(failure.path, sizeof failure.path, "%s", path);
    pthread_mutex_unlock(&failure.lock);
}

void control_failed(const vp_profiler *p, const char *what)
{
    char text[CONTROL_FAILURE_MAX];
    snprintf(text, sizeof text, "%s: %s", what, vp_error_last()->message);
    pthread_mutex_lock(&failure.lock);
    bool heard = failure.profiler == p;
    pthread_mutex_unlock(&failure.lock);
    if (heard)
        control_keep_failure(text, vp_error_last()->path);
}

void control_put_failure(vp_json *j)
{
    pthread_mutex_lock(&failure.lock);
    vp_json_kcstr(j, "last_error", failure.text[0] ? failure.text : NULL);
    vp_json_kcstr(j, "last_error_path", failure.path[0] ? failure.path : NULL);
    pthread_mutex_unlock(&failure.lock);
}

void control_hear(const vp_profiler *p)
{
    pthread_mutex_lock(&failure.lock);
    failure.profiler = p;
    pthread_mutex_unlock(&failure.lock);
}

void control_forget_failure_lock(void)
{
    pthread_mutex_init(&failure.lock, NULL);
}
