/* Memory on the terminal: planned memory, and allocators. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/table/memory_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/memory_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

#define MEMORY_MAX 16u
#define HOLDERS_MAX 5u     /* of one allocator */
#define PLANS_MAX 20u      /* rows of programs */
#define PLANS_WHOLE_MAX 3u /* number of programs whose peak is shown */
#define DONATIONS_MAX 5u
#define NAME_WIDTH 20u /* rows of an allocator next to its curve */

typedef void of_allocator(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m);

/* For all allocators in one table: the first rows of each. */
static int put_of_all(vp_buf *b, const vp_report *r, const vp_view *v, of_allocator *rows,
                      const char *title)
{
    size_t shown = 0, all = 0;
    text_row_writer w;
    tbl t;
    for (size_t i = 0; i < r->memory_count; i++) {
        rows(&t, r, v, &r->memory[i]);
        all += t.row_count;
    }
    if (!all)
        return b->status;
    text_title(b, v, title);
    rows(&t, r, v, r->memory);
    text_init_rows(&w, &t);
    for (size_t i = 0; i < r->memory_count; i++) {
        size_t most = MEMORY_MAX - shown < HOLDERS_MAX ? MEMORY_MAX - shown : HOLDERS_MAX;
        rows(&t, r, v, &r->memory[i]);
        t.row_count = t.row_count < most ? t.row_count : most;
        tbl_each(&t, text_row, &w);
        shown += t.row_count;
    }
    return text_finish(b, &w.g, v, all - shown);
}

int text_memory(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    if (!r->memory_count)
        return b->status;
    tbl_memory(&t, r, v);
    t.most = MEMORY_MAX;
    VP_TRY(text_titled_table(b, v, &t));
    VP_TRY(put_of_all(b, r, v, tbl_holders, "Largest holders of memory"));
    return put_of_all(b, r, v, tbl_leaks, "Memory growth per step");
}

/* ---- Plans ---- */

int text_plans(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_plans(&t, r, v);
    t.most = PLANS_MAX;
    return tbl_any(&t) ? text_titled_table(b, v, &t) : b->status;
}

static void text_put_program_lines(vp_buf *b, const vp_report *r, const vp_view *v)
{
    for (size_t i = 0; i < r->memory_programs_count; i++) {
        vp_buf line;
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        if (rep_put_programs(&line, r, i))
            text_line(b, v, &line);
    }
}

static int64_t live_at(const vp_memory_plan *m, size_t sample)
{
    int64_t sum = 0;
    for (size_t k = 0; k < m->layer_count; k++)
        if (sample < m->layers[k].byte_count)
            sum += m->layers[k].bytes[sample];
    return sum;
}

/* Live memory over the program's order, scaled to the width of the terminal: the maximum of the
 * samples in a column. */
static void text_put_plan_curve(vp_buf *b, const vp_view *v, const vp_memory_plan *m)
{
    size_t width = text_width(v) > 24 ? text_width(v) - 4 : 20;
    size_t columns = m->sample_count < width ? m->sample_count : width;
    if (columns < 8 || m->peak_bytes <= 0)
        return;
    vp_buf_puts(b, "  ");
    for (size_t c = 0; c < columns; c++) {
        int64_t most = 0;
        size_t from = c * m->sample_count / columns, to = (c + 1) * m->sample_count / columns;
        for (size_t i = from; i < to; i++)
            most = live_at(m, i) > most ? live_at(m, i) : most;
        rep_put_spark(b, most, m->peak_bytes);
    }
    vp_buf_putc(b, '\n');
}

/* "Peak 1.2 GiB in main memory at fusion.12, event 321 of 1002; 83.10% of the 1.4 GiB reserved." */
static void text_put_plan_peak(vp_buf *b, const vp_view *v, const vp_memory_plan *m)
{
    vp_buf line;
    char made[32];
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&line, m->peak_bytes >= 0 ? "Peak " : "Reserved ");
    rep_put_bytes(&line, tbl_plan_peak(m));
    vp_buf_printf(&line, " (memory: %s)", tbl_space_of(m, made));
    if (m->peak_instruction) {
        vp_buf_puts(&line, " at ");
        vp_put_escaped(&line, vp_str_of(m->peak_instruction));
    }
    if (m->peak_event >= 0)
        vp_buf_printf(&line, ", event %lld of %lld", (long long)m->peak_event,
                      (long long)m->events);
    if (m->peak_bytes >= 0) {
        vp_buf_puts(&line, "; ");
        rep_put_percent(&line, m->peak_bytes, m->reserved_bytes);
        vp_buf_puts(&line, " of the ");
        rep_put_bytes(&line, m->reserved_bytes);
        vp_buf_puts(&line, " reserved");
    } else {
        vp_buf_puts(&line, "; the file has no buffer lifetimes");
    }
    if (m->alias_bytes > 0) {
        vp_buf_puts(&line, "; ");
        rep_put_bytes(&line, m->alias_bytes);
        vp_buf_puts(&line, " of results are in donated arguments");
    }
    if (m->remat_count > 0)
        vp_buf_printf(&line, "; %lld instruction%s rematerialized", (long long)m->remat_count,
                      m->remat_count == 1 ? " is" : "s are");
    vp_buf_putc(&line, '.');
    text_line(b, v, &line);
}

