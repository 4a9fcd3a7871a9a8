/* One op as JSON: what its page shows. */
#include "trace/report/data/op_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/data/field_macros.h"
#include "trace/report/data/report_json.h"

static const rep_field call_fields[] = {
    {F("name", REP_TEXT, detail_call, name)},
    {F("track", REP_TEXT, detail_call, track)},
    {F("start_ps", REP_TIME, detail_call, start_ps)},
    {F("dur_ps", REP_COUNT, detail_call, dur_ps)},
    {0},
};

static const rep_field name_fields[] = {
    {F("name", REP_TEXT, detail_name, name)},
    {F("scope", REP_TEXT, detail_name, scope)},
    {F("source", REP_TEXT, detail_name, source)},
    {F("shape", REP_TEXT, detail_name, shape)},
    {F("placed_by", REP_TEXT, detail_name, placed)},
    {F("tensor_cores", REP_TEXT, detail_name, tensor_cores)},
    {F("scopes", REP_COUNT, detail_name, scopes)},
    {F("sources", REP_COUNT, detail_name, sources)},
    {F("calls", REP_COUNT, detail_name, calls)},
    {F("self_ps", REP_COUNT, detail_name, self_ps)},
    {F("max_ps", REP_COUNT, detail_name, max_ps)},
    {0},
};

static const rep_field launch_fields[] = {
    {F("grid", REP_TEXT, detail_launch, how.grid)},
    {F("block", REP_TEXT, detail_launch, how.block)},
    {F("registers", REP_COUNT, detail_launch, how.registers)},
    {F("shared_bytes", REP_COUNT, detail_launch, how.shared_bytes)},
    {F("occupancy", REP_TEXT, detail_launch, how.occupancy)},
    {F("calls", REP_COUNT, detail_launch, calls)},
    {F("self_ps", REP_COUNT, detail_launch, self_ps)},
    {0},
};

static const rep_field detail_fields[] = {
    {LIST("calls", op_details, calls, call_count, detail_call, call_fields)},
    {LIST("names", op_details, names, name_count, detail_name, name_fields)},
    {LIST("launches", op_details, launches, launch_count, detail_launch, launch_fields)},
    {0},
};

static void json_put_op_key(vp_json *j, const vp_op *op)
{
    char hex[20];
    snprintf(hex, sizeof hex, "%016" PRIx64, op_key(op));
    vp_json_kcstr(j, "op", hex);
}

/* "op" and "on" as links to pages and this route have them. */
static void json_put_op_link(rep_json_out *o, const void *row)
{
    const graph_node *n = row;
    const vp_op *op = n->op < o->r->op_count ? &o->r->ops[n->op] : NULL;
    vp_json_begin_object(&o->j);
    if (op) {
        vp_json_ki64(&o->j, "on", op->device);
        json_put_op_key(&o->j, op);
    }
    vp_json_end_object(&o->j);
}

static void json_put_node_step(rep_json_out *o, const void *row)
{
    vp_json_i64(&o->j, ((const graph_node *)row)->step);
}

static const rep_field node_fields[] = {
    {F("name", REP_TEXT, graph_node, name)},
    {F("opcode", REP_TEXT, graph_node, opcode)},
    {F("shape", REP_TEXT, graph_node, shape)},
    {F("scope", REP_TEXT, graph_node, scope)},
    {F("source", REP_TEXT, graph_node, source)},
    {MADE("step", json_put_node_step)},
    {F("bytes", REP_COUNT, graph_node, bytes)},
    {F("calls", REP_COUNT, graph_node, calls)},
    {F("self_ps", REP_COUNT, graph_node, self_ps)},
    {MADE("link", json_put_op_link)},
    {0},
};

/* Pairs of places in `nodes`: the second takes the result of the first. */
static void put_edges(rep_json_out *o, const void *base)
{
    const op_graph *g = base;
    vp_json_begin_array(&o->j);
    for (size_t from = 0; from < g->node_count; from++)
        for (size_t to = 0; to < g->node_count; to++)
            if (g->edges[from][to]) {
                vp_json_begin_array(&o->j);
                vp_json_i64(&o->j, (int64_t)from);
                vp_json_i64(&o->j, (int64_t)to);
                vp_json_end_array(&o->j);
            }
    vp_json_end_array(&o->j);
}

static const rep_field graph_fields[] = {
    {F("program", REP_TEXT, op_graph, program)},
    {F("text", REP_TEXT, op_graph, text)},
    {F("instructions", REP_COUNT, op_graph, instructions)},
    {LIST("nodes", op_graph, nodes, node_count, graph_node, node_fields)},
    {MADE("edges", put_edges)},
    {F("operands_left", REP_COUNT, op_graph, operands_left)},
    {F("users_left", REP_COUNT, op_graph, users_left)},
    {ARRAY("body", REP_TEXTS, op_graph, body, body_count)},
    {F("body_left", REP_COUNT, op_graph, body_left)},
    {0},
};

static void json_put_bins(vp_json *j, const op_details *d)
{
    vp_json_key(j, "bins");
    vp_json_begin_object(j);
    vp_json_ki64(j, "from_ps", d->min_ps);
    vp_json_ki64(j, "to_ps", d->max_ps);
    vp_json_key(j, "calls");
    vp_json_begin_array(j);
    for (size_t i = 0; i < OP_BINS; i++)
        vp_json_i64(j, d->bins[i]);
    vp_json_end_array(j);
    vp_json_end_object(j);
}

int rep_op_json(vp_buf *b, const vp_report *r, size_t op, const op_details *d)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *place = vp_calloc(r->device_count + 1, sizeof *place);
    rep_json_out o = {.r = r, .place = place};
    VP_NEED(place);
    for (uint32_t i = 0; i < r->device_count; i++)
        place[i] = i;
    for (size_t i = 0; i <= op; i++)
        o.cumulative_ps += r->ops[i].device == r->ops[op].device ? r->ops[i].self_ps : 0;
    rep_json_open(&o.j, b, r, "view_profile.op/1");
    json_put_op_key(&o.j, &r->ops[op]);
    vp_json_key(&o.j, "figures");
    rep_put_object(&o, rep_op_fields, &r->ops[op]);
    json_put_bins(&o.j, d);
    rep_put_fields(&o, detail_fields, d);
    vp_json_ki64(&o.j, "more_names", (int64_t)d->more_names);
    vp_json_ki64(&o.j, "more_launches", (int64_t)d->more_launches);
    vp_json_key(&o.j, "graph");
    if (d->graph)
        rep_put_object(&o, graph_fields, d->graph);
    else
        vp_json_null(&o.j);
    vp_json_end_object(&o.j);
    return vp_buf_putc(b, '\n');
}
