/* The text above and below the op tables of `top` and `report`: parts of each device's time, and
 * data quality. */
#include <stdio.h>
#include <string.h>

#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/table/breakdown_table.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

int text_breakdown(vp_buf *b, const vp_report *r, const vp_view *v, const bool *skip, size_t limit)
{
    tbl t;
    tbl_breakdown(&t, r, v, skip);
    t.most = limit;
    return text_table(b, v, &t);
}

static void quality_line(vp_buf *b, const vp_view *v, const vp_quality *q)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 4, .gap = 1};
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "%s: ", rep_severity_name(q->severity));
    if (q->file) {
        vp_put_escaped(&line, vp_str_of(q->file));
        if (q->event >= 0)
            vp_buf_printf(&line, ": event %lld", (long long)q->event);
        if (q->byte >= 0)
            vp_buf_printf(&line, "%s byte %lld", q->event >= 0 ? "," : ":", (long long)q->byte);
        vp_buf_puts(&line, ": ");
    }
    vp_put_escaped(&line, vp_str_of(q->message));
    vp_buf_puts(&line, " [");
    vp_put_escaped(&line, vp_str_of(q->code));
    vp_buf_puts(&line, q->partial ? "; numbers are incomplete]" : "]");
    grid_color_on(b, q->severity == VP_SEV_ERROR ? TBL_BAD : TBL_PLAIN, v->color);
    grid_flow_words(&f, &line);
    grid_color_off(b, q->severity == VP_SEV_ERROR ? TBL_BAD : TBL_PLAIN, v->color);
    grid_flow_end(&f);
    vp_buf_free(&line);
}

int text_quality(vp_buf *b, const vp_report *r, const vp_view *v, vp_severity least, size_t limit)
{
    size_t shown = 0, all = 0;
    for (int s = VP_SEV_ERROR; s >= (int)least; s--) {
        for (size_t i = 0; i < r->quality_count; i++) {
            if (r->quality[i].severity != (vp_severity)s || all++ >= limit)
                continue;
            if (!shown++)
                text_title(b, v, "Data quality");
            quality_line(b, v, &r->quality[i]);
        }
    }
    if (all > shown)
        vp_buf_printf(b, "… %zu more\n", all - shown);
    return b->status;
}
