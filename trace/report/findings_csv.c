#include "trace/report/parts.h"

#include <math.h>

#include "trace/base/limits.h"

/* One row a rule, in rank order; columns are stable, new ones go to the end. Lists are joined by
 * "; ". Of the places only the first, worst one. */
static const char header[] =
    "session,rank,id,name,status,severity,title,message,metric,value,threshold,unit,denominator,"
    "impact_ps,gross_ps,window_ps,impact_share_of_window,device,host,track,start_ps,end_ps,"
    "suggestion,caveats,explained_by,missing\n";

static void put_text(vp_buf *b, const char *z)
{
    vp_buf_putc(b, ',');
    rep_csv_text(b, z);
}

static void put_number(vp_buf *b, double v)
{
    vp_buf_putc(b, ',');
    if (isfinite(v))
        vp_buf_printf(b, "%.9g", v);
}

static void put_ps(vp_buf *b, int64_t ps, int64_t unknown)
{
    vp_buf_putc(b, ',');
    if (ps != unknown)
        vp_buf_i64(b, ps);
}

static void put_list(vp_buf *b, const char *const *texts, size_t n)
{
    vp_buf all;
    vp_buf_init(&all, VP_REPORT_BYTES_MAX);
    for (size_t i = 0; i < n; i++)
        vp_buf_printf(&all, "%s%s", i ? "; " : "", texts[i]);
    put_text(b, n ? vp_buf_cstr(&all) : NULL);
    vp_buf_free(&all);
}

static void put_place(vp_buf *b, const vp_report *r, const vp_finding *f)
{
    const vp_place none = {VP_NO_DEVICE, NULL, NULL, VP_NO_TIME, VP_NO_TIME};
    const vp_place *p = f->where_count ? f->where : &none;
    put_text(b, p->device < r->device_count ? r->devices[p->device].name : NULL);
    put_text(b, p->host);
    put_text(b, p->track);
    put_ps(b, p->start_ps, VP_NO_TIME);
    put_ps(b, p->end_ps, VP_NO_TIME);
}

static void put_row(vp_buf *b, const vp_report *r, const vp_finding *f, size_t rank)
{
    bool tells = f->status == VP_FIRED || f->status == VP_EXPLAINED;
    rep_csv_text(b, r->session_id);
    vp_buf_printf(b, ",%zu", rank);
    put_text(b, f->id);
    put_text(b, f->name);
    vp_buf_printf(b, ",%s,%s", rep_status_name(f->status),
                  tells ? rep_level_name(f->severity) : "");
    put_text(b, f->title);
    put_text(b, f->message);
    put_text(b, f->metric);
    put_number(b, f->status == VP_NOT_EVALUATED ? NAN : f->value);
    put_number(b, f->threshold);
    put_text(b, f->unit);
    put_text(b, f->denominator);
    put_ps(b, f->impact_ps, VP_UNKNOWN);
    put_ps(b, f->gross_ps, VP_UNKNOWN);
    put_ps(b, f->window_ps, VP_UNKNOWN);
    put_number(b, f->impact_ps >= 0 && f->window_ps > 0
                      ? (double)f->impact_ps / (double)f->window_ps
                      : NAN);
    put_place(b, r, f);
    put_text(b, f->suggestion);
    put_list(b, f->caveats, f->caveat_count);
    put_list(b, f->explained_by, f->explained_count);
    put_list(b, f->missing, f->missing_count);
    vp_buf_putc(b, '\n');
}

int rep_findings_csv(vp_buf *b, const vp_report *r)
{
    vp_buf_puts(b, header);
    for (size_t i = 0; i < r->finding_count; i++)
        put_row(b, r, &r->findings[i], i + 1);
    return b->status;
}
