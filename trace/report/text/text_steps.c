/* Steps, idle time and launches: what a device waits for. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/table/steps_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

#define STEPS_SHOWN 12u
#define LABELS_MAX 10u
#define GAPS_MAX 5u
#define DEVICES_MAX 24u

/* ---- Steps ---- */

static void put_fact(vp_buf *line, const vp_view *v, const char *word, int64_t ps)
{
    vp_buf_printf(line, "%s%s ", line->n ? ", " : "", word);
    rep_duration(line, ps, v->unit, ps);
}

static void put_statistics(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const char *const found[] = {"", "the profiler's line of steps", "ProfilerStep",
                                        "step annotations", "repeats of the longest module"};
    const vp_steps *s = &r->steps;
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    if (s->counted > 0) {
        put_fact(&line, v, "median", s->median_ps);
        put_fact(&line, v, "p90", s->p90_ps);
        put_fact(&line, v, "MAD", s->mad_ps);
        vp_buf_printf(&line, ", CV %.2f", s->cv);
        put_fact(&line, v, "from", s->min_ps);
        vp_buf_puts(&line, " to ");
        rep_duration(&line, s->max_ps, v->unit, s->max_ps);
        vp_buf_puts(&line, "; ");
    }
    vp_buf_printf(&line, "%lld of %zu count; found by %s.",
                  (long long)(s->counted > 0 ? s->counted : 0), s->count, found[s->source]);
    text_line(b, v, &line);
}

/* As the program counts; else by the order in time, as the page names them. */
static tbl_style put_name(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_step *s = row;
    (void)c;
    if (s->number >= 0) {
        rep_put_count(b, s->number, false);
    } else {
        vp_put_escaped(b, s->name ? vp_str_of(s->name) : VP_STR("step"));
        vp_buf_printf(b, " #%zu", (size_t)(s - t->r->steps.list) + 1);
    }
    return TBL_PLAIN;
}

/* The longest, in that order; all in order of time when there are not more. Returns how many. */
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
    tbl t;
    if (!s->count)
        return b->status;
    text_title(b, v, s->count > STEPS_SHOWN ? "Steps, the longest" : "Steps");
    put_statistics(b, r, v);
    tbl_steps(&t, r, v, shown, pick_steps(shown, s));
    t.own_text = put_name;
    t.beyond = s->count - t.row_count;
    VP_TRY(text_table(b, v, &t));
    tbl_step_kinds(&t, r, v);
    return t.row_count > 1 ? text_titled_table(b, v, &t) : b->status;
}

/* ---- Idle ---- */

static int put_labels(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 0},
                                          {.drop = 3},
                                          {.left = true, .drop = 0},
                                          {.left = true, .want = 24, .min = 10},
                                          {.left = true, .want = 14, .min = 8, .drop = 2},
                                          {.left = true, .want = 12, .min = 8, .drop = 1}};
    size_t shown = 0, more = 0;
    grid g;
    if (!r->idle_label_count)
        return b->status;
    vp_unit unit = rep_unit_for(v->unit, r->idle_labels->total_ps);
    text_title(b, v, "Idle time by what the host did, of each device's idle time");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "idle", rep_unit_name(unit));
    text_head(&g, "idle%", NULL);
    text_head(&g, "gaps", NULL);
    text_head(&g, "cause", NULL);
    text_head(&g, "label", NULL);
    text_head(&g, "thread", NULL);
    text_head(&g, "device", NULL);
    for (size_t i = 0; i < r->idle_label_count; i++) {
        const vp_idle_label *x = &r->idle_labels[i];
        if (!rep_device_matches(r, v, x->device))
            continue;
        if (shown == LABELS_MAX) {
            more++;
            continue;
        }
        shown++;
        text_ps(&g, x->total_ps, unit);
        text_share(&g, x->total_ps, r->devices[x->device].breakdown.idle_ps);
        text_count(&g, x->gaps);
        grid_puts(&g, rep_cause_name(x->cause), TBL_PLAIN);
        grid_escaped(&g, x->label, TBL_PLAIN);
        grid_escaped(&g, x->thread, TBL_DIM);
        grid_escaped(&g, r->devices[x->device].name, TBL_PLAIN);
    }
    return text_finish(b, &g, v, more);
}

