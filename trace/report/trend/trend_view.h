/* Histories: one JSON line per run (view_profile.history/1), appended by a comparison and read for
 * a trend, which is printed as text, JSON (view_profile.trend/1) or HTML. Fails if a line is
 * invalid. */
#ifndef VP_REPORT_TREND_VIEW_H
#define VP_REPORT_TREND_VIEW_H

#include "trace/analyze/compare/trend.h"
#include "trace/base/buf.h"

/* Runs in display order. All data is allocated in the arena. */
typedef struct trend {
    vp_arena arena;
    trend_run *runs;
    size_t count, cap;
} trend;

void trend_init(trend *t);
void trend_free(trend *t);
int trend_add(trend *t, const vp_report *r);
/* Reads every line of a history; VP_ECORRUPT names the line. */
int trend_add_history(trend *t, const char *path);
bool trend_is_history(const char *path); /* recognized by its first bytes */
/* Sorts by the time of capture if every run has one; else keeps the order. */
void trend_sort(trend *t);

/* One line with its line feed. */
int rep_history_line(vp_buf *b, const trend_run *run);
int rep_trend_text(vp_buf *b, const trend *t, const vp_view *v);
int rep_trend_json(vp_buf *b, const trend *t);
int rep_trend_html(vp_buf *b, const trend *t, const vp_view *v);

#endif
