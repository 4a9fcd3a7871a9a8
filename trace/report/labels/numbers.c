#include "trace/report/labels/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "trace/analyze/result/look_up.h"
#include "trace/base/human.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

#define PS_PER_NS INT64_C(1000)
#define PS_PER_US INT64_C(1000000)
#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_S INT64_C(1000000000000)

/* step_ps is the last decimal shown: enough to distinguish rows, without digits beyond the clock
 * resolution. */
static const struct unit {
    int64_t step_ps;
    unsigned decimals;
    const char *name, *sign;
} units[] = {
    [VP_UNIT_AUTO] = {PS_PER_US, 3, "ms", "ms"},
    [VP_UNIT_NS] = {PS_PER_NS / 10, 1, "ns", "ns"},
    [VP_UNIT_US] = {PS_PER_US / 100, 2, "us", "µs"},
    [VP_UNIT_MS] = {PS_PER_MS / 1000, 3, "ms", "ms"},
    [VP_UNIT_S] = {PS_PER_S / 1000, 3, "s", "s"},
};

const char *const rep_part_names[REP_PARTS] = {"compute", "exposed comm", "exposed copy", "idle"};
const char *const rep_part_css[REP_PARTS] = {"comp", "comm", "copy", "idle"};

vp_view rep_view(const vp_view *v)
{
    return v ? *v : (vp_view)VP_VIEW_INIT;
}

vp_unit rep_unit_for(vp_unit asked, int64_t scale_ps)
{
    if (asked != VP_UNIT_AUTO)
        return asked;
    if (scale_ps < PS_PER_US)
        return VP_UNIT_NS;
    if (scale_ps < PS_PER_MS)
        return VP_UNIT_US;
    return scale_ps < PS_PER_S ? VP_UNIT_MS : VP_UNIT_S;
}

const char *rep_unit_name(vp_unit unit)
{
    return units[unit].name;
}

const char *rep_unit_sign(vp_unit unit)
{
    return units[unit].sign;
}

static int put_unknown(vp_buf *b)
{
    return vp_buf_putc(b, '-');
}

/* step_ps: the last decimal shown. */
static int put_decimals(vp_buf *b, uint64_t ps, uint64_t step_ps, unsigned decimals)
{
    char text[48];
    size_t i = sizeof text;
    uint64_t steps = (ps + step_ps / 2) / step_ps;
    for (unsigned k = 0; k < decimals; k++, steps /= 10)
        text[--i] = (char)('0' + steps % 10);
    text[--i] = '.';
    do
        text[--i] = (char)('0' + steps % 10);
    while (steps /= 10);
    return vp_buf_put(b, text + i, sizeof text - i);
}

int rep_put_ps(vp_buf *b, int64_t ps, vp_unit unit)
{
    int64_t step = units[unit].step_ps;
    unsigned decimals = units[unit].decimals;
    if (ps < 0)
        return put_unknown(b);
    for (; ps && step > 1 && ps / step < 10 && (ps + step / 2) / step < 10; step /= 10)
        decimals++;
    return put_decimals(b, (uint64_t)ps, (uint64_t)step, decimals);
}

int rep_put_when(vp_buf *b, int64_t start_ps, vp_unit unit, int64_t dur_ps)
{
    int64_t step = units[unit].step_ps;
    unsigned decimals = units[unit].decimals;
    if (start_ps == VP_NO_TIME)
        return put_unknown(b);
    for (; dur_ps > 0 && step > dur_ps / 10 && step >= 1000; step /= 1000)
        decimals += 3;
    if (start_ps < 0)
        vp_buf_putc(b, '-');
    return put_decimals(b, start_ps < 0 ? 0 - (uint64_t)start_ps : (uint64_t)start_ps,
                        (uint64_t)step, decimals);
}

int rep_duration(vp_buf *b, int64_t ps, vp_unit unit, int64_t scale_ps)
{
    unit = rep_unit_for(unit, scale_ps);
    rep_put_ps(b, ps, unit);
    return ps < 0 ? b->status : vp_buf_printf(b, " %s", rep_unit_name(unit));
}

int rep_put_value(vp_buf *b, double v)
{
    if (!isfinite(v))
        return vp_buf_putc(b, '-');
    bool whole = v > -1e12 && v < 1e12 && v == (double)(int64_t)v;
    return vp_buf_printf(b, whole ? "%.0f" : "%.6g", v);
}

