#include "trace/base/time.h"

#include <time.h>

/* Like mktime, which calls stat on the time zone file for every call, and so for every listed run.
 * The second guess is needed if a change of the UTC offset lies between the first guess and the
 * true time. */
static time_t local_time(struct tm *tm)
{
    time_t utc = timegm(tm), s = utc, guess;
    int guesses = 0;
    do {
        struct tm at;
        guess = s;
        if (!localtime_r(&guess, &at))
            return -1;
        s = utc - at.tm_gmtoff;
    } while (++guesses < 2 && s != guess);
    return s;
}

bool vp_time_from_local(const vp_civil *t, int64_t *unix_ns)
{
    struct tm tm = {.tm_year = t->year - 1900,
                    .tm_mon = t->month - 1,
                    .tm_mday = t->day,
                    .tm_hour = t->hour,
                    .tm_min = t->minute,
                    .tm_sec = t->second};
    if (t->year < 1970 || t->year > 9999 || t->month < 1 || t->month > 12 || t->day < 1 ||
        t->hour < 0 || t->hour > 23 || t->minute < 0 || t->minute > 59 || t->second < 0 ||
        t->second > 59)
        return false;
    time_t s = local_time(&tm);
    if (tm.tm_mday != t->day || tm.tm_mon != t->month - 1) /* such as February 31 */
        return false;
    if (s < -86400 || s > INT64_MAX / 1000000000)
        return false;
    *unix_ns = (int64_t)s * 1000000000;
    return true;
}

static bool take_fixed(vp_str *s, size_t digits, int *out)
{
    uint64_t v;
    vp_str part = vp_str_head(*s, digits);
    if (part.n != digits || !vp_str_to_u64(part, &v))
        return false;
    *s = vp_str_skip(*s, digits);
    *out = (int)v;
    return true;
}

static bool take_separator(vp_str *s, const char *any_of)
{
    if (!s->n || !*s->p || !strchr(any_of, *s->p))
        return false;
    *s = vp_str_skip(*s, 1);
    return true;
}

bool vp_time_from_run_name(vp_str name, int64_t *unix_ns)
{
    vp_civil t;
    bool ok = take_fixed(&name, 4, &t.year) && take_separator(&name, "_-") &&
              take_fixed(&name, 2, &t.month) && take_separator(&name, "_-") &&
              take_fixed(&name, 2, &t.day) && take_separator(&name, "_") &&
              take_fixed(&name, 2, &t.hour) && take_separator(&name, "_-:") &&
              take_fixed(&name, 2, &t.minute) && take_separator(&name, "_-:") &&
              take_fixed(&name, 2, &t.second);
    if (!ok || (name.n && *name.p >= '0' && *name.p <= '9'))
        return false;
    return vp_time_from_local(&t, unix_ns);
}

bool vp_time_from_epoch_digits(vp_str digits, int64_t *unix_ns)
{
    int64_t v, scale = digits.n == 10   ? 1000000000
                       : digits.n == 13 ? 1000000
                       : digits.n == 16 ? 1000
                       : digits.n == 19 ? 1
                                        : 0;
    if (!scale || *digits.p == '-' || !vp_str_to_i64(digits, &v) || v > INT64_MAX / scale)
        return false;
    *unix_ns = v * scale;
    return true;
}

static int64_t ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t vp_now_ns(void)
{
    return ns_of(CLOCK_MONOTONIC);
}

int64_t vp_now_ms(void)
{
    return ns_of(CLOCK_MONOTONIC) / 1000000;
}

int64_t vp_now_coarse_ms(void)
{
    return ns_of(CLOCK_MONOTONIC_COARSE) / 1000000;
}
