/* Findings as CSV. */
#include <math.h>

#include "trace/base/limits.h"
#include "trace/report/data/csv.h"
#include "trace/report/data/csv_cells.h"
#include "trace/report/words/words.h"

/* One row a rule, in rank order; columns are stable, new ones go to the end. Lists are joined by
 * "; ". Of the places only the first, worst one. */
static const char header[] =
    "session,rank,id,name,status,severity,title,message,metric,value,threshold,unit,denominator,"
    "impact_ps,gross_ps,window_ps,impact_share_of_window,device,host,track,start_ps,end_ps,"
    "suggestion,caveats,explained_by,missing\n";

static void put_list(vp_buf *b, const char *const *texts, size_t n)
{
    vp_buf all;
    vp_buf_init(&all, VP_REPORT_BYTES_MAX);
    for (size_t i = 0; i < n; i++)
        vp_buf_printf(&all, "%s%s", i ? "; " : "", texts[i]);
    rep_csv_next_text(b, n ? vp_buf_cstr(&all) : NULL);
    vp_buf_free(&all);
}

static void put_place(vp_buf *b, const vp_report *r, const vp_finding *f)
{
    const vp_place none = {VP_NO_DEVICE, NULL, NULL, VP_NO_TIME, VP_NO_TIME};
    const vp_place *p = f->where_count ? f->where : &none;
    rep_csv_next_text(b, p->device < r->device_count ? r->devices[p->device].name : NULL);
    rep_csv_next_text(b, p->host);
    rep_csv_next_text(b, p->track);
    rep_csv_next_i64(b, p->start_ps, VP_NO_TIME);
    rep_csv_next_i64(b, p->end_ps, VP_NO_TIME);
}

static void put_row(vp_buf *b, const vp_report *r, const vp_finding *f, size_t rank)
{
    bool tells = f->status == VP_FIRED || f->status == VP_EXPLAINED;
    rep_csv_text(b, r->session_id);
    vp_buf_printf(b, ",%zu", rank);
    rep_csv_next_text(b, f->id);
    rep_csv_next_text(b, f->name);
    vp_buf_printf(b, ",%s,%s", rep_status_name(f->status),
                  tells ? rep_level_name(f->severity) : "");
    rep_csv_next_text(b, f->title);
    rep_csv_next_text(b, f->message);
    rep_csv_next_text(b, f->metric);
    rep_csv_next_double(b, f->status == VP_NOT_EVALUATED ? NAN : f->value);
    rep_csv_next_double(b, f->threshold);
    rep_csv_next_text(b, f->unit);
    rep_csv_next_text(b, f->denominator);
    rep_csv_next_i64(b, f->impact_ps, VP_UNKNOWN);
    rep_csv_next_i64(b, f->gross_ps, VP_UNKNOWN);
    rep_csv_next_i64(b, f->window_ps, VP_UNKNOWN);
    rep_csv_next_double(b, f->impact_ps >= 0 && f->window_ps > 0
                               ? (double)f->impact_ps / (double)f->window_ps
                               : NAN);
    put_place(b, r, f);
    rep_csv_next_text(b, f->suggestion);
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
