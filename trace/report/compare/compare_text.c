/* Two runs on the terminal. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

#define DEVICES_MAX 24u
#define SCOPES_MAX 24u
#define BAR_HALF 9 /* columns of a bar on either side of its middle */

/* ---- What it comes to ---- */

static int put_steps(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    static const grid_column columns[] = {
        {.left = true}, {.drop = 0}, {.drop = 0}, {.drop = 0}, {.drop = 0}};
    const struct {
        const char *name;
        const vp_delta *d;
    } rows[] = {{c->per_step ? "mean step" : "longest window", &c->step},
                {"median step", &c->median},
                {"p90 of steps", &c->p90}};
    vp_unit unit = rep_unit_for(v->unit, c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps);
    grid g;
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "", NULL);
    text_delta_heads(&g, unit);
    for (size_t i = 0; i < (c->per_step ? 3u : 1u); i++) {
        vp_buf_puts(&g.text, rows[i].name);
        grid_end(&g, TBL_PLAIN);
        text_delta(&g, rows[i].d, unit, TBL_BOLD);
    }
    vp_buf_putc(b, '\n');
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    return rc;
}

/* ---- Waterfall ---- */

/* "    ████|        ": to the left what B saves, to the right what it takes more. */
static void put_bar(vp_buf *b, const vp_delta *d, int64_t scale)
{
    int64_t size = rep_delta_size(d);
    size_t n = scale > 0 ? (size_t)((size * BAR_HALF + scale / 2) / scale) : 0;
    n = n > BAR_HALF ? BAR_HALF : n == 0 && size ? 1 : n;
    bool left = d->delta_ps < 0;
    vp_buf_pad(b, ' ', left ? BAR_HALF - n : BAR_HALF);
    for (size_t i = 0; left && i < n; i++)
        vp_buf_puts(b, "█");
    vp_buf_puts(b, "│");
    for (size_t i = 0; !left && i < n; i++)
        vp_buf_puts(b, "█");
    vp_buf_pad(b, ' ', left ? BAR_HALF : BAR_HALF - n);
}

static void waterfall_row(grid *g, const char *name, const vp_delta *d, vp_unit unit, int64_t scale,
                          tbl_style style)
{
    vp_buf_puts(&g->text, name);
    grid_end(g, style);
    text_delta(g, d, unit, style);
    put_bar(&g->text, d, scale);
    grid_end(g, style);
}

static int put_waterfall(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    static const grid_column columns[] = {{.left = true}, {.drop = 0}, {.drop = 0},
                                          {.drop = 1},    {.drop = 1}, {.left = true, .drop = 2}};
    size_t worst = rep_compare_worst(c);
    if (worst == c->device_count)
        return b->status;
    const vp_compared_device *d = &c->devices[worst];
    const vp_delta *parts[REP_PARTS];
    int64_t scale = rep_delta_size(&d->window);
    vp_buf title;
    grid g;
    rep_compare_parts(parts, d);
    for (size_t i = 0; i < REP_PARTS; i++)
        scale = rep_delta_size(parts[i]) > scale ? rep_delta_size(parts[i]) : scale;
    vp_unit unit =
        rep_unit_for(v->unit, d->window.a_ps > d->window.b_ps ? d->window.a_ps : d->window.b_ps);
    vp_buf_init(&title, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&title, "Where the difference lies: ");
    vp_put_escaped(&title, vp_str_of(d->name));
    vp_buf_puts(&title, c->per_step ? ", mean of its steps" : ", its whole window");
    text_title(b, v, vp_buf_cstr(&title));
    vp_buf_free_piece(b, &title);
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "", NULL);
    text_delta_heads(&g, unit);
    text_head(&g, "less       more", NULL);
    for (size_t i = 0; i < REP_PARTS; i++)
        waterfall_row(&g, rep_part_names[i], parts[i], unit, scale, TBL_PLAIN);
    waterfall_row(&g, c->per_step ? "= step" : "= window", &d->window, unit, scale, TBL_BOLD);
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    return rc;
}

