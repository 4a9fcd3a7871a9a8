/* Names of enums, for JSON and for people. Constant. */
#ifndef VP_REPORT_WORDS_H
#define VP_REPORT_WORDS_H

#include "include/view_profile.h"

/* Names of enums as in JSON, by value and terminated by NULL. */
extern const char *const rep_class_words[], *const rep_kind_words[], *const rep_severity_words[];
extern const char *const rep_depth_words[];
extern const char *const rep_split_words[];
extern const char *const rep_step_source_words[], *const rep_step_class_words[];
extern const char *const rep_direction_words[];
extern const char *const rep_buffer_kind_words[];
extern const char *const rep_peak_words[], *const rep_cost_words[];
extern const char *const rep_status_words[], *const rep_verdict_words[];
const char *rep_class_name(vp_op_class c);
const char *rep_class_css(vp_op_class c); /* CSS class of its color */
const char *rep_severity_name(vp_severity s);
const char *rep_group_name(vp_group g);
const char *rep_sort_name(vp_sort s);
/* Denominator of self time shares: " op time". */
const char *rep_self_of(const vp_report *r);
/* A sentence on the content of tables without devices. */
const char *rep_host_tables(const vp_report *r);
const char *rep_cause_name(vp_cause c);             /* "compile" */
const char *rep_cause_text(vp_cause c);             /* "the launching thread was compiling" */
const char *rep_direction_text(vp_direction d);     /* "host → device" */
const char *rep_verdict_name(vp_verdict v);         /* "regression" */
const char *rep_step_class_name(vp_step_class c);   /* "heavy" */
const char *rep_step_source_text(vp_step_source s); /* "annotations with step numbers" */

extern const char *const rep_part_names[]; /* by REP_COMPUTE …: "compute", "exposed comm", … */
extern const char *const rep_part_css[];   /* CSS classes of their colors */
const char *rep_level_name(vp_level l);    /* "low" */
const char *rep_status_name(vp_finding_status s); /* "not_evaluated" */

#endif
