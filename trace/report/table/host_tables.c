#include "trace/report/table/host_tables.h"

#include <stdio.h>

#include "trace/report/table/columns.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

/* ---- Compiled functions ---- */

static void get_first(tbl_value *out, const void *row)
{
    const vp_function *f = row;
    out->n = f->first_start_ps;
    out->whole = f->first_dur_ps;
    out->host = f->host;
}

static void get_last(tbl_value *out, const void *row)
{
    const vp_function *f = row;
    out->n = f->last_start_ps;
    out->whole = f->last_dur_ps;
    out->host = f->host;
}

#define ROW vp_function
static const tbl_column function_columns[] = {
    {TBL_NAME, AT(name), ALSO_OF_HOSTS(host), PAGE("Function", NULL), TERM(6, "function"),
     SHORT(30, 12)},
    {TBL_COUNT, AT(compiles), PAGE("Compiles", NULL), TERM(2, "compiles")},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL), TERM(5, "calls"), DROP(2)},
    {TBL_COUNT, AT(cache_hits), PAGE("Cache hits", NULL)},
    {TBL_PS, AT(total_ps), PAGE("Total", NULL), TERM_UNIT(1, "compile")},
    {TBL_PS, AT(repeat_ps), PAGE("Repeats", "All compiles but the first"), TERM(4, "repeated"),
     DROP(1)},
    {TBL_COUNT, AT(late), PAGE("Late", "Compiles after execution had begun"), TERM(3, "late"),
     DROP(1)},
    {TBL_PS, AT(late_ps), PAGE("Late", NULL)},
    {TBL_WHEN, GET(get_first), PAGE("First at", NULL)},
    {TBL_WHEN, GET(get_last), PAGE("Last at", NULL)},
};
#undef ROW

void tbl_functions(tbl *t, const vp_report *r, const vp_view *v)
{
    const vp_compile *c = &r->compile;
    *t = (tbl){TBL_ROWS("Compiled functions", function_columns, c->functions, c->function_count),
               .r = r, .v = v, .has = tbl_has(r)};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_function, total_ps)));
}

/* ---- Work on the host ---- */

static const char *threads_of(tbl_value *out, const vp_host_op *o)
{
    if (o->threads <= 1)
        return o->thread;
    snprintf(out->made, sizeof out->made, "%lld threads", (long long)o->threads);
    return out->made;
}

static void get_event(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    out->text = o->name;
    out->below = threads_of(out, o);
}

static void get_threads(tbl_value *out, const void *row)
{
    out->text = threads_of(out, row);
}

static void get_kinds(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    snprintf(out->made, sizeof out->made, "%s%s", rep_cause_name(o->cause),
             o->blocking ? ", blocking" : "");
    out->text = out->made;
}

static void get_main_kind(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    out->text = o->blocking ? "blocking" : rep_cause_name(o->cause);
}

static void get_longest(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    out->n = out->whole = o->max_ps;
    out->start = o->max_start_ps;
    out->host = o->host;
}

#define ROW vp_host_op
static const tbl_column host_op_columns[] = {
    {TBL_NAME, GET(get_event), PAGE("Event", "Its name, and its thread"), TERM(6, "name"),
     SHORT(26, 12)},
    {TBL_TEXT, AT(host), PAGE("Host", NULL), NEEDS(TBL_HOSTS)},
    {TBL_WORD, GET(get_kinds), PAGE("Kind", NULL)},
    {TBL_WORD, GET(get_main_kind), TERM(5, "kind"), DROP(1)},
    {TBL_PS, AT(self_ps), PAGE("Self", NULL), TERM_UNIT(1, "self")},
    {TBL_PS, AT(idle_ps), PAGE("Devices idle", "Of self, while all devices of the host idle"),
     TERM(2, "idle")},
    {TBL_PS, AT(total_ps), PAGE("Total", NULL), TERM(3, "total"), DROP(1)},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL), TERM(4, "calls"), DROP(2)},
    {TBL_PLACED, GET(get_longest), SCALE(HOST_CALL), PAGE("Max", "Longest call")},
    {TBL_TEXT, GET(get_threads), TERM(7, "thread"), STYLE(TBL_DIM), SHORT(14, 8), DROP(3)},
};
#undef ROW

static bool shows_host_op(const tbl *t, const void *row)
{
    return rep_shows_host(t->v, ((const vp_host_op *)row)->host);
}

void tbl_host_ops(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Work on the host", host_op_columns, r->host_ops, r->host_op_count), .r = r,
               .v = v, .shows = shows_host_op, .has = tbl_has(r)};
    if (!v->host) /* of one host it is not known */
        t->beyond = rep_beyond(r->host_op_total, r->host_op_count);
    t->unit[HOST_SUM] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_host_op, total_ps)));
    t->unit[HOST_CALL] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_host_op, max_ps)));
}

/* ---- Memory ---- */

/* What only some files tell. */
enum {
    MEM_RESERVED = 4,
    MEM_PIECES = 8,
    MEM_STEPS = 16,
    MEM_SCOPE = 4,
    MEM_SOURCE = 8,
    MEM_STEP = 16
};

static void get_a_step(tbl_value *out, const void *row)
{
    const vp_memory *m = row;
    out->n = m->steps > 0 ? m->step_allocations / m->steps : VP_UNKNOWN;
}