static int put_devices(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    static const grid_column columns[] = {{.left = true, .want = 20, .min = 8},
                                          {.drop = 0},
                                          {.drop = 3},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 2},
                                          {.drop = 0}};
    int64_t scale = 0;
    grid g;
    if (c->device_count < 2)
        return b->status;
    for (size_t i = 0; i < c->device_count; i++)
        if (rep_delta_size(&c->devices[i].window) > scale)
            scale = rep_delta_size(&c->devices[i].window);
    vp_unit unit = rep_unit_for(v->unit, scale);
    text_title(b, v, "Every device, B-A");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "device", NULL);
    text_head(&g, c->per_step ? "step" : "window", rep_unit_name(unit));
    text_head(&g, "change", NULL);
    text_head(&g, "compute", NULL);
    text_head(&g, "exp.comm", NULL);
    text_head(&g, "exp.copy", NULL);
    text_head(&g, "idle", NULL);
    for (size_t i = 0; i < c->device_count && i < DEVICES_MAX; i++) {
        const vp_delta *parts[REP_PARTS];
        rep_compare_parts(parts, &c->devices[i]);
        grid_escaped(&g, c->devices[i].name, TBL_PLAIN);
        rep_put_delta(&g.text, &c->devices[i].window, unit);
        grid_end(&g, TBL_BOLD);
        rep_put_change(&g.text, &c->devices[i].window);
        grid_end(&g, TBL_PLAIN);
        for (size_t k = 0; k < REP_PARTS; k++) {
            rep_put_delta(&g.text, parts[k], unit);
            grid_end(&g, TBL_PLAIN);
        }
    }
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    if (c->device_count > DEVICES_MAX)
        vp_buf_printf(b, "… %zu more\n", c->device_count - DEVICES_MAX);
    return rc;
}

/* ---- Ops ---- */

/* Whether the name alone does not say which. */
static bool is_shared(const vp_comparison *c, const vp_compared_op *op)
{
    for (size_t i = 0; i < c->op_count; i++)
        if (&c->ops[i] != op && op->name && c->ops[i].name && !strcmp(op->name, c->ops[i].name))
            return true;
    return false;
}

static void op_name(grid *g, const vp_comparison *c, const vp_compared_op *op)
{
    vp_put_escaped(&g->text, op->name ? vp_str_of(op->name) : VP_STR("-"));
    if (op->category && is_shared(c, op)) {
        vp_buf_puts(&g->text, " (");
        vp_put_escaped(&g->text, vp_str_of(op->category));
        vp_buf_putc(&g->text, ')');
    }
}

/* "10", or "10→20" where the two show differently: of the span, as the reason counts them. */
static void put_calls(grid *g, const vp_compared_op *op)
{
    size_t a = g->text.n;
    rep_put_calls(&g->text, op->span_calls_a);
    size_t arrow = g->text.n;
    vp_buf_puts(&g->text, "→");
    size_t b = g->text.n;
    rep_put_calls(&g->text, op->span_calls_b);
    if (g->text.status >= 0 && g->text.n - b == arrow - a &&
        !memcmp(g->text.p + a, g->text.p + b, arrow - a))
        g->text.n = arrow;
    grid_end(g, TBL_PLAIN);
}

static void op_row(grid *g, const vp_comparison *c, const vp_compared_op *op, vp_unit unit)
{
    tbl_style style = op->op_class == VP_COMMUNICATION ? TBL_COMM
                      : op->op_class == VP_COPY        ? TBL_COPY
                                                       : TBL_PLAIN;
    text_delta(g, &op->self, unit, TBL_PLAIN);
    put_calls(g, op);
    op_name(g, c, op);
    grid_end(g, style);
    grid_escaped(g, op->reason, TBL_DIM);
}

