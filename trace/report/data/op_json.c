/* One op as JSON: the data of its page. */
#include "trace/report/data/op_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/data/field_macros.h"
#include "trace/report/data/report_json.h"

static const rep_field detail_call_fields[] = {
    {F("name", REP_TEXT, detail_call, name), .about = "Name in the profile."},
    {F("track", REP_TEXT, detail_call, track), .about = "Track or thread of the call."},
    {F("start_ps", REP_TIME, detail_call, start_ps),
     .about = "Start of the call, on the aligned clock."},
    {F("dur_ps", REP_COUNT, detail_call, dur_ps), .about = "Duration of the call."},
    {END("detail_call", "One of the longest calls of an op.")},
};

static const rep_field detail_name_fields[] = {
    {F("name", REP_TEXT, detail_name, name), .about = "Name in the profile."},
    {F("scope", REP_TEXT, detail_name, scope), .about = "Scope with the most self time."},
    {F("source", REP_TEXT, detail_name, source), .about = "Source line with the most self time."},
    {F("shape", REP_TEXT, detail_name, shape), .about = "Shape with the most self time."},
    {F("placed_by", REP_TEXT, detail_name, placed), .null = "the profile contains the scope",
     .about = "How the scope of a kernel in a recorded graph was found: `name` or `order`."},
    {F("tensor_cores", REP_TEXT, detail_name, tensor_cores), .null = "the name does not show it",
     .about = "Part of the kernel's name that shows use of tensor or matrix cores."},
    {F("scopes", REP_COUNT, detail_name, scopes), .about = "Distinct scopes under this name."},
    {F("sources", REP_COUNT, detail_name, sources),
     .about = "Distinct source lines under this name."},
    {F("calls", REP_COUNT, detail_name, calls), .about = "Number of calls."},
    {F("self_ps", REP_COUNT, detail_name, self_ps), .about = "Self time."},
    {F("max_ps", REP_COUNT, detail_name, max_ps), .about = "Duration of the longest call."},
    {END("detail_name", "A name in the profile that belongs to the op.")},
};

static const rep_field detail_launch_fields[] = {
    {F("grid", REP_TEXT, detail_launch, how.grid),
     .about = "Blocks of the launch, such as `3,1,1`."},
    {F("block", REP_TEXT, detail_launch, how.block), .about = "Threads of a block."},
    {F("registers", REP_COUNT, detail_launch, how.registers), .about = "Registers per thread."},
    {F("shared_bytes", REP_COUNT, detail_launch, how.shared_bytes),
     .about = "Shared memory per block."},
    {F("occupancy", REP_TEXT, detail_launch, how.occupancy), .unit = "%",
     .about = "Theoretical or estimated occupancy."},
    {F("calls", REP_COUNT, detail_launch, calls), .about = "Number of calls."},
    {F("self_ps", REP_COUNT, detail_launch, self_ps), .about = "Self time."},
    {END("detail_launch", "A launch configuration of kernels of the op.")},
};

static const rep_field detail_caller_fields[] = {
    {F("operator", REP_TEXT, detail_caller, operator_name), .null = "launched outside of operators",
     .about = "Innermost operator, which launched the calls."},
    {F("outermost_operator", REP_TEXT, detail_caller, outermost_name),
     .null = "launched outside of operators", .about = "Operator that the program called."},
    {F("scope", REP_TEXT, detail_caller, scope), .about = "Scope of the calls."},
    {F("source", REP_TEXT, detail_caller, source), .null = "no frame of the user is known",
     .about = "Source line of the user that launched the calls."},
    {F("calls", REP_COUNT, detail_caller, calls), .about = "Number of calls."},
    {F("self_ps", REP_COUNT, detail_caller, self_ps), .about = "Self time."},
    {END("detail_caller", "A place in the host code that launched calls of the op.")},
};

static void json_put_op_key(rep_json_out *o, const void *op)
{
    char hex[20];
    snprintf(hex, sizeof hex, "%016" PRIx64, op_key(op));
    vp_json_cstr(&o->j, hex);
}

static void put_link_device(rep_json_out *o, const void *op)
{
    vp_json_i64(&o->j, ((const vp_op *)op)->device);
}

static const rep_field link_fields[] = {
    {MADE("on", REP_COUNT, put_link_device), .needed = true, .optional = true, .unit = "index",
     .about = "Position of the device in `devices`."},
    {MADE("op", REP_TEXT, json_put_op_key), .needed = true, .optional = true,
     .about = "Key of the op."},
    {END("op_link",
         "How URLs of the server name an op; empty if no op of the report has the events.")},
};

static void json_put_op_link(rep_json_out *o, const void *row)
{
    const graph_node *n = row;
    vp_json_begin_object(&o->j);
    if (n->op < o->r->op_count)
        rep_put_fields(o, link_fields, &o->r->ops[n->op]);
    vp_json_end_object(&o->j);
}

static void json_put_node_step(rep_json_out *o, const void *row)
{
    vp_json_i64(&o->j, ((const graph_node *)row)->step);
}

