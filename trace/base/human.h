/* Numbers formatted for people, in one way for tables, pages, findings and messages: sizes in
 * binary units, shares with two decimals, at least two significant digits of a nonzero value. Texts
 * are written to the caller's array; nothing is allocated and nothing fails. */
#ifndef VP_BASE_HUMAN_H
#define VP_BASE_HUMAN_H

#include <stddef.h>
#include <stdint.h>

enum { VP_HUMAN_BYTES = 32 }; /* enough for any text of this header */

/* "512 B", "1.4 MiB"; rounded half up. "-" if unknown (negative). Returns text. */
const char *vp_bytes_text(char text[VP_HUMAN_BYTES], int64_t bytes);
/* "12.34%", "0.0031%": exact, rounded half up. Shares below the whole show "99.99%" at most, and
 * shares above zero "0.0001%" at least. "-" if part is negative or whole not positive. Returns
 * text. */
const char *vp_percent_text(char text[VP_HUMAN_BYTES], int64_t part, int64_t whole);
/* Number of decimals that shows two significant digits of v: at least `decimals`. */
int vp_decimals_for(double v, int decimals);

#endif