static int ops_table(vp_buf *b, const vp_view *v, const vp_comparison *c, size_t limit)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 0},
                                          {.drop = TBL_DROP_LATE},
                                          {.drop = TBL_DROP_LATE},
                                          {.drop = 3},
                                          {.left = true, .want = 24, .min = 12, .tell_apart = true},
                                          {.left = true, .want = 27, .min = 10, .drop = 1}};
    int64_t scale = 0;
    size_t shown = 0;
    grid g;
    for (size_t i = 0; i < c->op_count; i++)
        if (rep_moved(c, &c->ops[i]) && rep_delta_size(&c->ops[i].self) > scale)
            scale = rep_delta_size(&c->ops[i].self);
    vp_unit unit = rep_unit_for(v->unit, scale);
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_delta_heads(&g, unit);
    text_head(&g, "calls", NULL);
    text_head(&g, "op", NULL);
    text_head(&g, "why", NULL);
    for (size_t i = 0; i < c->op_count && shown < limit; i++) {
        if (!rep_moved(c, &c->ops[i]))
            continue;
        op_row(&g, c, &c->ops[i], unit);
        shown++;
    }
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    return rc;
}

typedef struct tally {
    size_t moved, rest, equal; /* equal: of the rest, to the picosecond */
    int64_t rest_ps;           /* Σ of the differences of the rest */
} tally;

static tally count_ops(const vp_comparison *c)
{
    tally t = {0};
    for (size_t i = 0; i < c->op_count; i++) {
        const vp_compared_op *op = &c->ops[i];
        if (rep_moved(c, op)) {
            t.moved++;
            continue;
        }
        t.rest++;
        t.equal += op->self.delta_ps == 0;
        t.rest_ps += op->self.delta_ps == VP_NO_TIME ? 0 : op->self.delta_ps;
    }
    return t;
}

/* "15 differ by less than 1.532 ms; together +548.94 us." */
static void put_rest(vp_buf *line, const vp_view *v, const vp_comparison *c, const tally *t)
{
    vp_delta rest = {0, 0, t->rest_ps};
    vp_unit unit = rep_unit_for(v->unit, rep_delta_size(&rest));
    if (!c->op_count) {
        vp_buf_puts(line, "None: there are no ops.");
        return;
    }
    bool one = t->rest == 1;
    if (t->moved)
        vp_buf_printf(line, "%zu", t->rest);
    else if (one)
        vp_buf_puts(line, "None: the only op");
    else
        vp_buf_printf(line, "None: all %zu", t->rest);
    if (t->equal == t->rest) {
        vp_buf_printf(line, " %s exactly as long in both.", one ? "takes" : "take");
        return;
    }
    vp_buf_printf(line, " %s by less than ", one ? "differs" : "differ");
    rep_duration(line, c->threshold_ps, v->unit, c->threshold_ps);
    if (t->rest_ps && !one) {
        vp_buf_puts(line, "; together ");
        rep_put_delta(line, &rest, unit);
        vp_buf_printf(line, " %s", rep_unit_name(unit));
    }
    vp_buf_putc(line, '.');
}

static int put_ops(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    size_t limit = v->top ? v->top : SIZE_MAX;
    tally t = count_ops(c);
    vp_buf line;
    int rc = 0;
    text_title(b, v,
               c->per_step ? "Ops that moved, self time of a step, mean of the devices"
                           : "Ops that moved, self time of the window, mean of the devices");
    if (t.moved)
        rc = ops_table(b, v, c, limit);
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    if (t.moved > limit)
        vp_buf_printf(&line, "… %zu more that moved%s", t.moved - limit, t.rest ? "; " : ".");
    if (t.rest || !t.moved)
        put_rest(&line, v, c, &t);
    text_line(b, v, &line);
    return rc;
}

/* ---- Scopes ---- */

