/* Declarations shared by the formats of a comparison. */
#ifndef VP_REPORT_COMPARE_VIEW_H
#define VP_REPORT_COMPARE_VIEW_H

#include "trace/base/json.h"
#include "trace/report/labels/numbers.h"

bool rep_moved(const vp_comparison *c, const vp_compared_op *op); /* above the noise */
bool rep_has_backward(const vp_comparison *c);        /* scopes with backward or repeated work */
double rep_flop_time_ratio(const vp_compared_op *op); /* ratio B / A of the time per FLOP; NaN */
/* "+1.234", "-0.500", "0.000"; "-" if unknown. */
int rep_put_delta(vp_buf *b, const vp_delta *d, vp_unit unit);
/* "10", "3.3" for a range; "-" if unknown. */
int rep_put_calls(vp_buf *b, double calls);
/* Change relative to A, "+12.3%"; "new", "gone" or "-" if A or B is 0. */
int rep_put_change(vp_buf *b, const vp_delta *d);
/* The device whose waterfall is drawn: the one that changed most; device_count if there is none. */
size_t rep_compare_worst(const vp_comparison *c);
/* The four classes of a device's window, in the order of REP_PARTS. */
void rep_compare_parts(const vp_delta *out[REP_PARTS], const vp_compared_device *d);
int64_t rep_delta_size(const vp_delta *d); /* |delta|; 0 if unknown */
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

/* The verdict as a heading, and the names of both sides. */
void rep_md_verdict(vp_buf *b, vp_verdict verdict, const char *reason, const char *a,
                    const char *c);
/* A code span; characters that would end it or a cell are replaced. */
void rep_md_code(vp_buf *b, const char *z);
/* The head and a row of a table of differences. why: a last column. */
void rep_md_heads(vp_buf *b, const char *what, vp_unit unit, bool why);
void rep_md_delta(vp_buf *b, const char *name, bool code, const vp_delta *d, vp_unit unit,
                  const char *why);
/* A suite with the number of tests and their duration; then one case each, which stays open. what:
 * "failure", "skipped" or NULL. rep_junit_end closes the last case with a text, unless rc is a
 * failure, and returns rc or the status of the buffer; the caller closes earlier cases with
 * REP_JUNIT_NEXT. */
#define REP_JUNIT_NEXT "</testcase>\n"
void rep_junit_begin(vp_buf *b, size_t tests, size_t failures, size_t skipped, int64_t ps);
void rep_junit_case(vp_buf *b, const char *name, int64_t ps, const char *what, const char *why);
int rep_junit_end(vp_buf *b, int rc, vp_str text);

#endif
