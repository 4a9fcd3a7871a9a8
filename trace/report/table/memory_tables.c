#include "trace/report/table/memory_tables.h"

#include <stdio.h>
#include <string.h>

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* ---- Allocators ---- */

/* Columns that only some files have. */
enum {
    MEM_RESERVED = 4,
    MEM_PIECES = 8,
    MEM_STEPS = 16,
    MEM_SCOPE = 4,
    MEM_SOURCE = 8,
    MEM_STEP = 16,
    MEM_PLANNED = 32
};

static void get_a_step(tbl_value *out, const void *row)
{
    const vp_memory *m = row;
    out->n = m->steps > 0 ? m->step_allocations / m->steps : VP_UNKNOWN;
}

#define ROW vp_memory
static const tbl_column memory_columns[] = {
    {TBL_BYTES, AT(peak_bytes), TERM(0, "peak")},
    {TBL_SHARE, AT(peak_bytes), ALSO(total_bytes), TERM(0, "of limit")},
    {TBL_BYTES, AT(reserved_bytes), TERM(0, "reserved"), TERM_NEEDS(MEM_RESERVED), DROP(4)},
    {TBL_BYTES, AT(fragmented_bytes), TERM(0, "fragmented"), TERM_NEEDS(MEM_PIECES), DROP(5)},
    {TBL_COUNT, AT(allocations), TERM(0, "allocations"), DROP(1)},
    {TBL_COUNT, GET(get_a_step), TERM(0, "per step"), TERM_NEEDS(MEM_STEPS), DROP(3)},
    {TBL_BYTES, AT(end_bytes), TERM(0, "at end"), DROP(2)},
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
    {TBL_TEXT, AT(source), PAGE("Line", "Python frame of the allocation"), NEEDS(MEM_SOURCE),
     TERM(6, "line"), TERM_NEEDS(MEM_SOURCE), SHORT(30, 10), .keep_end = true, .place = true,
     DROP(4)},
    {TBL_COUNT, AT(step), PAGE("Step", "Step of the allocation"), NEEDS(MEM_STEP), TERM(7, "step"),
     TERM_NEEDS(MEM_STEP), DROP(5)},
    {TBL_TEXT, AT(planned), PAGE("Planned as", "The only planned buffer of exactly this size"),
     NEEDS(MEM_PLANNED), TERM(5, "planned as"), TERM_NEEDS(MEM_PLANNED), SHORT(28, 12), DROP(4)},
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
                      (x->step >= 0 ? MEM_STEP : 0u) | (x->planned ? MEM_PLANNED : 0u);
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
    {TBL_NAME, AT(name), PAGE("Allocated by", NULL), TERM(5, "allocated by"), SHORT(30, 12)},
    {TBL_TEXT, AT(scope), PAGE("Scope", "Module or framework path"), TERM(6, "scope"),
     SHORT(24, 10), .keep_end = true, DROP(3)},
    {TBL_TEXT, AT(source), PAGE("Line", "Python frame of the allocation"), TERM(7, "line"),
     SHORT(30, 10), .keep_end = true, .place = true, DROP(4)},
    {TBL_BYTES, GET(get_growth), PAGE("Per step", "Bytes left by each step"), TERM(1, "per step")},
    {TBL_BYTES, AT(bytes), PAGE("Total", NULL), TERM(2, "total"), DROP(1)},
    {TBL_COUNT, AT(steps), PAGE("Steps", "Steps that left memory"), TERM(3, "steps")},
    {TBL_COUNT, GET(get_judged), PAGE("of", "Steps followed by at least two more"), TERM(4, "of")},
    {TBL_TEXT, GET(get_allocator), TERM(8, "allocator"), SHORT(16, 8), DROP(2)},
};
#undef ROW

void tbl_leaks(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m)
{
    *t = (tbl){TBL_ROWS("Memory growth per step", leak_columns, m->leaks, m->leak_count), .r = r,
               .v = v, .of = m};
}

/* ---- Planned memory ---- */

/* Columns that only some plans have. */
enum { PLAN_SPACES = 4, PLAN_CONSTANTS = 8, PLAN_SCOPE = 4, PLAN_SOURCE = 8, PLAN_PADDING = 16 };

static const char *space_word(int64_t space, char made[32])
{
    if (space == VP_SPACE_MAIN || space == VP_SPACE_HOST)
        return space ? "host" : "main";
    snprintf(made, 32, "on chip (%lld)", (long long)space);
    return made;
}

const char *tbl_space_of(const vp_memory_plan *m, char made[32])
{
    return space_word(m->space, made);
}

static void get_space(tbl_value *out, const void *row)
{
    out->text = space_word(((const vp_memory_plan *)row)->space, out->made);
}

