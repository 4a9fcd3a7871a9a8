/* Two runs on the terminal. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/compare/compare_tables.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

#define DEVICES_MAX 24u
#define SCOPES_MAX 24u
#define IDLE_MAX 6u
#define HOLDERS_MAX 5u /* of one allocator */
#define BAR_HALF 9     /* columns of a bar on either side of its middle */

/* ---- Sum and parts of the difference ---- */

/* "    ████|        ": to the left the time that B saves, to the right the time that it adds. */
static void text_put_delta_bar(vp_buf *b, const vp_delta *d, int64_t scale)
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

static tbl_style text_part_cell(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const part_row *x = row;
    if (delta_text(b, t, c, row))
        return x->style;
    if (c->own == PART_NAME) {
        vp_buf_puts(b, x->name);
        return x->name_style;
    }
    text_put_delta_bar(b, &x->d, ((const delta_table *)t)->widest);
    return x->style;
}

static int text_put_step_parts(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    const part_row rows[] = {
        {c->per_step ? "mean step" : "longest window", NULL, c->step, TBL_PLAIN, TBL_BOLD},
        {"median step", NULL, c->median, TBL_PLAIN, TBL_BOLD},
        {"p90 of steps", NULL, c->p90, TBL_PLAIN, TBL_BOLD}};
    delta_table table;
    tbl_parts(&table, rows, c->per_step ? 3 : 1, v);
    table.t.own_text = text_part_cell;
    table.t.unit[0] =
        rep_unit_for(v->unit, c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps);
    vp_buf_putc(b, '\n');
    return text_table(b, v, &table.t);
}

static int put_waterfall(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    size_t worst = rep_compare_worst(c);
    if (worst == c->device_count)
        return b->status;
    const vp_compared_device *d = &c->devices[worst];
    const vp_delta *parts[REP_PARTS];
    part_row rows[REP_PARTS + 1];
    delta_table table;
    vp_buf title;
    rep_compare_parts(parts, d);
    for (size_t i = 0; i < REP_PARTS; i++)
        rows[i] = (part_row){rep_part_names[i], NULL, *parts[i], TBL_PLAIN, TBL_PLAIN};
    rows[REP_PARTS] =
        (part_row){c->per_step ? "= step" : "= window", NULL, d->window, TBL_BOLD, TBL_BOLD};
    tbl_parts(&table, rows, REP_PARTS + 1, v);
    table.t.own_text = text_part_cell;
    table.t.has = PART_BARS;
    vp_buf_init(&title, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&title, "Breakdown of the difference: ");
    vp_put_escaped(&title, vp_str_of(d->name));
    vp_buf_puts(&title, c->per_step ? ", mean of steps" : ", whole window");
    text_title(b, v, vp_buf_cstr(&title));
    vp_buf_free_piece(b, &title);
    return text_table(b, v, &table.t);
}

/* The waterfall of the same device. */
static int text_put_waterfall_cells(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    size_t worst = rep_compare_worst(c);
    part_row rows[PART_CELLS_MAX];
    delta_table table;
    size_t n =
        worst == c->device_count ? 0 : rep_compared_cells(rows, &c->devices[worst], c->per_step);
    if (!n)
        return b->status;
    tbl_parts(&table, rows, n, v);
    table.t.own_text = text_part_cell;
    table.t.has = PART_BARS;
    text_title(b, v, "Detailed breakdown");
    return text_table(b, v, &table.t);
}

static tbl_style own_delta(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    delta_text(b, t, c, row);
    return TBL_PLAIN;
}

static int text_put_compare_devices(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    delta_table table;
    tbl_compared_devices(&table, c, v);
    table.t.own_text = own_delta;
    table.t.most = DEVICES_MAX;
    return c->device_count < 2 ? b->status : text_titled_table(b, v, &table.t);
}

/* ---- Ops ---- */

