#include "trace/analyze/compare/compare_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/analyze/result/look_up.h"

const char *cmp_text(comparing *k, const char *s)
{
    const char *d = s ? vp_arena_strndup(k->arena, s, strlen(s)) : NULL;
    k->out_of_memory = k->out_of_memory || (s && !d);
    return d;
}

const char *cmp_print(comparing *k, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return cmp_text(k, n < 0 ? "" : text);
}

vp_delta cmp_delta(int64_t a_ps, int64_t b_ps)
{
    bool known = a_ps != VP_UNKNOWN && b_ps != VP_UNKNOWN;
    return (vp_delta){a_ps, b_ps, known ? b_ps - a_ps : VP_NO_TIME};
}

int64_t cmp_size(const vp_delta *d)
{
    return d->delta_ps == VP_NO_TIME ? 0 : d->delta_ps < 0 ? -d->delta_ps : d->delta_ps;
}

int64_t cmp_mean(__int128 sum, __int128 n)
{
    return (int64_t)((sum + n / 2) / n);
}

bool cmp_has_steps(const vp_report *r)
{
    return r->steps.counted > 0 &&
           result_steps_share(&r->steps, r->devices, r->device_count) >= STEPS_APART;
}

int64_t cmp_op_self(const cmp_side *s, const vp_op *op)
{
    const vp_device *d = &s->r->devices[op->device];
    if (!s->per_step)
        return op->self_ps;
    if (d->steps_counted <= 0 || op->step_self_ps < 0)
        return VP_UNKNOWN;
    return cmp_mean(op->step_self_ps, d->steps_counted);
}