static void get_least(tbl_value *out, const void *row)
{
    out->n = tbl_plan_peak(row);
}

int64_t tbl_plan_peak(const vp_memory_plan *m)
{
    return m->peak_bytes >= 0 ? m->peak_bytes : m->reserved_bytes;
}

static void get_program(tbl_value *out, const void *row)
{
    const vp_memory_plan *m = row;
    out->text = m->module;
    out->below = m->ran ? NULL : "compiled but not executed in this profile";
    out->style = m->ran ? TBL_PLAIN : TBL_DIM;
}

static void get_unused(tbl_value *out, const void *row)
{
    const vp_memory_plan *m = row;
    out->n = m->fragmentation_bytes;
    out->whole = m->reserved_bytes;
}

#define ROW vp_memory_plan
static const tbl_column plan_columns[] = {
    {TBL_NAME, GET(get_program), PAGE("Program", "HLO module"), TERM(9, "program"), SHORT(24, 10)},
    {TBL_TEXT, AT(host), PAGE("Host", NULL), NEEDS(TBL_HOSTS)},
    {TBL_WORD, GET(get_space), PAGE("Memory", "Memory space of the device"), NEEDS(PLAN_SPACES),
     TERM(8, "memory"), TERM_NEEDS(PLAN_SPACES), DROP(2)},
    {TBL_BYTES, GET(get_least),
     PAGE("Peak", "Largest amount live at once; without known lifetimes, the reserved amount"),
     TERM(0, "peak")},
    {TBL_BYTES, AT(reserved_bytes), PAGE("Reserved", "Memory reserved by the runtime to run it"),
     TERM(1, "reserved"), DROP(1)},
    {TBL_SHARE, GET(get_unused),
     PAGE("Unused", "Share of reserved memory that is not live at the "
                    "peak"),
     TERM(2, "unused"), DROP(3)},
    {TBL_BYTES, AT(parameter_bytes), PAGE("Arguments", NULL), TERM(3, "arguments")},
    {TBL_BYTES, AT(output_bytes), PAGE("Results", "Results outside of donated arguments"),
     TERM(4, "results")},
    {TBL_BYTES, AT(constant_bytes), PAGE("Constants", NULL), NEEDS(PLAN_CONSTANTS),
     TERM(5, "constants"), TERM_NEEDS(PLAN_CONSTANTS), DROP(4)},
    {TBL_BYTES, AT(temp_bytes), PAGE("Temporaries", "Reserved for intermediate values"),
     TERM(6, "temporaries")},
};
#undef ROW

static bool shows_plan(const tbl *t, const void *row)
{
    const vp_memory_plan *m = row; /* many use none of the smaller memories */
    return tbl_plan_peak(m) > 0 && (!t->v->host || rep_shows_host(t->v, m->host));
}

void tbl_plans(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Planned memory (XLA buffer assignment)", plan_columns, r->memory_static,
                        r->memory_static_count),
               .r = r, .v = v, .shows = shows_plan, .has = tbl_has(r)};
    for (size_t i = 0; i < r->memory_static_count; i++)
        t->has |= (r->memory_static[i].space != VP_SPACE_MAIN ? PLAN_SPACES : 0u) |
                  (r->memory_static[i].constant_bytes > 0 ? PLAN_CONSTANTS : 0u);
}

static void get_of_plan(tbl_value *out, const void *row)
{
    out->text = "comp";
    out->n = ((const vp_plan_buffer *)row)->bytes;
    out->scale = out->whole = ((const vp_memory_plan *)out->t->of)->peak_bytes;
}

static void get_padding(tbl_value *out, const void *row)
{
    const vp_plan_buffer *x = row;
    out->n = x->unpadded_bytes >= 0 ? x->bytes - x->unpadded_bytes : VP_UNKNOWN;
}

static void get_buffer(tbl_value *out, const void *row)
{
    const vp_plan_buffer *x = row;
    out->text = x->instruction;
    out->below = x->padded;
}

static void get_buffer_kind(tbl_value *out, const void *row)
{
    out->text = rep_buffer_kind_words[((const vp_plan_buffer *)row)->kind];
}

/* The relevant part of "f32[8,3]{1,0}": a layout that counts down to 0 is the default, unless it
 * has other attributes. */
static size_t without_usual_layout(const char *shape)
{
    const char *at = strrchr(shape, '{');
    if (!at)
        return strlen(shape);
    for (const char *p = at + 1;; p++) {
        if (*p < '0' || *p > '9' || (p[1] != ',' && p[1] != '}') || (p[1] == ',' && p[2] != *p - 1))
            return strlen(shape);
        if (*++p == '}')
            return *(p - 1) == '0' && !p[1] ? (size_t)(at - shape) : strlen(shape);
    }
}

