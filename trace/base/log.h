/* What the programs (never the library) say on stderr: one line, control characters escaped.
 * Also progress for long work on a terminal. The level is the only global state. */
#ifndef VP_BASE_LOG_H
#define VP_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

enum { VP_LOG_ERROR, VP_LOG_WARN, VP_LOG_INFO, VP_LOG_DEBUG };

void vp_log_set_level(int level); /* default VP_LOG_INFO */
int vp_log_level(void);
/* "view_profile: " + text + newline, to stderr, in one write. */
void vp_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes for a terminal or a log line: control characters, ESC, bidi controls and invalid UTF-8
 * become \xNN or \u{…}; everything else is kept. */
int vp_put_escaped(vp_buf *b, vp_str s);

/* Progress of long work. The callee reports, the caller decides what to show; returning nonzero
 * asks to stop (VP_ECANCELLED). total is -1 when unknown. */
typedef int vp_progress_fn(void *ctx, int64_t done_bytes, int64_t total_bytes);

#endif