#define ROW vp_memory
static const tbl_column memory_columns[] = {
    {TBL_BYTES, AT(peak_bytes), TERM(0, "peak")},
    {TBL_SHARE, AT(peak_bytes), ALSO(total_bytes), TERM(0, "of all")},
    {TBL_BYTES, AT(reserved_bytes), TERM(0, "reserved"), TERM_NEEDS(MEM_RESERVED), DROP(4)},
    {TBL_BYTES, AT(fragmented_bytes), TERM(0, "in pieces"), TERM_NEEDS(MEM_PIECES), DROP(5)},
    {TBL_COUNT, AT(allocations), TERM(0, "allocations"), DROP(1)},
    {TBL_COUNT, GET(get_a_step), TERM(0, "a step"), TERM_NEEDS(MEM_STEPS), DROP(3)},
    {TBL_BYTES, AT(end_bytes), TERM(0, "at the end"), DROP(2)},
    {TBL_TEXT, AT(allocator), TERM(0, "allocator"), SHORT(16, 8)},
};
#undef ROW

void tbl_memory(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Memory", memory_columns, r->memory, r->memory_count), .r = r, .v = v};
    for (size_t i = 0; i < r->memory_count; i++)
        t->has |= (r->memory[i].reserved_bytes > 0 ? MEM_RESERVED : 0u) |
                  (r->memory[i].fragmented_bytes > 0 ? MEM_PIECES : 0u) |
                  (r->memory[i].steps > 0 ? MEM_STEPS : 0u);
}

static void get_of_peak(tbl_value *out, const void *row)
{
    out->text = "comp";
    out->n = ((const vp_memory_item *)row)->bytes;
    out->scale = out->whole = ((const vp_memory *)out->t->of)->peak_bytes;
}

static void get_allocator(tbl_value *out, const void *row)
{
    (void)row;
    out->text = ((const vp_memory *)out->t->of)->allocator;
}

#define ROW vp_memory_item
static const tbl_column holder_columns[] = {
    {TBL_NAME, AT(name), PAGE("Holder", NULL), TERM(4, "holder"), SHORT(30, 12)},
    {TBL_TEXT, AT(scope), PAGE("Scope", "Module or framework path"), NEEDS(MEM_SCOPE),
     TERM(5, "scope"), TERM_NEEDS(MEM_SCOPE), SHORT(24, 10), .keep_end = true, DROP(3)},
    {TBL_TEXT, AT(source), PAGE("Line", "The Python frame that asked for it"), NEEDS(MEM_SOURCE),
     TERM(6, "line"), TERM_NEEDS(MEM_SOURCE), SHORT(30, 10), .keep_end = true, DROP(4)},
    {TBL_COUNT, AT(step), PAGE("Step", "In which it was allocated"), NEEDS(MEM_STEP),
     TERM(7, "step"), TERM_NEEDS(MEM_STEP), DROP(5)},
    {TBL_BYTES, AT(bytes), PAGE("Bytes", NULL), TERM(1, "bytes")},
    {TBL_BAR, GET(get_of_peak), PAGE("of peak", NULL), TERM(2, "of peak")},
    {TBL_COUNT, AT(count), PAGE("Allocations", NULL), TERM(3, "allocations"), DROP(1)},
    {TBL_TEXT, GET(get_allocator), TERM(8, "allocator"), SHORT(16, 8), DROP(2)},
};
#undef ROW

void tbl_holders(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m)
{
    *t = (tbl){TBL_ROWS("Largest holders", holder_columns, m->top, m->top_count), .r = r, .v = v,
               .of = m};
    for (size_t i = 0; i < r->memory_count; i++)
        for (size_t k = 0; k < r->memory[i].top_count; k++) {
            const vp_memory_item *x = &r->memory[i].top[k];
            t->has |= (x->scope ? MEM_SCOPE : 0u) | (x->source ? MEM_SOURCE : 0u) |
                      (x->step >= 0 ? MEM_STEP : 0u);
        }
}

static void get_growth(tbl_value *out, const void *row)
{
    const vp_memory *m = out->t->of;
    out->n = m->leak_steps > 0 ? ((const vp_leak *)row)->bytes / m->leak_steps : VP_UNKNOWN;
}

static void get_judged(tbl_value *out, const void *row)
{
    (void)row;
    out->n = ((const vp_memory *)out->t->of)->leak_steps;
}

#define ROW vp_leak
static const tbl_column leak_columns[] = {
    {TBL_NAME, AT(name), PAGE("Taken by", NULL), TERM(5, "taken by"), SHORT(30, 12)},
    {TBL_TEXT, AT(scope), PAGE("Scope", "Module or framework path"), TERM(6, "scope"),
     SHORT(24, 10), .keep_end = true, DROP(3)},
    {TBL_TEXT, AT(source), PAGE("Line", "The Python frame that asked for it"), TERM(7, "line"),
     SHORT(30, 10), .keep_end = true, DROP(4)},
    {TBL_BYTES, GET(get_growth), PAGE("A step", "Bytes that one more step leaves"),
     TERM(1, "a step")},
    {TBL_BYTES, AT(bytes), PAGE("In all", NULL), TERM(2, "in all"), DROP(1)},
    {TBL_COUNT, AT(steps), PAGE("Steps", "That left something"), TERM(3, "steps")},
    {TBL_COUNT, GET(get_judged), PAGE("of", "Steps that have two more behind them"), TERM(4, "of")},
    {TBL_TEXT, GET(get_allocator), TERM(8, "allocator"), SHORT(16, 8), DROP(2)},
};
#undef ROW

void tbl_leaks(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m)
{
    *t = (tbl){TBL_ROWS("Memory that steps leave", leak_columns, m->leaks, m->leak_count), .r = r,
               .v = v, .of = m};
}
