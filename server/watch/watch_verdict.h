/* Summarizes the result of `compare` in one line: the difference of the step time, and the scope
 * and op, or the memory, that caused it. It owns nothing. */
#ifndef VP_WATCH_VERDICT_H
#define VP_WATCH_VERDICT_H

#include "server/watch/watch_job.h"
#include "trace/base/buf.h"

/* Summarizes a view_profile.compare/1 document. `slower`: a limit was exceeded, and the text names
 * the parts that did so. peak_percent: limit of a peak; NAN: none. *verdict: a constant.
 * VP_ECORRUPT. */
int watch_verdict(vp_buf *words, const char **verdict, vp_str compare_json, bool slower,
                  double peak_percent);

/* The figures of a line of view_profile.history/1. */
typedef struct watch_line {
    int64_t steps, median_ps, p90_ps; /* of a step, else of the window; VP_UNKNOWN */
    int64_t mean_ps;                  /* of a step on the slowest device */
    int64_t first_step, last_step, first_unix_ns, last_end_unix_ns;
} watch_line;
int watch_line_read(watch_line *out, vp_str history_line);

/* Appends the overhead of capturing: the mean step time in this capture compared with that between
 * the previous capture and this one. Appends nothing if it is unknown (steps without numbers). */
void watch_put_cost(vp_buf *b, const watch_job *j, const watch_line *now, int64_t every_ms,
                    int64_t duration_ms);

#endif
