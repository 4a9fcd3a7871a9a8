#include "trace/report/compare/compare_view.h"

#include <math.h>

#include "trace/base/log.h"

double rep_flop_time_ratio(const vp_compared_op *op)
{
    if (op->flops_a <= 0 || op->flops_b <= 0 || op->self.a_ps <= 0 || op->self.b_ps < 0)
        return NAN;
    return (double)op->self.b_ps / (double)op->flops_b /
           ((double)op->self.a_ps / (double)op->flops_a);
}

bool rep_moved(const vp_comparison *c, const vp_compared_op *op)
{
    return rep_delta_size(&op->self) > c->threshold_ps;
}

bool rep_has_backward(const vp_comparison *c)
{
    for (size_t i = 0; i < c->scope_count; i++)
        if (c->scopes[i].backward.a_ps > 0 || c->scopes[i].backward.b_ps > 0)
            return true;
    return false;
}

int64_t rep_delta_size(const vp_delta *d)
{
    return d->delta_ps == VP_NO_TIME ? 0 : d->delta_ps < 0 ? -d->delta_ps : d->delta_ps;
}

int rep_put_delta(vp_buf *b, const vp_delta *d, vp_unit unit)
{
    if (d->delta_ps == VP_NO_TIME)
        return vp_buf_putc(b, '-');
    if (d->delta_ps)
        vp_buf_putc(b, d->delta_ps > 0 ? '+' : '-');
    return rep_put_ps(b, rep_delta_size(d), unit);
}

int rep_put_change(vp_buf *b, const vp_delta *d)
{
    if (d->delta_ps == VP_NO_TIME || (!d->a_ps && !d->b_ps))
        return vp_buf_putc(b, '-');
    if (!d->a_ps)
        return vp_buf_puts(b, "new");
    if (!d->b_ps)
        return vp_buf_puts(b, "gone");
    double change = 100 * ((double)d->b_ps / (double)d->a_ps - 1);
    return change < 900 ? vp_buf_printf(b, "%+.2f%%", change)
                        : vp_buf_printf(b, "%.0fx", (double)d->b_ps / (double)d->a_ps);
}

int rep_put_calls(vp_buf *b, double calls)
{
    double whole = nearbyint(calls);
    if (!isfinite(calls) || calls < 0 || calls > 9e18)
        return vp_buf_putc(b, '-');
    if (calls >= 100 || fabs(calls - whole) < 0.05)
        return rep_put_count(b, (int64_t)whole, false);
    return vp_buf_printf(b, "%.1f", calls);
}

size_t rep_compare_worst(const vp_comparison *c)
{
    size_t worst = c->device_count;
    for (size_t i = 0; i < c->device_count; i++) {
        const vp_delta *d = &c->devices[i].window;
        if (d->delta_ps != VP_NO_TIME &&
            (worst == c->device_count ||
             rep_delta_size(d) > rep_delta_size(&c->devices[worst].window)))
            worst = i;
    }
    return worst;
}

void rep_compare_parts(const vp_delta *out[REP_PARTS], const vp_compared_device *d)
{
    out[REP_COMPUTE] = &d->compute;
    out[REP_COMM] = &d->exposed_comm;
    out[REP_COPY] = &d->exposed_copy;
    out[REP_IDLE] = &d->idle;
}

void rep_compared_memory_name(vp_buf *b, const vp_compared_memory *m)
{
    vp_put_escaped(b, vp_str_of(m->program ? m->program : m->allocator));
    if (m->program && m->space)
        vp_buf_printf(b, ", planned, memory space %lld", (long long)m->space);
    else if (m->program)
        vp_buf_puts(b, ", planned");
}

void rep_put_more_bytes(vp_buf *b, int64_t delta)
{
    vp_buf_putc(b, delta < 0 ? '-' : '+');
    rep_put_bytes(b, delta < 0 ? -delta : delta);
}

static size_t count_captures(const vp_compared_capture *list, size_t n)
{
    size_t counted = 0;
    for (size_t i = 0; i < n; i++)
        counted += list[i].counts;
    return counted;
}

void rep_put_captures(vp_buf *b, const vp_compared_capture *list, size_t n, vp_unit asked)
{
    int64_t longest = 0;
    const vp_compared_capture *shown = NULL;
    for (size_t i = 0; i < n; i++) {
        longest = list[i].counts && list[i].median_ps > longest ? list[i].median_ps : longest;
        shown = list[i].shown ? &list[i] : shown;
    }
    vp_unit unit = rep_unit_for(asked, longest);
    vp_buf_printf(b, "%zu of %zu captures count, median step in %s:", count_captures(list, n), n,
                  rep_unit_name(unit));
    for (size_t i = 0, put = 0; i < n; i++) {
        if (!list[i].counts)
            continue;
        vp_buf_puts(b, put++ ? ", " : " ");
        rep_put_ps(b, list[i].median_ps, unit);
    }
    vp_buf_puts(b, "; ops and scopes are of ");
    vp_put_escaped(b, vp_str_of(shown ? shown->name : NULL));
}

static void put_noise_part(vp_buf *b, int64_t ps, int64_t of_ps)
{
    rep_duration(b, ps, VP_UNIT_AUTO, ps);
    vp_buf_printf(b, " (%.2f%%)", of_ps > 0 ? 100 * (double)ps / (double)of_ps : 0);
}

void rep_put_noise(vp_buf *b, const vp_comparison *c)
{
    vp_buf_puts(b, "Noise: ");
    if (c->within_ps == VP_UNKNOWN)
        vp_buf_puts(b, "unknown");
    else
        put_noise_part(b, c->within_ps, c->median.a_ps);
    vp_buf_puts(b, " within captures, ");
    if (c->between_ps != VP_UNKNOWN)
        put_noise_part(b, c->between_ps, c->median.a_ps);
    if (c->between_ps != VP_UNKNOWN)
        vp_buf_puts(b, " between them");
    else
        vp_buf_puts(b, "unknown between captures: each side has one");
    vp_buf_putc(b, '.');
}
