/* Steps on the page: one bar each, and their statistics. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/mfu_tables.h"
#include "trace/report/table/steps_tables.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

/* Number of bars that a phone can show separately; with more steps each bar is the slowest of
 * several. */
#define BARS_MAX 160u
/* The scale ends at this multiple of the median, so that one slow step does not flatten all others.
 */
#define SCALE_MEDIANS 4
/* A strip of this height below the bars shows which steps are heavy or light. */
#define STRIP 400
#define BARS_HEIGHT (REP_PERCENT_ALL - 2 * STRIP)

typedef struct chart {
    page *p;
    const vp_steps *s;
    size_t count, run; /* bars; steps a bar */
    int64_t scale_ps;  /* the length of a bar of the full height */
    vp_unit unit;
} chart;

bool html_has_steps(const page *p)
{
    return p->r->steps.count > 0;
}

/* The slowest of the steps of bar i. */
static const vp_step *step_of(const chart *c, size_t i)
{
    size_t first = i * c->run, end = first + c->run < c->s->count ? first + c->run : c->s->count;
    size_t best = first;
    for (size_t k = first + 1; k < end; k++)
        if (c->s->list[k].dur_ps > c->s->list[best].dur_ps)
            best = k;
    return &c->s->list[best];
}

/* docs/reference/metrics.md#step-statistics: robust z above 10, the MAD at least 0.1% of the
 * median, or twice the median. Heavy steps are a separate class. */
static bool is_outlier_bar(const vp_steps *all, const vp_step *s)
{
    if (s->partial || s->step_class != VP_STEP_NORMAL || all->median_ps <= 0 || all->mad_ps < 0)
        return false;
    double mad = (double)all->mad_ps, least = (double)all->median_ps / 1000;
    double above = (double)s->dur_ps - (double)all->median_ps;
    return above > 10 * 1.4826 * (mad > least ? mad : least) || above > (double)all->median_ps;
}

/* ---- The chart ---- */

/* The number of the program; else the order in time. */
static void put_step_name(page *p, const vp_step *s)
{
    const vp_steps *all = &p->r->steps;
    if (all->series_count > 1) {
        html_text(p, all->series[s->series].name);
        html_puts(p, " ");
    }
    if (s->number != VP_UNKNOWN) {
        html_puts(p, "step ");
        rep_put_count(p->b, s->number, false);
    } else {
        html_text(p, s->name ? s->name : "step");
        vp_buf_printf(p->b, " #%zu", (size_t)(s - p->r->steps.list) + 1);
    }
}

static void html_put_step_marks(page *p, const vp_steps *all, const vp_step *s)
{
    const char *sep = "";
    if (s->partial) {
        html_puts(p, "partial");
        sep = ", ";
    }
    if (s->warm_up) {
        vp_buf_printf(p->b, "%swarm-up", sep);
        sep = ", ";
    }
    if (is_outlier_bar(all, s)) {
        vp_buf_printf(p->b, "%soutlier", sep);
        sep = ", ";
    }
    if (s->step_class != VP_STEP_NORMAL)
        vp_buf_printf(p->b, "%s%s", sep, rep_step_class_name(s->step_class));
}

static void html_put_step_tip(const chart *c, const vp_step *s)
{
    html_puts(c->p, "<title>");
    put_step_name(c->p, s);
    html_puts(c->p, ": ");
    html_duration(c->p, s->dur_ps, c->scale_ps);
    html_puts(c->p, " ");
    html_put_step_marks(c->p, c->s, s);
    html_puts(c->p, "</title>");
}

static void html_put_step_parts(const chart *c, const vp_step *s, html_box box)
{
    const vp_breakdown *d = rep_critical(s);
    int64_t parts[REP_PARTS], bottom = BARS_HEIGHT;
    if (!d) {
        html_block(c->p, "comp", box);
        return;
    }
    rep_breakdown_parts(parts, d);
    for (size_t i = 0; i < REP_PARTS && bottom > box.y; i++) {
        int64_t height = html_hundredths(parts[i], c->scale_ps) * BARS_HEIGHT / REP_PERCENT_ALL;
        height = i + 1 == REP_PARTS || height > bottom - box.y ? bottom - box.y : height;
        bottom -= height;
        if (height && parts[i])
            html_block(c->p, rep_part_css[i], (html_box){box.x, bottom, box.width, height});
    }
}

