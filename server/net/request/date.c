#include "server/net/request/date.h"

#include <stdio.h>

#define DAY_S 86400
#define YEAR_S 31556952 /* seconds; the average of 400 years, which have 146,097 days */

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* Days from 1970-01-01 of a date of the Gregorian calendar. Years are counted from March, so that
 * the leap day is the last of its year; 719468 days lie between 0000-03-01 and 1970-01-01. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month < 3 ? year - 1 : year, m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int64_t days_in(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

bool http_date_put(char out[HTTP_DATE_SIZE], int64_t unix_s)
{
    static const char names[] = "ThuFriSatSunMonTueWed"; /* 1970-01-01 was a Thursday */
    out[0] = 0;
    if (unix_s < 0 || unix_s >= HTTP_DATE_END)
        return false;
    int64_t days = unix_s / DAY_S, s = unix_s % DAY_S, year = 1970 + days / 366, month = 1;
    while (days_of(year + 1, 1, 1) <= days)
        year++;
    int64_t day = days - days_of(year, 1, 1);
    while (day >= days_in(year, month))
        day -= days_in(year, month++);
    snprintf(out, HTTP_DATE_SIZE, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", names + 3 * (days % 7),
             (unsigned)(day + 1) % 100, months + 3 * (month - 1), (unsigned)year % 10000,
             (unsigned)(s / 3600) % 100, (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    return true;
}

/* ---- Reading ------------------------------------------------------------------------------ */

typedef struct parts {
    int64_t year, month, day, hour, minute, second;
} parts;

/* Exactly n digits. */
static bool parse_fixed_digits(vp_str *s, size_t n, int64_t *out)
{
    uint64_t v;
    vp_str field = vp_str_head(*s, n);
    if (field.n != n || !vp_take_uint(&field, INT64_MAX, &v) || field.n)
        return false;
    *s = vp_str_skip(*s, n);
    *out = (int64_t)v;
    return true;
}

static bool skip_expected_text(vp_str *s, vp_str what)
{
    bool yes = vp_str_starts(*s, what);
    if (yes)
        *s = vp_str_skip(*s, what.n);
    return yes;
}

static bool month_name(vp_str *s, int64_t *out)
{
    for (int64_t m = 0; m < 12; m++)
        if (skip_expected_text(s, (vp_str){months + 3 * m, 3})) {
            *out = m + 1;
            return true;
        }
    return false;
}

static bool time_of_day(vp_str *s, parts *p)
{
    return parse_fixed_digits(s, 2, &p->hour) && skip_expected_text(s, VP_STR(":")) &&
           parse_fixed_digits(s, 2, &p->minute) && skip_expected_text(s, VP_STR(":")) &&
           parse_fixed_digits(s, 2, &p->second);
}

/* "06 Nov 1994 08:49:37 GMT" */
static bool parse_fixdate(vp_str s, parts *p)
{
    return parse_fixed_digits(&s, 2, &p->day) && skip_expected_text(&s, VP_STR(" ")) &&
           month_name(&s, &p->month) && skip_expected_text(&s, VP_STR(" ")) &&
           parse_fixed_digits(&s, 4, &p->year) && skip_expected_text(&s, VP_STR(" ")) &&
           time_of_day(&s, p) && vp_str_eq(s, VP_STR(" GMT"));
}

/* "06-Nov-94 08:49:37 GMT" */
static bool parse_rfc850_date(vp_str s, parts *p)
{
    return parse_fixed_digits(&s, 2, &p->day) && skip_expected_text(&s, VP_STR("-")) &&
           month_name(&s, &p->month) && skip_expected_text(&s, VP_STR("-")) &&
           parse_fixed_digits(&s, 2, &p->year) && skip_expected_text(&s, VP_STR(" ")) &&
           time_of_day(&s, p) && vp_str_eq(s, VP_STR(" GMT"));
}

/* "Nov  6 08:49:37 1994" */
static bool asctime_form(vp_str s, parts *p)
{
    return month_name(&s, &p->month) && skip_expected_text(&s, VP_STR(" ")) &&
           (skip_expected_text(&s, VP_STR(" ")) ? parse_fixed_digits(&s, 1, &p->day)
                                                : parse_fixed_digits(&s, 2, &p->day)) &&
           skip_expected_text(&s, VP_STR(" ")) && time_of_day(&s, p) &&
           skip_expected_text(&s, VP_STR(" ")) && parse_fixed_digits(&s, 4, &p->year) && !s.n;
}

static bool to_seconds(const parts *p, int64_t *out)
{
    /* 60 is a leap second. */
    if (p->month < 1 || p->day < 1 || p->day > days_in(p->year, p->month) || p->hour > 23 ||
        p->minute > 59 || p->second > 60)
        return false;
    *out = days_of(p->year, p->month, p->day) * DAY_S + p->hour * 3600 + p->minute * 60 + p->second;
    return true;
}

/* The century for a two-digit year: the latest year that is at most 50 years ahead. */
static void complete_year(parts *p, int64_t now_s)
{
    int64_t latest = 1970 + now_s / YEAR_S + 50;
    p->year += latest - latest % 100;
    if (p->year > latest)
        p->year -= 100;
}

bool http_date_parse(vp_str s, int64_t now_s, int64_t *out)
{
    parts p = {0};
    s = vp_str_trim(s);
    size_t name = 0;
    while (name < s.n && ((s.p[name] | 0x20) >= 'a' && (s.p[name] | 0x20) <= 'z'))
        name++;
    vp_str rest = vp_str_skip(s, name);
    if (name < 3)
        return false;
    if (skip_expected_text(&rest, VP_STR(", "))) {
        if (parse_fixdate(rest, &p))
            return to_seconds(&p, out);
        if (!parse_rfc850_date(rest, &p))
            return false;
        complete_year(&p, now_s);
        return to_seconds(&p, out);
    }
    return skip_expected_text(&rest, VP_STR(" ")) && asctime_form(rest, &p) && to_seconds(&p, out);
}
