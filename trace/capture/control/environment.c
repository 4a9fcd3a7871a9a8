#include "trace/capture/control/environment.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/capture/pool/recorder.h"

#define STEP_MAX (INT64_MAX / 2)
#define RING_MIN (UINT64_C(1) << 20)
#define RING_MAX (UINT64_C(1) << 40)

static int read_steps(environment *e, const char *text)
{
    uint64_t *const parts[] = {&e->first_step, &e->step_count, &e->step_every, &e->step_times};
    vp_str s = vp_str_of(text), part;
    bool ok = true, more = true;
    e->has_steps = true;
    e->step_count = 1;
    e->step_times = UINT64_MAX;
    for (size_t i = 0; i < 4 && ok && more; i++) {
        more = memchr(s.p, ':', s.n);
        if (more)
            (void)vp_take_until(&s, ':', s.n, &part);
        else
            part = s;
        ok = vp_str_to_u64(part, parts[i]) && *parts[i] <= STEP_MAX && (*parts[i] || !i);
    }
    if (!ok || more || (e->step_every && e->step_every < e->step_count))
        return vp_fail(
            VP_EARG,
            "VIEW_PROFILE_STEPS=%.60s: must be FIRST:COUNT, such as 150:5 for steps 150 "
            "to 154, or FIRST:COUNT:EVERY:TIMES, such as 150:5:1000:3 for these, 1150 to "
            "1154 and 2150 to 2154",
            text);
    return 0;
}

static int read_ring(environment *e, const char *text)
{
    if (!vp_str_to_size(vp_str_of(text), RING_MAX, &e->ring_bytes) || e->ring_bytes < RING_MIN)
        return vp_fail(VP_EARG, "VIEW_PROFILE_RING=%.60s: must be a size from 1M, such as 64M",
                       text);
    return 0;
}

static int read_signal(environment *e, const char *text)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP},    {"QUIT", SIGQUIT},
                   {"ALRM", SIGALRM}, {"URG", SIGURG},   {"WINCH", SIGWINCH}};
    vp_str s = vp_str_of(text);
    if (vp_str_starts_nocase(s, VP_STR("SIG")))
        s = vp_str_skip(s, 3);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (vp_str_eq_nocase(s, vp_str_of(signals[i].name))) {
            e->signal_number = signals[i].number;
            return 0;
        }
    return vp_fail(VP_EARG,
                   "VIEW_PROFILE_SIGNAL=%.60s: must be USR1, USR2, HUP, QUIT, ALRM, URG or WINCH",
                   text);
}

static int read_gpu(environment *e, const char *text)
{
    static const char *const words[] = {"off", "auto", "require"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, words[i])) {
            e->gpu = (vp_gpu)i;
            return 0;
        }
    return vp_fail(VP_EARG, "VIEW_PROFILE_GPU=%.60s: must be off, auto or require", text);
}

static bool is_yes(vp_str s)
{
    static const char *const words[] = {"1", "on", "yes", "true"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vp_str_eq_nocase(s, vp_str_of(words[i])))
            return true;
    return false;
}

static const char *environment_variable(const char *name)
{
    return getenv(name);
}

int environment_read(environment *out, environment_fn *get)
{
    static const struct {
        const char *name;
        int (*read)(environment *e, const char *text);
    } values[] = {{"VIEW_PROFILE_STEPS", read_steps},
                  {"VIEW_PROFILE_RING", read_ring},
                  {"VIEW_PROFILE_SIGNAL", read_signal},
                  {"VIEW_PROFILE_GPU", read_gpu}};
    environment e = {.gpu = CAP_GPU_IF_USED};
    get = get ? get : environment_variable;
    const char *on = get("VIEW_PROFILE");
    e.on = on && is_yes(vp_str_of(on));
    e.dir = get("VIEW_PROFILE_DIR");
    e.follows = get("VIEW_PROFILE_JOB") != NULL;
    if (e.dir && !e.dir[0])
        e.dir = NULL;
    for (size_t i = 0; e.on && i < sizeof values / sizeof *values; i++) {
        const char *text = get(values[i].name);
        if (text && text[0])
            VP_TRY(values[i].read(&e, text));
    }
    *out = e;
    return 0;
}