static const rep_field node_fields[] = {
    {F("name", REP_TEXT, graph_node, name), .about = "Name of the instruction."},
    {F("opcode", REP_TEXT, graph_node, opcode), .about = "Opcode of the instruction."},
    {F("shape", REP_TEXT, graph_node, shape), .about = "Shape of its result."},
    {F("scope", REP_TEXT, graph_node, scope), .about = "Scope of the instruction."},
    {F("source", REP_TEXT, graph_node, source), .about = "Source line of the instruction."},
    {MADE("step", REP_INTEGER, json_put_node_step), .unit = "edges",
     .about = "Distance from the op's instruction: negative for operands, positive for users."},
    {F("bytes", REP_COUNT, graph_node, bytes), .about = "Size of its result without padding."},
    {F("calls", REP_COUNT, graph_node, calls), .about = "Calls on the device of the op."},
    {F("self_ps", REP_COUNT, graph_node, self_ps), .about = "Self time on the device of the op."},
    {MADE("link", REP_OBJECT, json_put_op_link), .fields = link_fields,
     .about = "The op that has its events."},
    {END("graph_node", "An HLO instruction near the op.")},
};

/* Pairs of indices in `nodes`: the second uses the result of the first. */
static void put_graph_edges(rep_json_out *o, const void *base)
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
    {F("program", REP_TEXT, op_graph, program), .about = "Name of the program."},
    {F("text", REP_TEXT, op_graph, text), .about = "The instruction as a line of HLO."},
    {F("instructions", REP_COUNT, op_graph, instructions),
     .about = "Instructions of the op; the one with the most self time is shown."},
    {LIST("nodes", op_graph, nodes, node_count, graph_node, node_fields),
     .about = "Instructions shown; the op's own is the first."},
    {MADE("edges", REP_PAIRS, put_graph_edges),
     .about =
         "Pairs of positions in `nodes`; the second instruction uses the result of the first."},
    {F("operands_left", REP_COUNT, op_graph, operands_left),
     .about = "Operands of shown instructions that are not shown."},
    {F("users_left", REP_COUNT, op_graph, users_left),
     .about = "Users of shown instructions that are not shown."},
    {ARRAY("body", REP_TEXTS, op_graph, body, body_count),
     .about = "Instructions of a fusion as lines of HLO, operands first."},
    {F("body_left", REP_COUNT, op_graph, body_left),
     .about = "Instructions of the fusion that are not shown."},
    {END("op_graph", "The HLO instructions around an op.")},
};

static void put_histogram(rep_json_out *o, const void *details)
{
    const op_details *d = details;
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < OP_BINS; i++)
        vp_json_i64(&o->j, d->bins[i]);
    vp_json_end_array(&o->j);
}

static const rep_field bins_fields[] = {
    {F("from_ps", REP_COUNT, op_details, min_ps), .needed = true,
     .about = "Start of the first bin: duration of the shortest call."},
    {F("to_ps", REP_COUNT, op_details, max_ps), .needed = true,
     .about = "End of the last bin: duration of the longest call."},
    {MADE("calls", REP_COUNTS, put_histogram), .unit = "count", .about = "Calls in each bin."},
    {END("bins", "Histogram of the durations of the calls: bins of equal width.")},
};

static void put_more_names(rep_json_out *o, const void *details)
{
    vp_json_i64(&o->j, (int64_t)((const op_details *)details)->more_names);
}

static void put_more_callers(rep_json_out *o, const void *details)
{
    vp_json_i64(&o->j, (int64_t)((const op_details *)details)->more_callers);
}

static void put_more_launches(rep_json_out *o, const void *details)
{
    vp_json_i64(&o->j, (int64_t)((const op_details *)details)->more_launches);
}

const rep_field rep_op_details_fields[] = {
    {.key = "bins",
     .type = REP_OBJECT,
     .fields = bins_fields,
     .about = "Histogram of the durations."},
    {LIST("calls", op_details, calls, call_count, detail_call, detail_call_fields),
     .about = "The longest calls, at most 50."},
    {LIST("names", op_details, names, name_count, detail_name, detail_name_fields),
     .about = "Names in the profile by self time, at most 500."},
    {LIST("launches", op_details, launches, launch_count, detail_launch, detail_launch_fields),
     .about = "Launch configurations by self time, at most 50."},
    {LIST("operators", op_details, callers, caller_count, detail_caller, detail_caller_fields),
     .about = "Operators that launched the calls, by self time, at most 50; empty if no launch "
              "call within an operator was found."},
    {MADE("more_names", REP_COUNT, put_more_names), .needed = true,
     .about = "Names that are not listed."},
    {MADE("more_launches", REP_COUNT, put_more_launches), .needed = true,
     .about = "Launch configurations that are not listed."},
    {MADE("more_operators", REP_COUNT, put_more_callers), .needed = true,
     .about = "Rows of `operators` that are not listed."},
    {F("graph", REP_OBJECT, op_details, graph), .size = sizeof(op_graph), .fields = graph_fields,
     .null = "the profile has no HLO", .about = "HLO instructions around the op."},
    {0},
};

/* Fields of the op, before those of its details. */
const rep_field rep_op_row_fields[] = {
    {MADE("op", REP_TEXT, json_put_op_key), .needed = true,
     .about = "Key of the op in URLs of the server."},
    {.key = "figures",
     .type = REP_OBJECT,
     .fields = rep_op_fields,
     .about = "The row of the report."},
    {0},
};

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
    rep_put_fields(&o, rep_op_row_fields, &r->ops[op]);
    rep_put_fields(&o, rep_op_details_fields, d);
    vp_json_end_object(&o.j);
    return vp_buf_putc(b, '\n');
}
