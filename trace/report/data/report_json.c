#include "trace/report/data/report_json.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/data/fields.h"
#include "trace/report/labels/memory_words.h"
#include "trace/report/labels/shown_rows.h"

/* The devices' indices in the output; devices that the view leaves out have none. */
static uint32_t *number_devices(const vp_report *r, const vp_view *v, bool *all)
{
    uint32_t *place = vp_calloc(r->device_count + 1, sizeof *place), n = 0;
    for (size_t i = 0; place && i < r->device_count; i++)
        place[i] = rep_device_matches(r, v, i) ? n++ : VP_NO_DEVICE;
    *all = n == r->device_count;
    return place;
}

static void json_put_devices(rep_json_out *o)
{
    vp_json_key(&o->j, "devices");
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < o->r->device_count; i++)
        if (o->place[i] != VP_NO_DEVICE)
            rep_put_object(o, rep_device_fields, &o->r->devices[i]);
    vp_json_end_array(&o->j);
}

static int json_put_ops(rep_json_out *o, const uint32_t *rows, size_t n)
{
    VP_CLEANUP(vp_free_ptr)
    int64_t *cumulative = vp_calloc(o->r->device_count + 1, sizeof *cumulative);
    VP_NEED(cumulative);
    vp_json_key(&o->j, "ops");
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < n; i++) {
        const vp_op *op = &o->r->ops[rows[i]];
        cumulative[op->device] += op->self_ps;
        o->cumulative_ps = cumulative[op->device];
        rep_put_object(o, rep_op_fields, op);
    }
    vp_json_end_array(&o->j);
    return 0;
}

/* Depths in pre-order determine the ends of objects, at any depth of the tree. */
static void json_put_scopes(rep_json_out *o)
{
    const vp_report *r = o->r;
    size_t open = 0;
    vp_json_key(&o->j, "scopes");
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < r->scope_count; i++) {
        for (; open > r->scopes[i].depth; open--) {
            vp_json_end_array(&o->j);
            vp_json_end_object(&o->j);
        }
        vp_json_begin_object(&o->j);
        rep_put_fields(o, rep_scope_fields, &r->scopes[i]); /* starts its array of children */
        open++;
    }
    for (; open; open--) {
        vp_json_end_array(&o->j);
        vp_json_end_object(&o->j);
    }
    vp_json_end_array(&o->j);
}

/* `complete` is true if no view left out rows: only such a report can be merged. */
static int put_report(vp_buf *b, const vp_report *r, const vp_view *view, bool tables_only)
{
    vp_view v = view ? *view : (vp_view){.version = 1};
    VP_CLEANUP(vp_free_ptr) uint32_t *rows = NULL;
    rep_json_out o = {.r = r};
    size_t n, matching;
    bool all_devices;
    VP_TRY(rep_check_filters(r, &v));
    VP_CLEANUP(vp_free_ptr) uint32_t *place = number_devices(r, &v, &all_devices);
    VP_NEED(place);
    VP_TRY(rep_select(&rows, &n, &matching, r, &v));
    rep_json_open(&o.j, b, r, "view_profile.report/1");
    o.place = place;
    vp_json_kbool(&o.j, "complete",
                  !tables_only && r->depth == VP_DEPTH_FULL && all_devices && n == r->op_count);
    json_put_devices(&o);
    VP_TRY(json_put_ops(&o, rows, n));
    if (!tables_only) {
        json_put_scopes(&o);
        rep_put_fields(&o, rep_tail_fields, r);
        rep_put_fields(&o, rep_memory_fields, r);
        rep_put_fields(&o, rep_quality_fields, r);
        rep_json_findings(&o.j, r);
    }
    vp_json_end_object(&o.j);
    return vp_buf_putc(b, '\n');
}

int rep_json(vp_buf *b, const vp_report *r, const vp_view *v)
{
    return put_report(b, r, v, false);
}

int rep_memory_json(vp_buf *b, const vp_report *r)
{
    rep_json_out o = {.r = r};
    vp_report only;
    VP_CLEANUP(vp_free_ptr) vp_finding *rows = NULL;
    VP_TRY(rep_memory_findings(&only, &rows, r));
    rep_json_open(&o.j, b, r, "view_profile.memory/1");
    rep_put_fields(&o, rep_memory_fields, r);
    rep_put_fields(&o, rep_quality_fields, r);
    rep_json_findings(&o.j, &only);
    vp_json_end_object(&o.j);
    return vp_buf_putc(b, '\n');
}

int rep_json_ops(vp_buf *b, const vp_report *r, const vp_view *v)
{
    return put_report(b, r, v, true);
}
