/* Avoidable work of ops, on the terminal. */
#include "trace/base/limits.h"
#include "trace/report/table/device_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/shared_code.h"

#define DEVICES_MAX 24u

static void text_put_hygiene_note(vp_buf *b, const vp_report *r, const vp_view *v)
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
    device_table d;
    if (!r->has_devices || !tbl_hygiene(&d, r, v))
        return b->status;
    d.t.most = DEVICES_MAX;
    text_title(b, v, "Avoidable work (an op can count in several columns)");
    text_put_hygiene_note(b, r, v);
    return text_table(b, v, &d.t);
}
