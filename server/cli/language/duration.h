/* Parses times of the command line: 1.5s, 500ms, 10m. */
#ifndef VP_CLI_DURATION_H
#define VP_CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* A time such as 1.5s; default unit: ns. */
bool cli_take_time(vp_str text, int64_t *ns);
/* The value of --window, START..END, END after START. 0, or VP_EARG. */
int cli_take_window(const char *text, int64_t *from_ns, int64_t *until_ns);
/* The value of --option, from least to most ms; default unit ms, and h for hours. 0, or CLI_USAGE
 * after printing an error. */
int cli_duration_ms(const char *option, const char *text, int64_t least, int64_t most, int64_t *ms);

#endif
