/* Steps, idle time and launches on the terminal. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/table/device_tables.h"
#include "trace/report/table/idle_tables.h"
#include "trace/report/table/mfu_tables.h"
#include "trace/report/table/steps_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

#define STEPS_SHOWN 12u
#define LABELS_MAX 10u
#define GAPS_MAX 5u
#define DEVICES_MAX 24u

/* ---- Steps ---- */

static void line_put_duration(vp_buf *line, const vp_view *v, const char *word, int64_t ps)
{
    vp_buf_printf(line, "%s%s ", line->n ? ", " : "", word);
    rep_duration(line, ps, v->unit, ps);
}

static void put_statistics(vp_buf *b, const vp_report *r, const vp_view *v)
{
    const vp_steps *s = &r->steps;
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    if (s->counted > 0) {
        line_put_duration(&line, v, "median", s->median_ps);
        line_put_duration(&line, v, "p90", s->p90_ps);
        line_put_duration(&line, v, "MAD", s->mad_ps);
        vp_buf_puts(&line, ", CV ");
        rep_put_ratio(&line, s->cv, 2);
        line_put_duration(&line, v, "from", s->min_ps);
        vp_buf_puts(&line, " to ");
        rep_duration(&line, s->max_ps, v->unit, s->max_ps);
        vp_buf_puts(&line, "; ");
    }
    vp_buf_printf(&line,
                  "%lld of %zu counted; source: ", (long long)(s->counted > 0 ? s->counted : 0),
                  s->series_count ? s->series[0].count : s->count);
    vp_buf_puts(&line, rep_step_source_text(s->source));
    if (s->series_count && s->series[0].name[0] && s->source != VP_STEPS_PROFILER) {
        vp_buf_puts(&line, " (");
        vp_put_escaped(&line, vp_str_of(s->series[0].name));
        vp_buf_puts(&line, ")");
    }
    vp_buf_puts(&line, ".");
    text_line(b, v, &line);
}

/* Each further series, such as evaluation between steps of training. */
static void put_other_series(vp_buf *b, const vp_report *r, const vp_view *v)
{
    const vp_steps *s = &r->steps;
    for (size_t i = 1; i < s->series_count; i++) {
        const vp_step_series *x = &s->series[i];
        vp_buf line;
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        vp_buf_puts(&line, "Separate series ");
        vp_put_escaped(&line, vp_str_of(x->name));
        vp_buf_printf(&line, ": %zu step%s, ", x->count, x->count == 1 ? "" : "s");
        if (x->counted > 0) {
            vp_buf_puts(&line, "median ");
            rep_duration(&line, x->median_ps, v->unit, x->median_ps);
            vp_buf_puts(&line, ", ");
        }
        vp_buf_puts(&line, "total ");
        rep_duration(&line, x->total_ps, v->unit, x->total_ps);
        vp_buf_puts(&line, ".");
        text_line(b, v, &line);
    }
}

/* The number of the program; else the order in time, as on the page. */
static tbl_style text_put_step_name(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_step *s = row;
    const vp_steps *all = &t->r->steps;
    (void)c;
    if (all->series_count > 1) {
        vp_put_escaped(b, vp_str_of(all->series[s->series].name));
        vp_buf_puts(b, " ");
    }
    if (s->number >= 0)
        rep_put_count(b, s->number, false);
    else
        vp_buf_printf(b, "#%zu", (size_t)(s - all->list) + 1);
    return TBL_PLAIN;
}

/* Selects the longest, in that order; if there are not more, all in order of time. Returns how
 * many. */
static size_t pick_steps(const vp_step *out[STEPS_SHOWN], const vp_steps *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t at = n < STEPS_SHOWN ? n++ : STEPS_SHOWN;
        bool by_length = s->count > STEPS_SHOWN;
        for (; by_length && at > 0 && s->list[i].dur_ps > out[at - 1]->dur_ps; at--)
            if (at < STEPS_SHOWN)
                out[at] = out[at - 1];
        if (at < STEPS_SHOWN)
            out[at] = &s->list[i];
    }
    return n;
}

int text_steps(vp_buf *b, const vp_report *r, const vp_view *v)
{
    const vp_steps *s = &r->steps;
    const vp_step *shown[STEPS_SHOWN];
    cells_of_step cells[CELLS_OF_STEPS_MAX];
    tbl t;
    if (!s->count)
        return b->status;
    text_title(b, v, s->count > STEPS_SHOWN ? "Longest steps" : "Steps");
    put_statistics(b, r, v);
    put_other_series(b, r, v);
    tbl_steps(&t, r, v, shown, pick_steps(shown, s));
    t.own_text = text_put_step_name;
    t.beyond = s->count - t.row_count;
    VP_TRY(text_table(b, v, &t));
    tbl_cells_of_steps(&t, r, v, cells);
    VP_TRY(t.row_count ? text_titled_table(b, v, &t) : 0);
    tbl_step_kinds(&t, r, v);
    return t.row_count > 1 ? text_titled_table(b, v, &t) : b->status;
}

/* ---- Idle ---- */

static int text_put_idle_labels(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_idle_labels(&t, r, v);
    t.most = LABELS_MAX;
    if (!t.row_count)
        return b->status;
    text_title(b, v, "Idle time by host activity (percentages of the device's idle time)");
    return text_table(b, v, &t);
}

/* The first few, without their total number. */
static int text_put_gaps(vp_buf *b, const vp_report *r, const vp_view *v)
{
    int64_t shortest = INT64_MAX, longest = 0;
    size_t shown = 0, n = 0;
    tbl t;
    tbl_gaps(&t, r, v);
    for (; n < r->gap_count && shown < GAPS_MAX; n++) {
        int64_t ps = r->gaps[n].dur_ps;
        if (!t.shows(&t, &r->gaps[n]))
            continue;
        shown++;
        shortest = ps < shortest ? ps : shortest;
        longest = ps > longest ? ps : longest;
    }
    t.row_count = n;
    t.of = &shortest;
    t.unit[GAP_LENGTH] = rep_unit_for(v->unit, longest);
    return shown ? text_titled_table(b, v, &t) : b->status;
}

int text_idle(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_TRY(text_put_idle_labels(b, r, v));
    return text_put_gaps(b, r, v);
}

/* ---- Launches ---- */

int text_launches(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_launches(&t, r, v);
    t.most = DEVICES_MAX;
    t.unit[0] = VP_UNIT_US;
    return tbl_any(&t) ? text_titled_table(b, v, &t) : b->status;
}
