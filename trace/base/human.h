/* Figures as people read them, decided once for tables, pages, findings and messages: sizes in
 * binary units, shares with two decimals, at least two significant digits of what is not zero. Any
 * file may include this; texts are written to the caller's array, nothing is allocated. */
#ifndef VP_BASE_HUMAN_H
#define VP_BASE_HUMAN_H

#include <stddef.h>
#include <stdint.h>

enum { VP_HUMAN_BYTES = 32 }; /* holds any of these texts */

/* "512 B", "1.4 MiB"; half up. "-" for unknown (negative). Returns text. */
const char *vp_bytes_text(char text[VP_HUMAN_BYTES], int64_t bytes);
/* "12.34%", "0.0031%": exact, half up; what is less than all is "99.99%" at most, what is more than
 * nothing "0.0001%" at least. "-" where part is negative or whole not positive. Returns text. */
const char *vp_percent_text(char text[VP_HUMAN_BYTES], int64_t part, int64_t whole);
/* Decimals to print v with, so that it has two significant digits: `decimals`, or more. */
int vp_decimals_for(double v, int decimals);

#endif