/* True if the name alone is ambiguous. */
static bool is_shared(const vp_comparison *c, const vp_compared_op *op)
{
    for (size_t i = 0; i < c->op_count; i++)
        if (&c->ops[i] != op && op->name && c->ops[i].name && !strcmp(op->name, c->ops[i].name))
            return true;
    return false;
}

static void text_put_op_name(vp_buf *b, const vp_comparison *c, const vp_compared_op *op)
{
    vp_put_escaped(b, op->name ? vp_str_of(op->name) : VP_STR("-"));
    if (op->category && is_shared(c, op)) {
        vp_buf_puts(b, " (");
        vp_put_escaped(b, vp_str_of(op->category));
        vp_buf_putc(b, ')');
    }
}

/* "10", or "10→20" if both are displayed differently: counts in the span, as used by the reason. */
static void text_put_call_change(vp_buf *b, const vp_compared_op *op)
{
    size_t a = b->n;
    rep_put_calls(b, op->span_calls_a);
    size_t arrow = b->n;
    vp_buf_puts(b, "→");
    size_t last = b->n;
    rep_put_calls(b, op->span_calls_b);
    if (b->status >= 0 && b->n - last == arrow - a && !memcmp(b->p + a, b->p + last, arrow - a))
        b->n = arrow;
}

static tbl_style moved_cell(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_compared_op *op = row;
    if (delta_text(b, t, c, row))
        return TBL_PLAIN;
    if (c->own == MOVED_CALLS) {
        text_put_call_change(b, op);
        return TBL_PLAIN;
    }
    text_put_op_name(b, ((const delta_table *)t)->c, op);
    return tbl_class_style(op->op_class);
}

static bool is_moved(const tbl *t, const void *row)
{
    return rep_moved(((const delta_table *)t)->c, row);
}

/* Rows beyond the limit are counted elsewhere. */
static int ops_table(vp_buf *b, const vp_view *v, const vp_comparison *c, size_t limit)
{
    delta_table table;
    text_row_writer w;
    tbl_moved(&table, c, v);
    for (size_t i = 0; i < c->op_count; i++)
        if (rep_moved(c, &c->ops[i]) && rep_delta_size(&c->ops[i].self) > table.widest)
            table.widest = rep_delta_size(&c->ops[i].self);
    table.t.own_text = moved_cell;
    table.t.shows = is_moved;
    table.t.most = limit;
    table.t.unit[0] = rep_unit_for(v->unit, table.widest);
    text_init_rows(&w, &table.t);
    tbl_each(&table.t, text_row, &w);
    return text_finish(b, &w.g, v, 0);
}

typedef struct tally {
    size_t moved, rest, equal; /* equal: the others, to the picosecond */
    int64_t rest_ps;           /* Σ of the differences of the others */
} tally;

static tally count_moved_ops(const vp_comparison *c)
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
static void text_put_other_ops(vp_buf *line, const vp_view *v, const vp_comparison *c,
                               const tally *t)
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
        vp_buf_printf(line, " %s exactly the same time in both.", one ? "takes" : "take");
        return;
    }
    vp_buf_printf(line, " %s by less than ", one ? "differs" : "differ");
    rep_duration(line, c->threshold_ps, v->unit, c->threshold_ps);
    if (t->rest_ps && !one) {
        vp_buf_puts(line, "; in total ");
        rep_put_delta(line, &rest, unit);
        vp_buf_printf(line, " %s", rep_unit_name(unit));
    }
    vp_buf_putc(line, '.');
}

static int text_put_moved_ops(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    size_t limit = v->top ? v->top : SIZE_MAX;
    tally t = count_moved_ops(c);
    vp_buf line;
    int rc = 0;
    text_title(b, v,
               c->per_step ? "Changed ops, self time per step, mean over devices"
                           : "Changed ops, self time in the window, mean over devices");
    if (t.moved)
        rc = ops_table(b, v, c, limit);
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    if (t.moved > limit)
        vp_buf_printf(&line, "… %zu more changed%s", t.moved - limit, t.rest ? "; " : ".");
    if (t.rest || !t.moved)
        text_put_other_ops(&line, v, c, &t);
    text_line(b, v, &line);
    return rc;
}

