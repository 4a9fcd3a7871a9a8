/* What `compare` found, in words: how much longer a step takes, and which part of the graph and
 * which op that lies in, or which memory grew. Files of this room include it; it owns nothing. */
#ifndef VP_WATCH_VERDICT_H
#define VP_WATCH_VERDICT_H

#include "server/watch/watch_job.h"
#include "trace/base/buf.h"

/* Of view_profile.compare/1. `slower`: a limit was broken, and the words say which parts did that;
 * peak_percent: by how much more a peak may be, not a number where that is no limit. *verdict: a
 * constant. VP_ECORRUPT. */
int watch_verdict(vp_buf *words, const char **verdict, vp_str compare_json, bool slower,
                  double peak_percent);

/* The figures of a line of view_profile.history/1. */
typedef struct watch_line {
    int64_t steps, median_ps, p90_ps; /* of a step, else of the window; VP_UNKNOWN */
    int64_t mean_ps;                  /* of a step on the slowest device */
    int64_t first_step, last_step, first_unix_ns, last_end_unix_ns;
} watch_line;
int watch_line_read(watch_line *out, vp_str history_line);

/* What the capture cost the job, as far as numbered steps tell: the mean step inside it beside that
 * of the steps between the capture before and this one. Nothing is put where that cannot be known.
 */
void watch_put_cost(vp_buf *b, const watch_job *j, const watch_line *now, int64_t every_ms,
                    int64_t duration_ms);

#endif