int rep_put_count(vp_buf *b, int64_t n, bool grouping)
{
    char digits[24];
    if (n < 0)
        return put_unknown(b);
    if (!grouping)
        return vp_buf_u64(b, (uint64_t)n);
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            vp_buf_putc(b, ',');
        vp_buf_putc(b, digits[i]);
    }
    return b->status;
}

int rep_put_bytes(vp_buf *b, int64_t bytes)
{
    char text[VP_HUMAN_BYTES];
    return vp_buf_puts(b, vp_bytes_text(text, bytes));
}

int rep_put_number(vp_buf *b, double v, int decimals)
{
    if (!isfinite(v))
        return put_unknown(b);
    return vp_buf_printf(b, "%.*f", vp_decimals_for(v, decimals), v);
}

int rep_put_ratio(vp_buf *b, double v, int decimals)
{
    return isfinite(v) ? vp_buf_printf(b, "%.*f", decimals, v) : put_unknown(b);
}

int rep_put_hundredths(vp_buf *b, int64_t v)
{
    return vp_buf_printf(b, "%lld.%02d", (long long)(v / 100), (int)(v % 100));
}

int rep_put_percent(vp_buf *b, int64_t part, int64_t whole)
{
    char text[VP_HUMAN_BYTES];
    return vp_buf_puts(b, vp_percent_text(text, part, whole));
}

void rep_shares(int *out, const int64_t *parts, size_t n)
{
    __int128 sum = 0, rest[8];
    int left = REP_PERCENT_ALL;
    for (size_t i = 0; i < n; i++)
        sum += parts[i] > 0 ? parts[i] : 0;
    for (size_t i = 0; i < n; i++) {
        __int128 scaled = sum && parts[i] > 0 ? (__int128)parts[i] * REP_PERCENT_ALL : 0;
        out[i] = sum ? (int)(scaled / sum) : 0;
        rest[i] = sum ? scaled % sum : 0;
        left -= out[i];
    }
    while (sum && left-- > 0) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++)
            if (rest[i] > rest[best])
                best = i;
        out[best]++;
        rest[best] = -1;
    }
}

int64_t rep_mean_ps(const vp_op *op)
{
    int64_t n = op->calls - op->inner_calls;
    if (n <= 0 || op->total_ps < 0)
        return VP_UNKNOWN;
    int64_t whole = op->total_ps / n, rest = op->total_ps % n;
    return whole + (rest >= n - rest ? 1 : 0);
}

int64_t rep_stddev_ps(const vp_op *op)
{
    if (!(op->stddev_ps >= 0) || op->stddev_ps > (double)(INT64_MAX / 2))
        return VP_UNKNOWN;
    return (int64_t)(op->stddev_ps + 0.5);
}

double rep_cv(const vp_op *op)
{
    if (op->calls <= 0 || op->total_ps <= 0 || !(op->stddev_ps >= 0))
        return NAN;
    return op->stddev_ps * (double)op->calls / ((double)op->total_ps + (double)op->inner_ps);
}

/* Something per picosecond is 1000 G of it per second. */
static double rate_per_second(int64_t amount, int64_t ps)
{
    return amount < 0 || ps <= 0 ? NAN : (double)amount / (double)ps * 1000;
}

static bool is_half_of(const char *text, vp_str half)
{
    vp_str s = vp_str_of(text ? text : "");
    size_t at = vp_str_find(s, half);
    return at < s.n && (at + half.n == s.n || s.p[at + half.n] == '.');
}

/* "copy-start", "all-gather-done.3": starts the work or waits for its end; the work itself runs in
 * between. */
static bool is_async_half(const vp_op *op)
{
    const vp_str halves[] = {VP_STR("-start"), VP_STR("-done")};
    for (size_t i = 0; i < 2; i++)
        if (is_half_of(op->name, halves[i]) || is_half_of(op->category, halves[i]))
            return true;
    return false;
}

double rep_gb_per_s(const vp_op *op)
{
    return is_async_half(op) ? NAN : rate_per_second(op->bytes, op->total_ps);
}

double rep_gflop_per_s(const vp_op *op)
{
    return is_async_half(op) ? NAN : rate_per_second(op->flops, op->total_ps);
}

