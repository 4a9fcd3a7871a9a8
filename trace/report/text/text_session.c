/* The header with the run, on the terminal. */
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/numbers.h"

void text_session(vp_buf *b, const vp_report *r, const vp_view *v)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 2, .gap = 2};
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&line, "run ");
    vp_put_escaped(&line, vp_str_of(r->session_name));
    grid_flow_put(&f, &line);
    if (r->step != VP_UNKNOWN) {
        vp_buf_printf(&line, "step %lld only", (long long)r->step);
        grid_flow_put(&f, &line);
    }
    vp_buf_puts(&line, "captured ");
    rep_put_time(&line, r->captured_unix_ns);
    grid_flow_put(&f, &line);
    vp_buf_printf(&line, "%zu host%s, %zu device%s, %lld events%s", r->host_count,
                  r->host_count == 1 ? "" : "s", r->has_devices ? r->device_count : 0,
                  r->has_devices && r->device_count == 1 ? "" : "s", (long long)r->events,
                  r->partial ? " (partial)" : "");
    grid_flow_put(&f, &line);
    grid_flow_end(&f);
    vp_buf_free(&line);
}
