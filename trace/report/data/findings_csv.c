/* Findings as CSV. */
#include <math.h>

#include "trace/base/limits.h"
#include "trace/report/data/csv.h"
#include "trace/report/data/csv_table.h"
#include "trace/report/table/columns.h"
#include "trace/report/labels/words.h"

/* One row per rule, in rank order. Lists are joined by "; ". */
typedef struct row {
    const vp_report *r;
    const vp_finding *f;
    const vp_place *place; /* the first, worst one; NULL: none */
    int64_t rank;
    const char *caveats, *explained_by, *missing;
} row;

static void get_status(tbl_value *out, const void *at)
{
    out->text = rep_status_name(((const row *)at)->f->status);
}

static void get_severity(tbl_value *out, const void *at)
{
    const vp_finding *f = ((const row *)at)->f;
    out->blank = f->status != VP_FIRED && f->status != VP_EXPLAINED;
    out->text = rep_level_name(f->severity);
}

static void get_finding_value(tbl_value *out, const void *at)
{
    const vp_finding *f = ((const row *)at)->f;
    out->d = f->status == VP_NOT_EVALUATED ? NAN : f->value;
}

static void get_finding_share(tbl_value *out, const void *at)
{
    const vp_finding *f = ((const row *)at)->f;
    bool known = f->impact_ps >= 0 && f->window_ps > 0;
    out->d = known ? (double)f->impact_ps / (double)f->window_ps : NAN;
}

static void get_finding_device(tbl_value *out, const void *at)
{
    const row *x = at;
    bool has = x->place && x->place->device < x->r->device_count;
    out->text = has ? x->r->devices[x->place->device].name : NULL;
}

#define ROW row
#define OF(member) VIA(f, vp_finding, member)
#define PLACE(member) VIA(place, vp_place, member)
static const tbl_column columns[] = {
    {TBL_TEXT, VIA(r, vp_report, session_id), CSV(0, "session")},
    {TBL_COUNT, AT(rank), CSV(0, "rank")},
    {TBL_TEXT, OF(id), CSV(0, "id")},
    {TBL_TEXT, OF(name), CSV(0, "name")},
    {TBL_WORD, GET(get_status), CSV(0, "status")},
    {TBL_WORD, GET(get_severity), CSV(0, "severity")},
    {TBL_TEXT, OF(title), CSV(0, "title")},
    {TBL_TEXT, OF(message), CSV(0, "message")},
    {TBL_TEXT, OF(metric), CSV(0, "metric")},
    {TBL_NUMBER, GET(get_finding_value), CSV(0, "value")},
    {TBL_NUMBER, OF(threshold), CSV(0, "threshold")},
    {TBL_TEXT, OF(unit), CSV(0, "unit")},
    {TBL_TEXT, OF(denominator), CSV(0, "denominator")},
    {TBL_COUNT, OF(impact_ps), CSV(0, "impact_ps")},
    {TBL_COUNT, OF(gross_ps), CSV(0, "gross_ps")},
    {TBL_COUNT, OF(window_ps), CSV(0, "window_ps")},
    {TBL_NUMBER, GET(get_finding_share), CSV(0, "impact_share_of_window")},
    {TBL_COUNT, OF(impact_bytes), CSV(0, "impact_bytes")},
    {TBL_TEXT, GET(get_finding_device), CSV(0, "device")},
    {TBL_TEXT, PLACE(host), CSV(0, "host")},
    {TBL_TEXT, PLACE(track), CSV(0, "track")},
    {TBL_WHEN, PLACE(start_ps), CSV(0, "start_ps")},
    {TBL_WHEN, PLACE(end_ps), CSV(0, "end_ps")},
    {TBL_TEXT, OF(suggestion), CSV(0, "suggestion")},
    {TBL_TEXT, AT(caveats), CSV(0, "caveats")},
    {TBL_TEXT, AT(explained_by), CSV(0, "explained_by")},
    {TBL_TEXT, AT(missing), CSV(0, "missing")},
};
#undef PLACE
#undef OF
#undef ROW

/* NULL for an empty list. The text is valid as long as the buffer. */
static const char *join_texts(vp_buf *all, const char *const *texts, size_t n)
{
    vp_buf_init(all, VP_REPORT_BYTES_MAX);
    for (size_t i = 0; i < n; i++)
        vp_buf_printf(all, "%s%s", i ? "; " : "", texts[i]);
    return n ? vp_buf_cstr(all) : NULL;
}

static void csv_put_finding_row(csv_row_writer *w, const vp_report *r, size_t i)
{
    const vp_finding *f = &r->findings[i];
    vp_buf caveats, explained_by, missing;
    csv_row(w,
            &(row){.r = r,
                   .f = f,
                   .place = f->where_count ? f->where : NULL,
                   .rank = (int64_t)i + 1,
                   .caveats = join_texts(&caveats, f->caveats, f->caveat_count),
                   .explained_by = join_texts(&explained_by, f->explained_by, f->explained_count),
                   .missing = join_texts(&missing, f->missing, f->missing_count)});
    vp_buf_free_piece(w->b, &caveats);
    vp_buf_free_piece(w->b, &explained_by);
    vp_buf_free_piece(w->b, &missing);
}

int rep_findings_csv(vp_buf *b, const vp_report *r)
{
    tbl t = {TBL_COLUMNS(columns), .r = r};
    csv_row_writer w;
    csv_init_rows(&w, b, &t);
    for (size_t i = 0; i < r->finding_count; i++)
        csv_put_finding_row(&w, r, i);
    return b->status;
}
