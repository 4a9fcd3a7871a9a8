/* docs/reference/json.md#findings-array. The order of the array is the rank; key order is part of
 * the contract. */
#include "trace/report/data/report_json.h"
#include "trace/report/labels/words.h"

static void json_put_finding_time(vp_json *j, const char *key, int64_t ps)
{
    vp_json_key(j, key);
    if (ps == VP_NO_TIME)
        vp_json_null(j);
    else
        vp_json_i64(j, ps);
}

static void json_put_evidence(vp_json *j, const vp_finding *f)
{
    bool measured = f->status == VP_FIRED || f->status == VP_EXPLAINED || f->status == VP_CLEAR;
    vp_json_key(j, "evidence");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "metric", f->metric);
    if (measured)
        vp_json_kdouble(j, "value", f->value);
    else
        json_put_finding_time(j, "value", VP_NO_TIME);
    vp_json_kdouble(j, "threshold", f->threshold);
    vp_json_kcstr(j, "unit", f->unit);
    vp_json_kcstr(j, "denominator", f->denominator);
    vp_json_end_object(j);
}

static void json_put_places(vp_json *j, const vp_report *r, const vp_finding *f)
{
    vp_json_key(j, "where");
    vp_json_begin_array(j);
    for (size_t i = 0; i < f->where_count; i++) {
        const vp_place *p = &f->where[i];
        vp_json_begin_object(j);
        vp_json_kcstr(j, "device", p->device < r->device_count ? r->devices[p->device].name : NULL);
        vp_json_kcstr(j, "host", p->host);
        vp_json_kcstr(j, "track", p->track);
        json_put_finding_time(j, "start_ps", p->start_ps);
        json_put_finding_time(j, "end_ps", p->end_ps);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void json_put_impact(vp_json *j, const vp_finding *f)
{
    vp_json_key(j, "impact");
    vp_json_begin_object(j);
    vp_json_kcount(j, "time_ps", f->impact_ps);
    vp_json_kcount(j, "gross_ps", f->gross_ps);
    vp_json_kcount(j, "window_ps", f->window_ps);
    vp_json_key(j, "share_of_window");
    if (f->impact_ps < 0 || f->window_ps <= 0)
        vp_json_null(j);
    else
        vp_json_ratio(j, f->impact_ps, f->window_ps);
    vp_json_kcount(j, "bytes", f->impact_bytes);
    vp_json_end_object(j);
}

static void json_put_finding(vp_json *j, const vp_report *r, const vp_finding *f)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "id", f->id);
    vp_json_kcstr(j, "name", f->name);
    vp_json_kcstr(j, "status", rep_status_name(f->status));
    vp_json_key(j, "severity");
    if (f->status == VP_FIRED || f->status == VP_EXPLAINED)
        vp_json_cstr(j, rep_level_name(f->severity));
    else
        vp_json_null(j);
    vp_json_kcstr(j, "title", f->title);
    vp_json_kcstr(j, "message", f->message);
    json_put_evidence(j, f);
    json_put_places(j, r, f);
    json_put_impact(j, f);
    vp_json_kcstr(j, "suggestion", f->suggestion);
    rep_json_texts(j, "caveats", f->caveats, f->caveat_count);
    rep_json_texts(j, "explained_by", f->explained_by, f->explained_count);
    rep_json_texts(j, "missing", f->missing, f->missing_count);
    vp_json_end_object(j);
}

void rep_json_findings(vp_json *j, const vp_report *r)
{
    vp_json_key(j, "findings");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->finding_count; i++)
        json_put_finding(j, r, &r->findings[i]);
    vp_json_end_array(j);
}

int rep_findings_json(vp_buf *b, const vp_report *r)
{
    vp_json j;
    rep_json_open(&j, b, r, "view_profile.findings/1");
    rep_json_findings(&j, r);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}
