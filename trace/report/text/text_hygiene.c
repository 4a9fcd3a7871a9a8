/* What ops could be rid of, on the terminal. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/wastes.h"

#define DEVICES_MAX 24u

/* Device and self time, then a time and a share for each kind of waste. */
enum { FIRST = 2, COLUMNS_MAX = FIRST + 2 * REP_WASTES };

static size_t columns_of(grid_column out[COLUMNS_MAX], const bool used[REP_WASTES])
{
    size_t n = FIRST;
    out[0] = (grid_column){.left = true, .want = 12, .min = 6};
    out[1] = (grid_column){.drop = 1};
    for (size_t k = 0; k < REP_WASTES; k++)
        if (used[k]) {
            out[n++] = (grid_column){.drop = 0};
            out[n++] = (grid_column){.drop = 2}; /* shares go first, all of them */
        }
    return n;
}

static void put_head(grid *g, const bool used[REP_WASTES], const char *unit)
{
    static const char *const words[REP_WASTES] = {"format", "remat",    "async", "padding",
                                                  "infeed", "callback", "chains"};
    text_head(g, "device", NULL);
    text_head(g, "self", unit);
    for (size_t k = 0; k < REP_WASTES; k++)
        if (used[k]) {
            text_head(g, words[k], NULL);
            text_head(g, "%", NULL);
        }
}

static void put_row(grid *g, const vp_device *d, const bool used[REP_WASTES], vp_unit unit)
{
    rep_waste w[REP_WASTES];
    rep_wastes(w, &d->hygiene);
    grid_escaped(g, d->name, TBL_PLAIN);
    text_ps(g, d->self_ps, unit);
    for (size_t k = 0; k < REP_WASTES; k++)
        if (used[k]) {
            text_ps(g, w[k].ps, unit);
            text_share(g, w[k].ps, d->self_ps);
        }
}

static void put_note(vp_buf *b, const vp_report *r, const vp_view *v)
{
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    rep_put_shared_code(&line, r, v);
    if (line.n || line.status < 0)
        text_line(b, v, &line);
    else
        vp_buf_free(&line);
}

int text_hygiene(vp_buf *b, const vp_report *r, const vp_view *v)
{
    grid_column columns[COLUMNS_MAX];
    bool used[REP_WASTES];
    int64_t scale = 0;
    size_t shown = 0, more = 0;
    grid g;
    if (!r->has_devices || !rep_used_wastes(used, r, v))
        return b->status;
    for (size_t i = 0; i < r->device_count; i++)
        scale = r->devices[i].self_ps > scale ? r->devices[i].self_ps : scale;
    vp_unit unit = rep_unit_for(v->unit, scale);
    text_title(b, v, "Work that may be avoidable; an op can count in several columns");
    put_note(b, r, v);
    grid_init(&g, columns, columns_of(columns, used));
    put_head(&g, used, rep_unit_name(unit));
    for (size_t i = 0; i < r->device_count; i++) {
        if (!rep_device_matches(r, v, i))
            continue;
        if (shown == DEVICES_MAX) {
            more++;
            continue;
        }
        put_row(&g, &r->devices[i], used, unit);
        shown++;
    }
    return text_finish(b, &g, v, more);
}