/* ---- Scopes ---- */

/* Below its parent the additional part of the path; else the last name. */
static void put_scope_name(vp_buf *b, const vp_comparison *c, const vp_compared_scope *s)
{
    const char *name = s->path;
    vp_buf_pad(b, ' ', 2 * (size_t)s->depth);
    if (s > c->scopes && s[-1].depth < s->depth)
        name = s->path + strlen(s[-1].path) + 1;
    else if (s->depth && strrchr(s->path, '/'))
        name = strrchr(s->path, '/') + 1;
    vp_put_escaped(b, vp_str_of(name));
}

static tbl_style text_scope_cell(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    if (!delta_text(b, t, c, row))
        put_scope_name(b, ((const delta_table *)t)->c, row);
    return TBL_PLAIN;
}

static int text_put_compared_scopes(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    delta_table table;
    int64_t scale = 0;
    if (!c->scope_count)
        return b->status;
    tbl_compared_scopes(&table, c, v);
    for (size_t i = 0; i < c->scope_count && i < SCOPES_MAX; i++)
        if (c->scopes[i].total.a_ps > scale)
            scale = c->scopes[i].total.a_ps;
    table.t.title = rep_has_backward(c)
                        ? "By scope of the computation graph, backward work in its forward scope"
                        : "By scope of the computation graph";
    table.t.own_text = text_scope_cell;
    table.t.most = SCOPES_MAX;
    table.t.unit[0] = rep_unit_for(v->unit, scale);
    return text_titled_table(b, v, &table.t);
}

/* ---- Idle time ---- */

static tbl_style text_idle_cell(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    if (!delta_text(b, t, c, row))
        rep_put_idle_name(b, row);
    return TBL_PLAIN;
}

static int text_put_compared_idle(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    delta_table table;
    if (!c->idle_count)
        return b->status;
    tbl_compared_idle(&table, c, v);
    table.t.own_text = text_idle_cell;
    table.t.most = IDLE_MAX;
    table.t.unit[0] = rep_unit_for(v->unit, table.widest);
    return text_titled_table(b, v, &table.t);
}

/* ---- Memory ---- */

static void text_put_bytes_change(vp_buf *b, int64_t from, int64_t to, int64_t delta)
{
    rep_put_bytes(b, from);
    vp_buf_puts(b, " to ");
    rep_put_bytes(b, to);
    vp_buf_puts(b, " (");
    rep_put_more_bytes(b, delta);
    vp_buf_putc(b, ')');
}

static void put_holder(vp_buf *b, const vp_view *v, const vp_compared_holder *h)
{
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&line, "  ");
    text_put_bytes_change(&line, h->a_bytes, h->b_bytes, h->delta_bytes);
    vp_buf_puts(&line, ": ");
    vp_put_escaped(&line, vp_str_of(h->name));
    if (h->scope && (!h->name || strcmp(h->scope, h->name) != 0)) {
        vp_buf_puts(&line, " in ");
        vp_put_escaped(&line, vp_str_of(h->scope));
    }
    if (h->source) {
        vp_buf_puts(&line, ", ");
        vp_put_escaped(&line, vp_str_of(h->source));
    }
    if (h->planned) {
        vp_buf_puts(&line, ", planned as ");
        vp_put_escaped(&line, vp_str_of(h->planned));
    }
    text_line(b, v, &line);
}

/* The same bytes by scope, if that gives more than one line. */
static void put_memory_scopes(vp_buf *b, const vp_view *v, const vp_compared_memory *m)
{
    if (m->scope_count < 2)
        return;
    vp_buf_puts(b, "  by scope\n");
    for (size_t k = 0; k < m->scope_count && k < HOLDERS_MAX; k++) {
        vp_compared_holder h = m->scopes[k];
        h.name = h.scope ? h.scope : "(no scope)";
        h.scope = NULL;
        if (h.delta_bytes)
            put_holder(b, v, &h);
    }
}

