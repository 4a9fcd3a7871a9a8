/* C API: makes and writes a report. */
#include "server/api/handles.h"
#include "trace/analyze/analyze.h"
#include "trace/report/report.h"

int vp_report_make(vp_report **out, const vp_catalog *c, const vp_session *s,
                   const vp_report_options *opts)
{
    static const vp_report_options defaults = VP_REPORT_OPTIONS_INIT;
    if (!out || !c || !s)
        return vp_fail(VP_EARG, "no catalog or run");
    opts = opts ? opts : &defaults;
    VP_TRY(vp_check_version(opts->version, defaults.version, "vp_report_options",
                            "VP_REPORT_OPTIONS_INIT"));
    return analyze_session(out, api_catalog(c), api_session(s), opts);
}

void vp_report_free(vp_report *r)
{
    analyze_free(r);
}

static int write_report_to_fd(void *ctx, const void *data, size_t n)
{
    return vp_fs_write_all(*(int *)ctx, data, n);
}

static int print_report_as(vp_buf *b, const vp_report *r, vp_format format, const vp_view *view)
{
    switch (format) {
    case VP_FORMAT_TEXT:
        return rep_text_full(b, r, view);
    case VP_FORMAT_JSON:
        return rep_json(b, r, view);
    case VP_FORMAT_CSV:
        return rep_csv(b, r, view);
    case VP_FORMAT_HTML:
        return rep_html(b, r, view, NULL);
    }
    return vp_fail(VP_EARG, "unknown report format %d", (int)format);
}

int vp_report_write(const vp_report *r, vp_format format, const vp_view *view, int fd)
{
    vp_buf b;
    if (!r)
        return vp_fail(VP_EARG, "no report");
    if (view)
        VP_TRY(vp_check_version(view->version, 1, "vp_view", "VP_VIEW_INIT"));
    vp_buf_init_stream(&b, write_report_to_fd, &fd);
    int rc = print_report_as(&b, r, format, view);
    if (rc >= 0)
        rc = vp_buf_flush(&b);
    vp_buf_free(&b);
    return rc < 0 ? rc : 0;
}

const char *vp_version(void)
{
    return VP_VERSION;
}