static vp_cause main_cause(const vp_gap *x)
{
    vp_cause best = VP_CAUSE_UNKNOWN;
    for (int i = 0; i < VP_CAUSES; i++)
        if (x->cause_ps[i] > x->cause_ps[best])
            best = (vp_cause)i;
    return best;
}

static int put_gaps(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 1},
                                          {.left = true, .drop = 0},
                                          {.left = true, .want = 22, .min = 10},
                                          {.left = true, .want = 22, .min = 10},
                                          {.left = true, .want = 12, .min = 8, .drop = 2}};
    const vp_gap *list[GAPS_MAX];
    int64_t shortest = INT64_MAX;
    size_t shown = 0;
    grid g;
    for (size_t i = 0; i < r->gap_count && shown < GAPS_MAX; i++)
        if (rep_device_matches(r, v, r->gaps[i].device))
            list[shown++] = &r->gaps[i];
    if (!shown)
        return b->status;
    vp_unit unit = rep_unit_for(v->unit, list[0]->dur_ps);
    vp_unit when = rep_unit_for(v->unit, r->end_ps);
    for (size_t i = 0; i < shown; i++)
        shortest = list[i]->dur_ps < shortest ? list[i]->dur_ps : shortest;
    text_title(b, v, "Longest gaps");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "gap", rep_unit_name(unit));
    text_head(&g, "at", rep_unit_name(when));
    text_head(&g, "cause", NULL);
    text_head(&g, "host does", NULL);
    text_head(&g, "then", NULL);
    text_head(&g, "device", NULL);
    for (size_t i = 0; i < shown; i++) {
        const vp_gap *x = list[i];
        text_ps(&g, x->dur_ps, unit);
        rep_put_when(&g.text, x->start_ps, when, shortest);
        grid_end(&g, TBL_PLAIN);
        grid_puts(&g, rep_cause_name(main_cause(x)), TBL_PLAIN);
        grid_escaped(&g, x->label, TBL_PLAIN);
        grid_escaped(&g, x->next_op, TBL_PLAIN);
        grid_escaped(&g, r->devices[x->device].name, TBL_PLAIN);
    }
    return text_finish(b, &g, v, 0);
}

int text_idle(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_TRY(put_labels(b, r, v));
    return put_gaps(b, r, v);
}

/* ---- Launches ---- */

static void launch_row(grid *g, const vp_device *d)
{
    const vp_launch *l = &d->launch;
    grid_escaped(g, d->name, TBL_PLAIN);
    text_count(g, l->calls);
    text_share(g, l->unlinked_ops, l->linked_ops + l->unlinked_ops);
    text_count(g, l->kernels);
    text_share(g, l->short_kernels, l->kernels);
    text_ps(g, l->kernel_p50_ps, VP_UNIT_US);
    text_ps(g, l->call_p50_ps, VP_UNIT_US);
    text_ps(g, l->delay_p50_ps, VP_UNIT_US);
    text_ps(g, l->delay_p95_ps, VP_UNIT_US);
    text_count(g, l->queue_max);
    text_count(g, l->graph_launches);
}

int text_launches(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.left = true, .want = 12, .min = 6},
                                          {.drop = 0},
                                          {.drop = 3},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 2},
                                          {.drop = 1},
                                          {.drop = 0},
                                          {.drop = 4},
                                          {.drop = 5},
                                          {.drop = 6}};
    size_t shown = 0, more = 0;
    grid g;
    for (size_t i = 0; i < r->device_count; i++)
        more += r->devices[i].launch.calls > 0 && rep_device_matches(r, v, i);
    if (!more)
        return b->status;
    text_title(b, v, "Launches");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "device", NULL);
    text_head(&g, "calls", NULL);
    text_head(&g, "unlinked%", NULL);
    text_head(&g, "kernels", NULL);
    text_head(&g, "<10us%", NULL);
    text_head(&g, "kernel p50 us", NULL);
    text_head(&g, "call p50", NULL);
    text_head(&g, "delay p50", NULL);
    text_head(&g, "p95", NULL);
    text_head(&g, "queue", NULL);
    text_head(&g, "graphs", NULL);
    for (size_t i = 0; i < r->device_count && shown < DEVICES_MAX; i++)
        if (r->devices[i].launch.calls > 0 && rep_device_matches(r, v, i)) {
            launch_row(&g, &r->devices[i]);
            shown++;
        }
    return text_finish(b, &g, v, more - shown);
}
