/* Implements vp_display_width of str.h. Widths follow Unicode's general category and East Asian
 * Width (UAX #11), not the locale, so that tables align in the same way on every machine. */
#include "trace/base/str.h"
#include "trace/base/text/width_table.h"

/* Reads the number that begins at nibble *at, and advances *at. */
static uint32_t read_nibble_varint(size_t *at)
{
    uint32_t n = 0, nibble;
    do {
        nibble = (uint32_t)width_runs[*at / 2] >> *at % 2 * 4;
        n = n << 3 | (nibble & 7);
        ++*at;
    } while (nibble & 8);
    return n;
}

static size_t codepoint_width(uint32_t c)
{
    size_t i = sizeof width_from / sizeof *width_from - 1;
    while (c < width_from[i]) /* width_from[0] is 0 */
        i--;
    size_t at = width_at[i];
    for (uint32_t end = width_from[i];;) {
        end += read_nibble_varint(&at);
        if (c < end)
            return 1;
        uint32_t run = read_nibble_varint(&at);
        end += run / 2;
        if (c < end)
            return run % 2 * 2;
    }
}

/* True if the next eight bytes are ASCII, as most of a table is. */
static bool are_ascii(vp_str s, size_t i)
{
    uint64_t eight;
    if (s.n - i < sizeof eight)
        return false;
    memcpy(&eight, s.p + i, sizeof eight);
    return !(eight & UINT64_C(0x8080808080808080));
}

size_t vp_display_width(vp_str s)
{
    size_t w = 0;
    for (size_t i = 0; i < s.n;) {
        if (are_ascii(s, i)) {
            w += 8;
            i += 8;
            continue;
        }
        const unsigned char *p = (const unsigned char *)s.p + i;
        unsigned len = *p < 0x80 ? 1 : vp_utf8_len(p, s.n - i);
        w += len < 2 ? 1 : codepoint_width(vp_utf8_at(p, len));
        i += len ? len : 1;
    }
    return w;
}
