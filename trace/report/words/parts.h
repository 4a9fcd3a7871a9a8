/* What the writers of this room share: numbers as people read them, and which devices and rows a
 * view shows. Nobody outside trace/report/ includes this. Nothing here owns memory but rep_rows. */
#ifndef VP_REPORT_PARTS_H
#define VP_REPORT_PARTS_H

#include "trace/base/json.h"
#include "trace/report/report.h"

#define REP_PERCENT_ALL 10000 /* shares are counted in hundredths of a percent */

/* The view, or the default where it is NULL. */
vp_view rep_view(const vp_view *v);

/* ---- Numbers (number.c) ---- */

/* The unit of a table whose largest value is scale_ps, unless one is asked for. */
vp_unit rep_unit_for(vp_unit asked, int64_t scale_ps);
const char *rep_unit_name(vp_unit unit); /* "us" */
const char *rep_unit_sign(vp_unit unit); /* "µs" */
/* The number alone, rounded half up to the unit's decimals, or to two digits where these would all
 * be 0: what is not zero never looks like it. "-" for unknown (negative). */
int rep_put_ps(vp_buf *b, int64_t ps, vp_unit unit);
/* A start, with as many decimals as it takes to place something of that length: the last one is a
 * tenth of it or less. Keeps its sign; "-" for VP_NO_TIME. No length: the unit's decimals. */
int rep_put_when(vp_buf *b, int64_t start_ps, vp_unit unit, int64_t dur_ps);
/* A number of the program's own: "1024", "0.125", "1.5e+12"; "-" for none. */
int rep_put_value(vp_buf *b, double v);
/* "1234", or "1,234,567" with grouping; "-" for unknown. */
int rep_put_count(vp_buf *b, int64_t n, bool grouping);
int rep_put_bytes(vp_buf *b, int64_t bytes); /* "1.4 MiB", "-" for unknown */
/* "12.34%"; "-" when the whole is not positive. */
int rep_put_percent(vp_buf *b, int64_t part, int64_t whole);
int rep_put_hundredths(vp_buf *b, int64_t v); /* 1234 -> "12.34" */
/* Shares of the parts in hundredths of a percent that sum to exactly REP_PERCENT_ALL (largest
 * remainder, ties to the earlier part); all 0 when the parts sum to 0. n <= 8. */
void rep_shares(int *out, const int64_t *parts, size_t n);
/* Of the outermost calls, rounded half up; VP_UNKNOWN without calls. */
int64_t rep_mean_ps(const vp_op *op);
int64_t rep_stddev_ps(const vp_op *op); /* rounded, VP_UNKNOWN where it is no number */
double rep_cv(const vp_op *op);         /* stddev / mean; NaN when unknown */
/* NaN when unknown, and of the halves of async ops, in whose time the work is not done; likewise:
 */
double rep_gb_per_s(const vp_op *op);
double rep_gflop_per_s(const vp_op *op);
/* The window that the op's self time is a part of: its device's. VP_UNKNOWN where several tracks
 * that run at once add up to more than that. */
int64_t rep_window_of(const vp_report *r, const vp_op *op);
/* Of a collective, per participant: bytes over time, and that times the factor by which the wires
 * carry more or less than the payload (analysis.md A4); NaN when unknown. */
double rep_algorithm_gb_per_s(const vp_collective *c);
double rep_bus_gb_per_s(const vp_collective *c);
/* 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all among n, else 1;
 * NaN where the number of participants matters and is unknown. */
double rep_bus_factor(const vp_collective *c);
double rep_transfer_gb_per_s(const vp_transfer *t);           /* bytes over the time in flight */
int64_t rep_per_step_ps(const vp_report *r, const vp_op *op); /* mean, VP_UNKNOWN */
/* The devices that wait longest and least at barriers, among at least two that wait as often;
 * false where no two do. */
bool rep_barrier_waits(const vp_report *r, uint32_t *most, uint32_t *least);
/* Names on host threads beyond the first `shown` that are listed. */
size_t rep_host_ops_beyond(const vp_report *r, size_t shown);
/* Where a zone ran: its thread, or "64 threads". Escaped for a terminal. */
void rep_threads(vp_buf *b, const vp_host_op *op);
/* "2026-01-11 21:26:41" in local time; "-" for unknown. */
int rep_put_time(vp_buf *b, int64_t unix_ns);

