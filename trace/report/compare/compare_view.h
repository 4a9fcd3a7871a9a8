/* What the formats of a comparison share. Only trace/report/ includes this. */
#ifndef VP_REPORT_COMPARE_VIEW_H
#define VP_REPORT_COMPARE_VIEW_H

#include "trace/base/json.h"
#include "trace/report/labels/numbers.h"

bool rep_moved(const vp_comparison *c, const vp_compared_op *op); /* above the noise */
bool rep_has_backward(const vp_comparison *c); /* scopes with work going back, or done again */
double rep_flop_time_ratio(const vp_compared_op *op); /* of the time per FLOP, B / A; NaN */
/* "+1.234", "-0.500", "0.000"; "-" when unknown. */
int rep_put_delta(vp_buf *b, const vp_delta *d, vp_unit unit);
/* "10", "3.3" of a span; "-" when unknown. */
int rep_put_calls(vp_buf *b, double calls);
/* "+12.3%" of A; "new", "gone", "-" where A or B is nothing. */
int rep_put_change(vp_buf *b, const vp_delta *d);
/* The device that a waterfall is drawn for: the one that changed most; device_count without any. */
size_t rep_compare_worst(const vp_comparison *c);
/* The four classes of a device's window, in the order of REP_PARTS. */
void rep_compare_parts(const vp_delta *out[REP_PARTS], const vp_compared_device *d);
int64_t rep_delta_size(const vp_delta *d); /* |delta|; 0 when unknown */
/* "3 captures: 12.5, 12.6 and 12.9 ms; a is shown". */
void rep_put_captures(vp_buf *b, const vp_compared_capture *list, size_t n, vp_unit asked);
/* "Noise: 0.5 ms (3%) within captures, 1.2 ms (8%) between them." */
void rep_put_noise(vp_buf *b, const vp_comparison *c);
/* "main_allocator", "jit_step, as planned". */
void rep_compared_memory_name(vp_buf *b, const vp_compared_memory *m);
/* "+1.5 MiB", "-1.5 MiB". */
void rep_put_more_bytes(vp_buf *b, int64_t delta);

/* "key": {a_ps, b_ps, delta_ps} and, with_ratio, B / A. compare_json.c */
void rep_json_delta(vp_json *j, const char *key, const vp_delta *d, bool with_ratio);

/* ---- Markdown and JUnit, compare_ci.c ---- */

/* The verdict as a heading, and the names of the two sides. */
void rep_md_verdict(vp_buf *b, vp_verdict verdict, const char *reason, const char *a,
                    const char *c);
void rep_md_code(vp_buf *b,
                 const char *z); /* a code span; what would end it or a cell is replaced */
/* The head of a table of differences, and a row of it; why: a last column. */
void rep_md_heads(vp_buf *b, const char *what, vp_unit unit, bool why);
void rep_md_delta(vp_buf *b, const char *name, bool code, const vp_delta *d, vp_unit unit,
                  const char *why);
/* A suite of so many tests, which took so long; then a case each, which stays open; what:
 * "failure", "skipped" or NULL. rep_junit_end closes the last one with a text, unless rc is a
 * failure, and returns that or the buffer's; the caller closes those before it with REP_JUNIT_NEXT.
 */
#define REP_JUNIT_NEXT "</testcase>\n"
void rep_junit_begin(vp_buf *b, size_t tests, size_t failures, size_t skipped, int64_t ps);
void rep_junit_case(vp_buf *b, const char *name, int64_t ps, const char *what, const char *why);
int rep_junit_end(vp_buf *b, int rc, vp_str text);

#endif