/* Used memory of an allocator over time: the maximum of the points in a column; a column without a
 * point repeats the previous level. */
static void put_course(vp_buf *b, const vp_memory *m, size_t columns)
{
    const int64_t *at = m->sample_start_ps;
    __int128 span = (__int128)at[m->sample_count - 1] - at[0];
    int64_t level = 0;
    size_t i = 0;
    for (size_t c = 1; c <= columns; c++) {
        int64_t most = level;
        for (; i < m->sample_count &&
               ((__int128)at[i] - at[0]) * (int64_t)columns <= span * (int64_t)c;
             i++) {
            level = m->sample_bytes[i];
            most = level > most ? level : most;
        }
        rep_put_spark(b, most, m->peak_bytes);
    }
}

static void put_courses(vp_buf *b, const vp_report *r, const vp_view *v)
{
    size_t shown = 0,
           columns = text_width(v) > 2 * NAME_WIDTH ? text_width(v) - NAME_WIDTH - 4 : 20;
    columns = columns < 100 ? columns : 100;
    for (size_t i = 0; i < r->memory_count && shown < MEMORY_MAX; i++) {
        const vp_memory *m = &r->memory[i];
        if (m->sample_count < 8 || m->peak_bytes <= 0)
            continue;
        if (!shown++)
            text_title(b, v, "Memory in use over time, relative to each peak");
        vp_buf_puts(b, "  ");
        put_course(b, m, columns);
        vp_buf_puts(b, "  ");
        vp_buf name;
        vp_buf_init(&name, VP_REPORT_BYTES_MAX);
        vp_put_escaped(&name, vp_str_of(m->allocator));
        grid_put_short(b, vp_buf_view(&name), NAME_WIDTH);
        vp_buf_free_piece(b, &name);
        vp_buf_putc(b, '\n');
    }
}

static int text_put_plan(vp_buf *b, const vp_report *r, const vp_view *v, const vp_memory_plan *m)
{
    tbl t;
    vp_buf_putc(b, '\n');
    grid_color_on(b, TBL_BOLD, v->color);
    vp_put_escaped(b, vp_str_of(m->module));
    grid_color_off(b, TBL_BOLD, v->color);
    vp_buf_putc(b, '\n');
    text_put_plan_peak(b, v, m);
    text_put_plan_curve(b, v, m);
    tbl_plan_buffers(&t, r, v, m);
    t.most = v->top;
    VP_TRY(t.row_count ? text_table(b, v, &t) : 0);
    tbl_donations(&t, r, v, m);
    t.most = DONATIONS_MAX;
    return t.row_count ? text_titled_table(b, v, &t) : b->status;
}

static int put_largest(vp_buf *b, const vp_report *r, const vp_view *v)
{
    size_t shown = 0, more = 0;
    tbl t;
    tbl_plans(&t, r, v);
    for (size_t i = 0; i < r->memory_static_count; i++) {
        if (!t.shows(&t, &r->memory_static[i]))
            continue;
        if (shown++ < PLANS_WHOLE_MAX)
            VP_TRY(text_put_plan(b, r, v, &r->memory_static[i]));
        else
            more++;
    }
    if (more)
        vp_buf_printf(b, "… %zu more program%s; --format json has all\n", more,
                      more == 1 ? "" : "s");
    return b->status;
}

static int put_spared(vp_buf *b, const vp_report *r, const vp_view *v)
{
    vp_report only;
    VP_CLEANUP(vp_free_ptr) vp_finding *rows = NULL;
    VP_TRY(rep_memory_findings(&only, &rows, r));
    if (only.finding_count) {
        vp_buf cards;
        vp_buf_init(&cards, VP_REPORT_BYTES_MAX);
        text_title(b, v, "Potential memory savings");
        text_findings(&cards, &only, v);
        vp_buf_put(b, cards.p, cards.n - (cards.n > 0)); /* an empty line precedes the next part */
        vp_buf_free_piece(b, &cards);
    }
    return b->status;
}

int rep_text_memory(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = rep_view(view);
    VP_TRY(rep_check_filters(r, &v));
    text_session(b, r, &v);
    if (!r->memory_static_count && !r->memory_count)
        text_sentence(b, &v,
                      "No memory data in this profile: no XLA buffer assignment (XSpace with HLO "
                      "protos), no allocator events, no snapshot.");
    VP_TRY(put_spared(b, r, &v));
    VP_TRY(text_plans(b, r, &v));
    text_put_program_lines(b, r, &v);
    VP_TRY(put_largest(b, r, &v));
    VP_TRY(text_memory(b, r, &v));
    put_courses(b, r, &v);
    return text_quality(b, r, &v, VP_SEV_WARNING, 3);
}