/* Words of enums, by value, NULL at the end: as JSON has them. */
extern const char *const rep_class_words[], *const rep_kind_words[], *const rep_severity_words[];
extern const char *const rep_group_words[], *const rep_depth_words[], *const rep_cause_words[];
extern const char *const rep_split_words[];
extern const char *const rep_step_source_words[], *const rep_step_class_words[];
extern const char *const rep_direction_words[]; /* all in names.c */
const char *rep_class_name(vp_op_class c);
const char *rep_severity_name(vp_severity s);
const char *rep_group_name(vp_group g);
const char *rep_sort_name(vp_sort s);
/* What self times of the tables are shares of: " op time". */
const char *rep_self_of(const vp_report *r);
/* What the tables are of where they are not of devices; a sentence. */
const char *rep_host_tables(const vp_report *r);
const char *rep_cause_name(vp_cause c);           /* "compile"; names.c, likewise: */
const char *rep_cause_text(vp_cause c);           /* "the launching thread was compiling" */
const char *rep_direction_text(vp_direction d);   /* "host → device" */
const char *rep_verdict_name(vp_verdict v);       /* "regression" */
const char *rep_step_class_name(vp_step_class c); /* "heavy" */

/* The four parts of a device's window, in the order of every table and bar. */
enum { REP_COMPUTE, REP_COMM, REP_COPY, REP_IDLE, REP_PARTS };
void rep_breakdown_parts(int64_t out[REP_PARTS], const vp_breakdown *d);
extern const char *const rep_part_names[REP_PARTS]; /* "compute", "exposed comm", … */

/* ---- JSON ---- */

/* Begins a document: schema and tool. The caller ends the object. */
void rep_json_head(vp_json *j, const char *schema);
/* The same, with the session and the window of a report. */
void rep_json_open(vp_json *j, vp_buf *b, const vp_report *r, const char *schema);
void rep_json_texts(vp_json *j, const char *key, const char *const *texts, size_t n);
/* "findings": [...], every rule in rank order. */
void rep_json_findings(vp_json *j, const vp_report *r);
const char *rep_level_name(vp_level l);           /* "low" */
const char *rep_status_name(vp_finding_status s); /* "not_evaluated" */

/* ---- CSV ---- */

/* A quoted cell that no spreadsheet takes for a formula; nothing for NULL. */
void rep_csv_text(vp_buf *b, const char *z);
/* The same behind a comma. */
void rep_csv_next_text(vp_buf *b, const char *z);
void rep_csv_next_i64(vp_buf *b, int64_t v, int64_t unknown);
void rep_csv_next_double(vp_buf *b, double v); /* nothing unless finite */

/* ---- Devices and rows (select.c) ---- */

bool rep_device_matches(const vp_report *r, const vp_view *v, size_t device);
/* 0, or VP_ENOTFOUND naming what there is when a device or host was asked for and none matches. */
int rep_check_filters(const vp_report *r, const vp_view *v);
/* Marks in full[device_count] the devices that get an op table: those asked for; else up to two a
 * kind, of more only the busiest. *matching counts the devices that the filters let through. */
void rep_pick_devices(bool *full, size_t *matching, const vp_report *r, const vp_view *v);

/* The op table of one device. Shown + others = all rows of the device, exactly. */
typedef struct rep_rows {
    uint32_t *index; /* indices into r->ops, in the view's order */
    size_t shown, matching;
    int64_t all_self_ps; /* the denominator of self_share_of_ops */
    int64_t shown_self_ps;
    int64_t others_self_ps, others_total_ps, others_calls; /* of the rows not shown */
    size_t others;
    size_t hidden; /* of the others: those below 0.5 % of all_self_ps */
    int64_t hidden_self_ps;
    int64_t max_self_ps, max_total_ps, max_call_ps; /* over the shown rows: for units and bars */
} rep_rows;

/* Trailing rows below 0.5 % are not shown once the rows before them hold 95 % of the self time,
 * unless the view asks for all rows, filters them or sorts by calls or max. A filter drops rows
 * altogether: shown and others are then of those that match. */
int rep_rows_of(rep_rows *out, const vp_report *r, const vp_view *v, size_t device);
/* The same with at most so many rows, whatever the view asks for; 0: VP_TOP_MAX. */
int rep_rows_most(rep_rows *out, const vp_report *r, const vp_view *v, size_t device, size_t most);
void rep_rows_free(rep_rows *rows);

#endif
