#include "trace/base/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Formats bytes / 2^shift like "%.1f %s", for values below 10,000; ties round to the even digit.
 * Lists show a size for every run, and printing a double takes several times as long. */
static void put_tenths(char text[VP_HUMAN_BYTES], uint64_t bytes, unsigned shift, const char *unit)
{
    uint64_t mask = (UINT64_C(1) << shift) - 1, half = (mask + 1) / 2;
    uint64_t ten = (bytes & mask) * 10, tenth = ten >> shift, rest = ten & mask;
    tenth += rest > half || (rest == half && tenth % 2);
    uint64_t whole = (bytes >> shift) + tenth / 10;
    for (uint64_t digit = 1000; digit; digit /= 10)
        if (whole >= digit || digit == 1)
            *text++ = (char)('0' + whole / digit % 10);
    *text++ = '.';
    *text++ = (char)('0' + tenth % 10);
    *text++ = ' ';
    memcpy(text, unit, strlen(unit) + 1);
}

const char *vp_bytes_text(char text[VP_HUMAN_BYTES], int64_t bytes)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes / 1024;
    size_t i = 0;
    if (bytes < 0) {
        snprintf(text, VP_HUMAN_BYTES, "-");
    } else if (bytes < 1024) {
        snprintf(text, VP_HUMAN_BYTES, "%d B", (int)bytes);
    } else {
        for (; v >= 1023.95 && i + 1 < sizeof names / sizeof *names; i++) /* 1024.0: next */
            v /= 1024;
        put_tenths(text, (uint64_t)(double)bytes, 10 * ((unsigned)i + 1), names[i]);
    }
    return text;
}

const char *vp_percent_text(char text[VP_HUMAN_BYTES], int64_t part, int64_t whole)
{
    /* LEAST: steps for two digits. DECIMALS_MAX: a millionth of the whole. */
    enum { LEAST = 10, DECIMALS_MAX = 4 };
    int64_t one = 100; /* steps per percent at the last decimal */
    int decimals = 2;
    __int128 steps = 0;
    if (whole <= 0 || part < 0) {
        snprintf(text, VP_HUMAN_BYTES, "-");
        return text;
    }
    for (;; decimals++, one *= 10) {
        steps = ((__int128)part * 200 * one + whole) / (2 * (__int128)whole);
        if (!part || steps >= LEAST || decimals == DECIMALS_MAX)
            break;
    }
    if (part && !steps)
        steps = 1;
    if (part < whole && steps >= 100 * one)
        steps = 100 * one - 1;
    if (steps / one > INT64_MAX) /* clamps shares from hostile files */
        steps = (__int128)INT64_MAX * one;
    snprintf(text, VP_HUMAN_BYTES, "%lld.%0*lld%%", (long long)(steps / one), decimals,
             (long long)(steps % one));
    return text;
}

int vp_decimals_for(double v, int decimals)
{
    double least = pow(10, 1 - decimals);
    enum { DECIMALS_MAX = 9 }; /* smaller values have no practical meaning */
    v = fabs(v);
    if (!(v > 0) || !isfinite(v))
        return decimals;
    for (; v < least && decimals < DECIMALS_MAX; decimals++)
        least /= 10;
    return decimals;
}
