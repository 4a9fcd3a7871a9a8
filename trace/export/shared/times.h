/* Times for viewers: whole ns, exact text in µs, and small enough for doubles. Pure functions. */
#ifndef VP_EXPORT_TIMES_H
#define VP_EXPORT_TIMES_H

#include "trace/base/buf.h"

/* Times of JSON stay below this many ns, 11 days, so that the importer's doubles represent whole ns
 * (docs/reference/perfetto.md#time-precision). Times of a file are reduced by a multiple of it, so
 * that links can do the same. */
#define EX_TIME_MODULUS_NS INT64_C(1000000000000000)

/* Picoseconds in whole ns, rounded half up. */
static inline int64_t ex_round_ns(int64_t ps)
{
    int64_t ns = ps / 1000, rest = ps % 1000;
    if (rest < 0) {
        ns--;
        rest += 1000;
    }
    return ns + (rest >= 500);
}

/* Remainder below 1 ns, in ps (-500…499). */
static inline int64_t ex_rest_ps(int64_t ps)
{
    int64_t rest = ps % 1000;
    if (rest < 0)
        rest += 1000;
    return rest < 500 ? rest : rest - 1000;
}

/* Writes nanoseconds as microseconds, exactly, without trailing zeros: at most EX_US_MAX characters
 * at p. Returns the end. */
#define EX_US_MAX 24
char *ex_us_text(char *p, int64_t ns);
void ex_put_us(vp_buf *b, int64_t ns);

#endif
