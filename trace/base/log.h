/* Log lines and progress of the programs on stderr: one line per message, control characters
 * escaped. The libraries don't log, except for recordings requested by environment variables, which
 * have no caller. The log level is the only global state. */
#ifndef VP_BASE_LOG_H
#define VP_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

enum { VP_LOG_ERROR, VP_LOG_WARN, VP_LOG_INFO, VP_LOG_DEBUG };

void vp_log_set_level(int level); /* default VP_LOG_INFO */
int vp_log_level(void);
/* Writes "view_profile: " + text + newline to stderr in one write. */
void vp_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends bytes escaped for a terminal or a log line: control characters, ESC, bidirectional
 * controls and invalid UTF-8 become \xNN or \u{…}; everything else is kept. */
int vp_put_escaped(vp_buf *b, vp_str s);

/* Progress of long work. The callee reports; the caller decides what to show. A nonzero result
 * cancels the work (VP_ECANCELLED). total_bytes is -1 if unknown. */
typedef int vp_progress_fn(void *ctx, int64_t done_bytes, int64_t total_bytes);

#endif