/* Allocators and programs whose peaks differ, and the largest differences. */
static int text_put_compared_memory(vp_buf *b, const vp_view *v, const vp_comparison *c)
{
    bool any = false;
    for (size_t i = 0; i < c->memory_count; i++) {
        const vp_compared_memory *m = &c->memory[i];
        vp_buf line;
        if (!m->delta_bytes || m->delta_bytes == VP_NO_TIME)
            continue;
        if (!any)
            text_title(b, v, "Peak memory");
        any = true;
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        rep_compared_memory_name(&line, m);
        vp_buf_puts(&line, ": ");
        text_put_bytes_change(&line, m->a_bytes, m->b_bytes, m->delta_bytes);
        text_line(b, v, &line);
        for (size_t k = 0; k < m->holder_count && k < HOLDERS_MAX; k++)
            if (m->holders[k].delta_bytes)
                put_holder(b, v, &m->holders[k]);
        put_memory_scopes(b, v, m);
    }
    return b->status;
}

/* ---- Verdict ---- */

static void text_put_finding_ids(vp_buf *b, const vp_view *v, const char *what,
                                 const char *const *ids, size_t n)
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
    text_put_finding_ids(b, v, "Findings only in B:", c->findings_new, c->new_count);
    text_put_finding_ids(b, v, "Findings only in A:", c->findings_gone, c->gone_count);
    for (size_t i = 0; i < c->caveat_count; i++) {
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        vp_buf_puts(&line, "Note: ");
        vp_put_escaped(&line, vp_str_of(c->caveats[i])); /* may be the name of a device model */
        vp_buf_putc(&line, '.');
        text_line(b, v, &line);
    }
    if (c->cause) {
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        vp_buf_puts(&line, "Main change: ");
        vp_put_escaped(&line, vp_str_of(c->cause));
        vp_buf_putc(&line, '.');
        text_line(b, v, &line);
    }
    if (c->per_step) {
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        rep_put_noise(&line, c);
        text_line(b, v, &line);
    }
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "%s: %s.", words[c->verdict], c->verdict_reason);
    tbl_style style = c->verdict == VP_REGRESSION ? TBL_BAD : TBL_BOLD;
    grid_color_on(b, style, v->color);
    text_line(b, v, &line);
    grid_color_off(b, style, v->color);
}

/* The median steps of several captures; the rest of the text is about one of them. */
static void text_put_captures(vp_buf *b, const vp_view *v, const vp_compared_capture *list,
                              size_t n)
{
    vp_buf line;
    if (n < 2)
        return;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    rep_put_captures(&line, list, n, v->unit);
    text_line(b, v, &line);
}

int rep_compare_text(vp_buf *b, const vp_comparison *c, const vp_view *view)
{
    vp_view v = rep_view(view);
    text_side(b, &v, "A", c->a_name, c->a_path);
    text_put_captures(b, &v, c->captures_a, c->captures_a_count);
    text_side(b, &v, "B", c->b_name, c->b_path);
    text_put_captures(b, &v, c->captures_b, c->captures_b_count);
    VP_TRY(text_put_step_parts(b, &v, c));
    VP_TRY(put_waterfall(b, &v, c));
    VP_TRY(text_put_waterfall_cells(b, &v, c));
    VP_TRY(text_put_compare_devices(b, &v, c));
    VP_TRY(text_put_compared_scopes(b, &v, c));
    VP_TRY(text_put_compared_idle(b, &v, c));
    VP_TRY(text_put_moved_ops(b, &v, c));
    VP_TRY(text_put_compared_memory(b, &v, c));
    put_verdict(b, &v, c);
    return b->status;
}