int64_t rep_window_of(const vp_report *r, const vp_op *op)
{
    int64_t window = r->devices[op->device].breakdown.window_ps;
    return op->self_ps <= window ? window : VP_UNKNOWN;
}

double rep_bus_factor(const vp_collective *c)
{
    static const struct {
        const char *kind;
        int times;
    } factors[] = {{"all-reduce", 2}, {"all-gather", 1}, {"reduce-scatter", 1}, {"all-to-all", 1}};
    for (size_t i = 0; c->kind && i < sizeof factors / sizeof *factors; i++)
        if (!strcmp(c->kind, factors[i].kind))
            return c->group_size < 1
                       ? NAN
                       : factors[i].times * (double)(c->group_size - 1) / (double)c->group_size;
    return 1;
}

double rep_algorithm_gb_per_s(const vp_collective *c)
{
    return rate_per_second(c->bytes, c->total_ps);
}

double rep_bus_gb_per_s(const vp_collective *c)
{
    return rep_algorithm_gb_per_s(c) * rep_bus_factor(c);
}

double rep_transfer_gb_per_s(const vp_transfer *t)
{
    return rate_per_second(t->bytes, t->busy_ps);
}

bool rep_barrier_waits(const vp_report *r, uint32_t *most, uint32_t *least)
{
    uint32_t n = 0;
    *most = *least = VP_NO_DEVICE;
    for (uint32_t i = 0; i < r->device_count; i++) {
        const vp_device *d = &r->devices[i];
        if (d->barriers <= 0)
            continue;
        if (n++ && d->barriers != r->devices[*most].barriers)
            return false;
        if (*most == VP_NO_DEVICE || d->barrier_ps > r->devices[*most].barrier_ps)
            *most = i;
        if (*least == VP_NO_DEVICE || d->barrier_ps < r->devices[*least].barrier_ps)
            *least = i;
    }
    return n >= 2;
}

size_t rep_beyond(int64_t total, size_t listed)
{
    return total > (int64_t)listed ? (size_t)total - listed : 0;
}

int64_t rep_per_step_ps(const vp_report *r, const vp_op *op)
{
    int64_t n = op->device < r->device_count ? r->devices[op->device].steps_counted : VP_UNKNOWN;
    if (n <= 0 || op->step_self_ps < 0)
        return VP_UNKNOWN;
    return op->step_self_ps / n + (op->step_self_ps % n >= n - op->step_self_ps % n);
}

int rep_put_spark(vp_buf *b, int64_t x, int64_t most)
{
    static const char *const sparks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (x < 0 || most <= 0)
        return vp_buf_putc(b, ' ');
    return vp_buf_puts(b, sparks[(size_t)((__int128)(x < most ? x : most) * 7 / most)]);
}

static void put_two_digits(char *digits, int n)
{
    digits[0] = (char)('0' + n / 10);
    digits[1] = (char)('0' + n % 10);
}

int rep_put_time(vp_buf *b, int64_t unix_ns)
{
    struct tm tm;
    char text[] = "0000-00-00 00:00:00";
    time_t s = (time_t)(unix_ns / 1000000000);
    if (unix_ns < 0 || !localtime_r(&s, &tm))
        return put_unknown(b);
    put_two_digits(text, (tm.tm_year + 1900) / 100); /* 64 bits of ns end in 2262 */
    put_two_digits(text + 2, (tm.tm_year + 1900) % 100);
    put_two_digits(text + 5, tm.tm_mon + 1);
    put_two_digits(text + 8, tm.tm_mday);
    put_two_digits(text + 11, tm.tm_hour);
    put_two_digits(text + 14, tm.tm_min);
    put_two_digits(text + 17, tm.tm_sec);
    return vp_buf_put(b, text, sizeof text - 1);
}

void rep_breakdown_parts(int64_t out[REP_PARTS], const vp_breakdown *d)
{
    out[REP_COMPUTE] = d->compute_ps;
    out[REP_COMM] = d->exposed_comm_ps;
    out[REP_COPY] = d->exposed_copy_ps;
    out[REP_IDLE] = d->idle_ps;
}

const vp_breakdown *rep_critical(const vp_step *s)
{
    const vp_step_device *d = result_step_device(s, s->device);
    return d ? &d->breakdown : NULL;
}