static void html_put_step_bar(const chart *c, size_t i)
{
    const vp_step *s = step_of(c, i);
    int64_t n = (int64_t)c->count, x = (int64_t)i * REP_PERCENT_ALL / n;
    int64_t slot = ((int64_t)i + 1) * REP_PERCENT_ALL / n - x;
    int64_t height = html_hundredths(s->dur_ps, c->scale_ps) * BARS_HEIGHT / REP_PERCENT_ALL;
    html_box box = {x, BARS_HEIGHT - height, slot - slot / 8, height};
    vp_buf_printf(c->p->b, "<g%s>", s->partial ? " class=\"partial\"" : "");
    html_put_step_tip(c, s);
    html_put_step_parts(c, s, box);
    if (is_outlier_bar(c->s, s))
        html_block(c->p, "mark", (html_box){x, box.y, box.width, STRIP / 2});
    if (s->step_class != VP_STEP_NORMAL)
        html_block(c->p, rep_step_class_name(s->step_class),
                   (html_box){x, REP_PERCENT_ALL - STRIP, box.width, STRIP});
    html_puts(c->p, "</g>\n");
}

static void put_median(const chart *c)
{
    if (c->s->median_ps <= 0)
        return;
    int64_t height = html_hundredths(c->s->median_ps, c->scale_ps) * BARS_HEIGHT / REP_PERCENT_ALL;
    html_puts(c->p, "<line class=\"median\" x1=\"0\" x2=\"100%\" y1=\"");
    rep_put_hundredths(c->p->b, BARS_HEIGHT - height);
    html_puts(c->p, "%\" y2=\"");
    rep_put_hundredths(c->p->b, BARS_HEIGHT - height);
    html_puts(c->p, "%\"/>\n");
}

static void put_legend_of(page *p, bool there, const char *markup)
{
    if (there)
        vp_buf_printf(p->b, "<li><i class=\"%s</li>\n", markup);
}

static void html_put_steps_legend(const chart *c)
{
    page *p = c->p;
    bool is[3] = {false, false, false}, has_partial = false, has_outlier = false;
    for (size_t i = 0; i < c->s->count; i++) {
        is[c->s->list[i].step_class] = true;
        has_partial |= c->s->list[i].partial;
        has_outlier |= is_outlier_bar(c->s, &c->s->list[i]);
    }
    html_puts(p, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < REP_PARTS; i++)
        vp_buf_printf(p->b, "<li><i class=\"dot %s\"></i>%s</li>\n", rep_part_css[i],
                      rep_part_names[i]);
    put_legend_of(p, c->s->median_ps > 0, "dash\"></i>median");
    put_legend_of(p, has_outlier, "dot mark\"></i>outlier");
    put_legend_of(p, has_partial, "dot pale\"></i>partial");
    put_legend_of(p, is[VP_STEP_HEAVY], "dot heavy\"></i>heavy step, marked below");
    put_legend_of(p, is[VP_STEP_LIGHT], "dot light\"></i>light step, marked below");
    html_puts(p, "</ul>\n");
}

static void put_chart(const chart *c)
{
    page *p = c->p;
    html_puts(p, "<div class=\"chart\">\n<p class=\"axis\"><span>");
    html_duration(p, c->scale_ps, c->scale_ps);
    html_puts(p, "</span></p>\n"
                 "<svg class=\"steps\" role=\"img\" aria-labelledby=\"steps-t\" "
                 "aria-describedby=\"steps-d\">\n"
                 "<title id=\"steps-t\">Duration of each step</title>\n"
                 "<desc id=\"steps-d\">");
    vp_buf_printf(p->b,
                  "%zu bars in order of time, each with the parts of a step on its slowest "
                  "device. ",
                  c->count);
    html_puts(p, "The table below has the numbers.</desc>\n");
    for (size_t i = 0; i < c->count; i++)
        html_put_step_bar(c, i);
    put_median(c);
    html_puts(p, "</svg>\n<p class=\"axis\"><span>");
    put_step_name(p, &c->s->list[0]);
    html_puts(p, "</span><span>");
    put_step_name(p, &c->s->list[c->s->count - 1]);
    html_puts(p, "</span></p>\n</div>\n");
    html_put_steps_legend(c);
}

/* ---- Figures ---- */

static void html_put_series(page *p, const vp_steps *s)
{
    for (size_t i = 1; i < s->series_count; i++) {
        const vp_step_series *x = &s->series[i];
        html_open_fact(p, "Separate series");
        html_text(p, x->name);
        vp_buf_printf(p->b, ": %zu step%s, ", x->count, x->count == 1 ? "" : "s");
        if (x->counted > 0) {
            html_puts(p, "median ");
            html_duration(p, x->median_ps, x->median_ps);
            html_puts(p, ", ");
        }
        html_puts(p, "total ");
        html_duration(p, x->total_ps, x->total_ps);
        html_close_fact(p);
    }
}