static void get_shape(tbl_value *out, const void *row)
{
    const char *shape = ((const vp_plan_buffer *)row)->shape;
    out->text = shape;
    size_t n = shape ? without_usual_layout(shape) : 0;
    if (!n || n >= sizeof out->made || !shape[n])
        return;
    memcpy(out->made, shape, n);
    out->made[n] = 0;
    out->text = out->made;
}

static void get_buffer_scope(tbl_value *out, const void *row)
{
    const vp_plan_buffer *x = row;
    out->text = x->scope ? x->scope : x->origin_scope;
}

static void get_source(tbl_value *out, const void *row)
{
    const vp_plan_buffer *x = row;
    out->text = x->source ? x->source : x->origin_source;
}

#define ROW vp_plan_buffer
static const tbl_column buffer_columns[] = {
    {TBL_NAME, GET(get_buffer), PAGE("Instruction", "Instruction that produces it"),
     TERM(4, "instruction"), SHORT(24, 11)},
    {TBL_WORD, GET(get_buffer_kind), PAGE("Kind", NULL), TERM(3, "kind"), DROP(2)},
    {TBL_BYTES, AT(bytes), PAGE("Bytes", "Including layout padding"), TERM(1, "bytes")},
    {TBL_BAR, GET(get_of_plan), PAGE("of peak", NULL), TERM(2, "of peak")},
    {TBL_BYTES, GET(get_padding), PAGE("Padding", "Part wasted by layout tiles"),
     NEEDS(PLAN_PADDING), TERM(2, "padding"), TERM_NEEDS(PLAN_PADDING), DROP(3)},
    {TBL_TEXT, GET(get_shape), PAGE("Shape", "With its layout, unless it is row-major"),
     TERM(5, "shape"), SHORT(24, 12), DROP(4)},
    {TBL_TEXT, GET(get_buffer_scope),
     PAGE("Scope", "Framework path; if it has none, that of the copied or fused op"),
     NEEDS(PLAN_SCOPE), TERM(6, "scope"), TERM_NEEDS(PLAN_SCOPE), SHORT(24, 10), .keep_end = true},
    {TBL_TEXT, GET(get_source), PAGE("Line", NULL), NEEDS(PLAN_SOURCE), TERM(7, "line"),
     TERM_NEEDS(PLAN_SOURCE), SHORT(20, 10), .keep_end = true, .place = true, DROP(1)},
};
#undef ROW

void tbl_plan_buffers(tbl *t, const vp_report *r, const vp_view *v, const vp_memory_plan *m)
{
    *t = (tbl){TBL_ROWS("Live at the peak", buffer_columns, m->live, m->live_count), .r = r, .v = v,
               .of = m};
    for (size_t i = 0; i < m->live_count; i++) {
        const vp_plan_buffer *x = &m->live[i];
        t->has |= (x->scope || x->origin_scope ? PLAN_SCOPE : 0u) |
                  (x->source || x->origin_source ? PLAN_SOURCE : 0u) |
                  (x->unpadded_bytes >= 0 && x->unpadded_bytes < x->bytes ? PLAN_PADDING : 0u);
    }
}

#define ROW vp_plan_donation
static const tbl_column donation_columns[] = {
    {TBL_NAME, AT(parameter), PAGE("Argument", "Dead when the result is computed"),
     TERM(3, "argument"), SHORT(24, 10)},
    {TBL_COUNT, AT(parameter_number), PAGE("Number", "Argument number in the program"),
     TERM(2, "number")},
    {TBL_BYTES, AT(bytes), PAGE("Bytes", NULL), TERM(1, "bytes")},
    {TBL_TEXT, AT(output), PAGE("Result", "Result of the same size"), TERM(4, "for the result"),
     SHORT(24, 10), DROP(1)},
    {TBL_TEXT, AT(scope), PAGE("Scope", "Scope of the argument"), TERM(5, "scope"), SHORT(20, 8),
     .keep_end = true, DROP(2)},
    {TBL_TEXT, AT(output_source), PAGE("Line", "Line that computes the result"), NEEDS(PLAN_SOURCE),
     TERM(6, "line"), TERM_NEEDS(PLAN_SOURCE), SHORT(20, 10), .keep_end = true, .place = true,
     DROP(3)},
};
#undef ROW

void tbl_donations(tbl *t, const vp_report *r, const vp_view *v, const vp_memory_plan *m)
{
    *t = (tbl){TBL_ROWS("Donatable arguments", donation_columns, m->donations, m->donation_count),
               .r = r, .v = v, .of = m};
    t->beyond = rep_beyond(m->donation_total, m->donation_count);
    for (size_t i = 0; i < m->donation_count; i++)
        t->has |= m->donations[i].output_source ? PLAN_SOURCE : 0u;
}
