#include "server/routes/site/headline.h"

#include "server/routes/site/listing.h"

#include "server/routes/site/page.h"
#include "trace/report/report.h"

/* The sum over the devices; the classes and idle add up to the window
 * (docs/reference/json.md#report). */
static vp_breakdown over_devices(const vp_report *r)
{
    vp_breakdown sum = {0};
    for (size_t i = 0; i < r->device_count; i++) {
        const vp_breakdown *d = &r->devices[i].breakdown;
        sum.window_ps += d->window_ps;
        sum.compute_ps += d->compute_ps;
        sum.exposed_comm_ps += d->exposed_comm_ps;
        sum.exposed_copy_ps += d->exposed_copy_ps;
        sum.busy_ps += d->busy_ps;
    }
    return sum;
}

/* A bar as SVG, 100 units wide: the CSP forbids inline styles, but allows SVG attributes. */
static void put_headline_bar(vp_buf *b, const vp_breakdown *d)
{
    const struct {
        const char *name;
        int64_t ps;
    } part[] = {
        {"comp", d->compute_ps}, {"comm", d->exposed_comm_ps}, {"copy", d->exposed_copy_ps}};
    double x = 0;
    vp_buf_puts(b, "<svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" "
                   "aria-hidden=\"true\"><rect class=\"idle\" width=\"100\" height=\"1\"/>");
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        double w = 100.0 * (double)part[i].ps / (double)d->window_ps;
        if (part[i].ps > 0)
            vp_buf_printf(b, "<rect class=\"%s\" x=\"%.3f\" width=\"%.3f\" height=\"1\"/>",
                          part[i].name, x, w);
        x += w;
    }
    vp_buf_puts(b, "</svg> ");
}

static const char *device_kind_word(const vp_report *r)
{
    static const char *const name[] = {"TPU", "GPU", "CPU device", "device"};
    for (size_t i = 1; i < r->device_count; i++)
        if (r->devices[i].kind != r->devices[0].kind)
            return name[VP_DEVICE_OTHER];
    return name[r->devices[0].kind];
}

static void put_busy(vp_buf *b, const vp_report *r)
{
    vp_breakdown sum = over_devices(r);
    if (sum.window_ps <= 0)
        return;
    put_headline_bar(b, &sum);
    vp_buf_puts(b, "<b>");
    page_percent(b, sum.busy_ps, sum.window_ps);
    vp_buf_puts(b, "</b> busy of ");
    rep_duration(b, r->end_ps - r->start_ps, VP_UNIT_AUTO, r->end_ps - r->start_ps);
    vp_buf_puts(b, "<br>");
}

static void put_headline_step(vp_buf *b, const vp_report *r)
{
    if (listing_step(r) < 0)
        return;
    vp_buf_puts(b, "<span class=\"topstep\">Step ");
    rep_duration(b, r->steps.median_ps, VP_UNIT_AUTO, r->steps.median_ps);
    vp_buf_puts(b, "</span> ");
}

static void put_top(vp_buf *b, const vp_report *r)
{
    const vp_op *op = &r->ops[0];
    int64_t whole = op->device < r->device_count ? r->devices[op->device].self_ps : 0;
    vp_buf_puts(b, ", slowest <code>");
    page_text(b, op->name);
    vp_buf_puts(b, "</code> ");
    page_percent(b, op->self_ps, whole);
}

/* The first finding on the page of the run: the highest-ranked one that fired. A report with only
 * ops has none, because missing data might explain it. */
static void put_headline_finding(vp_buf *b, const vp_report *r)
{
    static const char *const badges[] = {"", "warn", "bad"};
    for (size_t i = 0; i < r->finding_count; i++) {
        const vp_finding *f = &r->findings[i];
        if (f->status != VP_FIRED)
            continue;
        vp_buf_printf(b, "<span class=\"topfinding\"><span class=\"badge %s\">",
                      badges[f->severity]);
        page_text(b, f->id ? f->id : "");
        vp_buf_puts(b, "</span> ");
        page_text(b, f->title ? f->title : "");
        vp_buf_puts(b, "</span>");
        return;
    }
}

void headline_put(vp_buf *b, const vp_report *r)
{
    bool devices = r->has_devices && r->device_count;
    if (devices)
        put_busy(b, r);
    vp_buf_puts(b, "<span class=\"topop\">");
    if (devices)
        vp_buf_printf(b, "%zu %s%s", r->device_count, device_kind_word(r),
                      r->device_count > 1 ? "s" : "");
    else
        vp_buf_puts(b, "host tracks only");
    if (r->op_count)
        put_top(b, r);
    vp_buf_puts(b, "</span>");
    if (r->partial)
        vp_buf_puts(b, " <span class=\"badge warn\">partial</span>");
    if (r->depth == VP_DEPTH_FULL) {
        vp_buf_puts(b, "<br>");
        put_headline_step(b, r);
        put_headline_finding(b, r);
    }
}