static void html_put_steps_facts(page *p, const vp_steps *s)
{
    html_puts(p, "<dl class=\"facts\">\n");
    html_open_fact(p, "Source of steps");
    html_puts(p, rep_step_source_text(s->source));
    if (s->series_count && s->series[0].name[0] && s->source != VP_STEPS_PROFILER) {
        html_puts(p, ": ");
        html_text(p, s->series[0].name);
    }
    html_close_fact(p);
    html_open_fact(p, "Steps counted");
    vp_buf_printf(p->b, "%lld of %zu", (long long)(s->counted < 0 ? 0 : s->counted),
                  s->series_count ? s->series[0].count : s->count);
    html_close_fact(p);
    html_duration_fact(p, "Median", s->median_ps);
    html_duration_fact(p, "p90", s->p90_ps);
    html_duration_fact(p, "p95", s->p95_ps);
    html_duration_fact(p, "MAD", s->mad_ps);
    html_duration_fact(p, "Mean", s->mean_ps);
    html_duration_fact(p, "Shortest", s->min_ps);
    html_duration_fact(p, "Longest", s->max_ps);
    if (s->counted > 0 && s->cv >= 0) {
        html_open_fact(p, "CV");
        rep_put_ratio(p->b, s->cv, 2);
        html_close_fact(p);
    }
    html_duration_fact(p, "Total above the median", s->excess_ps);
    html_put_series(p, s);
    html_puts(p, "</dl>\n");
}

/* ---- The table of the chart's data ---- */

static void html_step_name_cell(page *p, const vp_step *s)
{
    bool link =
        p->links.controls && s->number != VP_UNKNOWN && p->r->step == VP_UNKNOWN && !s->series;
    html_puts(p, "<th scope=\"row\" class=\"text\">");
    if (link) {
        html_puts(p, "<a href=\"");
        html_step_query(p, s->number);
        html_puts(p, "\">");
    }
    put_step_name(p, s);
    html_puts(p, link ? "</a></th>" : "</th>");
}

static void html_step_own_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    if (c->own == STEP_NAME) {
        html_step_name_cell(p, row);
        return;
    }
    html_puts(p, "<td class=\"text\">");
    html_put_step_marks(p, &t->r->steps, row);
    html_puts(p, "</td>");
}

static void html_put_steps_table(const chart *c)
{
    const vp_step *steps[BARS_MAX];
    tbl t;
    for (size_t i = 0; i < c->count; i++)
        steps[i] = step_of(c, i);
    tbl_steps(&t, c->p->r, &c->p->v, steps, c->count);
    t.unit[STEP_LENGTH] = c->unit;
    t.own_html = html_step_own_cell;
    vp_buf_printf(c->p->b, "<details class=\"fold\"><summary>Table of %zu step%s</summary>\n",
                  c->count, c->count == 1 ? "" : "s");
    html_put_table(c->p, &t);
    html_puts(c->p, "</details>\n");
}

static int64_t scale_of(const vp_steps *s)
{
    int64_t longest = 1;
    for (size_t i = 0; i < s->count; i++)
        longest = s->list[i].dur_ps > longest ? s->list[i].dur_ps : longest;
    bool cut = s->median_ps > 0 && longest / SCALE_MEDIANS > s->median_ps;
    return cut ? s->median_ps * SCALE_MEDIANS : longest;
}

int html_steps(page *p)
{
    const vp_steps *s = &p->r->steps;
    chart c = {.p = p, .s = s, .scale_ps = scale_of(s)};
    cells_of_step cells[CELLS_OF_STEPS_MAX];
    tbl t;
    c.run = (s->count + BARS_MAX - 1) / BARS_MAX;
    c.count = (s->count + c.run - 1) / c.run;
    c.unit = rep_unit_for(p->v.unit, c.scale_ps);
    html_section(p, "steps", "Steps");
    html_put_steps_facts(p, s);
    if (c.run > 1)
        vp_buf_printf(p->b,
                      "<p class=\"note\">Each bar is the slowest of %zu consecutive steps.</p>\n",
                      c.run);
    put_chart(&c);
    tbl_cells_of_steps(&t, p->r, &p->v, cells);
    if (t.row_count)
        html_titled_table(p, &t);
    tbl_step_kinds(&t, p->r, &p->v);
    t.unit[0] = c.unit;
    if (t.row_count > 1)
        html_titled_table(p, &t);
    html_put_steps_table(&c);
    html_section_end(p);
    return p->b->status;
}
