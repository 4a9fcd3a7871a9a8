#include "trace/export/shared/times.h"

#include <string.h>

char *ex_us_text(char *p, int64_t ns)
{
    char digits[EX_US_MAX], *d = digits + sizeof digits;
    uint64_t all = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, us = all / 1000;
    uint32_t rest = (uint32_t)(all % 1000);
    do
        *--d = (char)('0' + us % 10);
    while (us /= 10);
    if (ns < 0)
        *--d = '-';
    size_t n = (size_t)(digits + sizeof digits - d);
    memcpy(p, d, n);
    p += n;
    if (!rest)
        return p;
    *p++ = '.';
    for (uint32_t unit = 100; rest; rest %= unit, unit /= 10)
        *p++ = (char)('0' + rest / unit);
    return p;
}

void ex_put_us(vp_buf *b, int64_t ns)
{
    char text[EX_US_MAX];
    vp_buf_put(b, text, (size_t)(ex_us_text(text, ns) - text));
}