static int put_scopes(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    static const grid_column columns[] = {
        {.drop = 0}, {.drop = 0}, {.drop = 1}, {.drop = 1}, {.left = true, .want = 30, .min = 12}};
    static const grid_column folded[] = {{.drop = 0}, {.drop = 0},
                                         {.drop = 2}, {.drop = 2},
                                         {.drop = 1}, {.left = true, .want = 30, .min = 12}};
    bool backward = rep_has_backward(c);
    size_t n = c->scope_count < SCOPES_MAX ? c->scope_count : SCOPES_MAX;
    int64_t scale = 0;
    grid g;
    if (!n)
        return b->status;
    for (size_t i = 0; i < n; i++)
        if (c->scopes[i].total.a_ps > scale)
            scale = c->scopes[i].total.a_ps;
    vp_unit unit = rep_unit_for(v->unit, scale);
    text_title(b, v,
               backward ? "The same by scope of the computation graph, backward work in its place"
                        : "The same by scope of the computation graph");
    if (backward)
        grid_init(&g, folded, sizeof folded / sizeof *folded);
    else
        grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_delta_heads(&g, unit);
    if (backward)
        text_head(&g, "backward", NULL);
    text_head(&g, "scope", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_compared_scope *s = &c->scopes[i];
        const char *name = s->path;
        text_delta(&g, &s->total, unit, TBL_PLAIN);
        if (backward) {
            rep_put_delta(&g.text, &s->backward, unit);
            grid_end(&g, TBL_PLAIN);
        }
        vp_buf_pad(&g.text, ' ', 2 * (size_t)s->depth);
        if (i && c->scopes[i - 1].depth < s->depth) /* under its parent */
            name = s->path + strlen(c->scopes[i - 1].path) + 1;
        else if (s->depth && strrchr(s->path, '/'))
            name = strrchr(s->path, '/') + 1;
        vp_put_escaped(&g.text, vp_str_of(name));
        grid_end(&g, TBL_PLAIN);
    }
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    if (c->scope_count > n)
        vp_buf_printf(b, "… %zu more\n", c->scope_count - n);
    return rc;
}

/* ---- Verdict ---- */

static void put_ids(vp_buf *b, const vp_view *v, const char *what, const char *const *ids, size_t n)
{
    vp_buf line;
    if (!n)
        return;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&line, what);
    for (size_t i = 0; i < n; i++)
        vp_buf_printf(&line, "%s %s", i ? "," : "", ids[i]);
    text_line(b, v, &line);
}

static void put_verdict(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    static const char *const words[] = {"Regression", "Improvement", "Noise", "Unverified"};
    vp_buf line;
    vp_buf_putc(b, '\n');
    put_ids(b, v, "Findings only in B:", c->findings_new, c->new_count);
    put_ids(b, v, "Findings only in A:", c->findings_gone, c->gone_count);
    for (size_t i = 0; i < c->caveat_count; i++) {
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        vp_buf_puts(&line, "Note: ");
        vp_put_escaped(&line, vp_str_of(c->caveats[i])); /* may name a device's model */
        vp_buf_putc(&line, '.');
        text_line(b, v, &line);
    }
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "%s: %s.", words[c->verdict], c->verdict_reason);
    tbl_style style = c->verdict == VP_REGRESSION ? TBL_BAD : TBL_BOLD;
    grid_color_on(b, style, v->color);
    text_line(b, v, &line);
    grid_color_off(b, style, v->color);
}

int rep_compare_text(vp_buf *b, const vp_comparison *c, const vp_view *view)
{
    vp_view v = rep_view(view);
    text_side(b, &v, "A", c->a_name, c->a_path);
    text_side(b, &v, "B", c->b_name, c->b_path);
    VP_TRY(put_steps(b, &v, c));
    VP_TRY(put_waterfall(b, &v, c));
    VP_TRY(put_devices(b, &v, c));
    VP_TRY(put_ops(b, &v, c));
    VP_TRY(put_scopes(b, &v, c));
    put_verdict(b, &v, c);
    return b->status;
}
