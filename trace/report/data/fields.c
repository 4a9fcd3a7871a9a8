#include "trace/report/data/field_macros.h"
#include "trace/report/labels/mfu_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/view_words.h"
#include "trace/report/labels/words.h"
#include "trace/analyze/result/host_result.h"
#include "trace/analyze/result/result_words.h"
#include "trace/base/sums.h"

_Static_assert(sizeof(vp_op_class) == sizeof(int) && sizeof(vp_direction) == sizeof(int) &&
                   sizeof(vp_depth) == sizeof(int),
               "REP_WORD copies an int");
_Static_assert(sizeof(vp_report) <= UINT16_MAX, "places in a struct are of 16 bits");

/* ---- Session and window ---- */

static const rep_field file_fields[] = {
    {F("path", REP_TEXT, vp_report_file, path), .needed = true},
    {F("kind", REP_TEXT, vp_report_file, kind)},
    {F("bytes", REP_COUNT, vp_report_file, bytes)},
    {F("events", REP_COUNT, vp_report_file, events)},
    {F("partial", REP_BOOL, vp_report_file, partial)},
    {0},
};

static const rep_field session_fields[] = {
    {F("id", REP_TEXT, vp_report, session_id)},
    {F("name", REP_TEXT, vp_report, session_name)},
    {F("path", REP_TEXT, vp_report, session_path)},
    {F("kind", REP_TEXT, vp_report, session_kind)},
    {F("captured_unix_ns", REP_COUNT, vp_report, captured_unix_ns), .unsummed = true},
    {F("base_unix_ns", REP_COUNT, vp_report, base_unix_ns), .unsummed = true},
    {ARRAY("hosts", REP_TEXTS, vp_report, hosts, host_count)},
    {LIST("files", vp_report, files, file_count, vp_report_file, file_fields)},
    {0},
};

static void put_policy(rep_json_out *o, const void *base)
{
    (void)base;
    vp_json_cstr(&o->j, o->r->step != VP_UNKNOWN ? "steps"
                        : o->r->one_window       ? "asked"
                        : o->r->has_devices      ? "device"
                                                 : "capture");
}

static void json_put_clock_kind(rep_json_out *o, const void *base)
{
    (void)base;
    vp_json_cstr(&o->j, o->r->own_clock ? "device" : "aligned");
}

static const rep_field window_fields[] = {
    {MADE("policy", put_policy)},
    {MADE("clock", json_put_clock_kind)},
    {F("start_ps", REP_TIME, vp_report, start_ps)},
    {F("end_ps", REP_TIME, vp_report, end_ps)},
    {F("capture_ps", REP_COUNT, vp_report, capture_ps)},
    {F("step", REP_COUNT, vp_report, step), .unsummed = true},
    {0},
};

static void json_put_where_kind(rep_json_out *o, const void *base)
{
    (void)base;
    vp_json_cstr(&o->j, o->r->has_devices ? "device" : "host");
}

static const rep_field analysis_fields[] = {
    {F("group", REP_WORD, vp_report, group), .words = rep_group_words},
    {F("depth", REP_WORD, vp_report, depth), .words = rep_depth_words},
    {F("events", REP_COUNT, vp_report, events), .needed = true},
    {F("has_devices", REP_BOOL, vp_report, has_devices)},
    {F("own_clock", REP_BOOL, vp_report, own_clock)},
    {F("partial", REP_BOOL, vp_report, partial)},
    {MADE("where", json_put_where_kind)},
    {0},
};

static void json_put_share(rep_json_out *o, int64_t part, int64_t whole)
{
    if (part < 0 || whole < 0)
        vp_json_null(&o->j);
    else
        vp_json_ratio(&o->j, part, whole);
}

/* ---- Devices ---- */

static const rep_field device_window_fields[] = {
    {F("start_ps", REP_TIME, vp_device, start_ps)},
    {F("end_ps", REP_TIME, vp_device, end_ps)},
    {0},
};

const rep_field rep_breakdown_fields[] = {
    {F("window_ps", REP_COUNT, vp_breakdown, window_ps), .needed = true},
    {F("compute_ps", REP_COUNT, vp_breakdown, compute_ps), .needed = true},
    {F("exposed_comm_ps", REP_COUNT, vp_breakdown, exposed_comm_ps), .needed = true},
    {F("exposed_copy_ps", REP_COUNT, vp_breakdown, exposed_copy_ps), .needed = true},
    {F("idle_ps", REP_COUNT, vp_breakdown, idle_ps), .needed = true},
    {F("busy_ps", REP_COUNT, vp_breakdown, busy_ps), .needed = true},
    {F("comm_ps", REP_COUNT, vp_breakdown, comm_ps), .needed = true},
    {F("copy_ps", REP_COUNT, vp_breakdown, copy_ps), .needed = true},
    {F("overlap_comm_ps", REP_COUNT, vp_breakdown, overlap_comm_ps), .needed = true},
    {0},
};

static const rep_field hygiene_fields[] = {
    {F("formatting_ps", REP_COUNT, vp_hygiene, formatting_ps), .needed = true},
    {F("remat_ps", REP_COUNT, vp_hygiene, remat_ps), .needed = true},
    {F("async_done_ps", REP_COUNT, vp_hygiene, async_done_ps), .needed = true},
    {F("padding_ps", REP_COUNT, vp_hygiene, padding_ps), .needed = true},
    {F("infeed_ps", REP_COUNT, vp_hygiene, infeed_ps), .needed = true},
    {F("callback_ps", REP_COUNT, vp_hygiene, callback_ps), .needed = true},
    {F("duplicate_ps", REP_COUNT, vp_hygiene, duplicate_ps), .needed = true},
    {F("duplicate_ops", REP_COUNT, vp_hygiene, duplicate_ops), .needed = true},
    {F("chain_ps", REP_COUNT, vp_hygiene, chain_ps), .needed = true},
    {F("chains", REP_COUNT, vp_hygiene, chains), .needed = true},
    {0},
};

static void put_mfu(rep_json_out *o, const void *base)
{
    const vp_device *d = base;
    json_put_share(o, d->mfu.peak_gflops > 0 ? d->mfu.peak_ps : -1, d->breakdown.window_ps);
}

static void put_hfu(rep_json_out *o, const void *base)
{
    const vp_device *d = base;
    json_put_share(
        o, d->mfu.peak_gflops > 0 ? vp_add_most(d->mfu.peak_ps, d->mfu.recompute_peak_ps) : -1,
        d->breakdown.window_ps);
}

static const rep_field mfu_fields[] = {
    {MADE("mfu", put_mfu)},
    {MADE("hfu", put_hfu)},
    {F("chip", REP_TEXT, vp_device, mfu.chip)},
    {F("peak_source", REP_WORD, vp_device, mfu.peak_source), .words = rep_peak_words},
    {F("bandwidth_source", REP_WORD, vp_device, mfu.bandwidth_source), .words = rep_peak_words},
    {F("uncertain", REP_BOOL, vp_device, mfu.uncertain)},
    {F("dtype", REP_WORD, vp_device, mfu.dtype), .words = result_dtype_words},
    {F("peak_gflops", REP_COUNT, vp_device, mfu.peak_gflops), .unsummed = true},
    {F("bandwidth_mb_s", REP_COUNT, vp_device, mfu.bandwidth_mb_s), .unsummed = true},
    {F("flops", REP_COUNT, vp_device, mfu.flops), .unsummed = true},
    {F("recompute_flops", REP_COUNT, vp_device, mfu.recompute_flops), .unsummed = true},
    {F("peak_ps", REP_COUNT, vp_device, mfu.peak_ps), .needed = true, .unsummed = true},
    {F("recompute_peak_ps", REP_COUNT, vp_device, mfu.recompute_peak_ps), .needed = true,
     .unsummed = true},
    {F("above_ops", REP_COUNT, vp_device, mfu.above_ops), .needed = true},
    {F("above_ps", REP_COUNT, vp_device, mfu.above_ps), .needed = true, .unsummed = true},
    {F("cells", REP_BY_WORD, vp_device, mfu.cell_ps), .words = result_cell_words},
    {F("formatting_ps", REP_COUNT, vp_device, mfu.formatting_ps), .needed = true},
    {F("asked_flops", REP_COUNT, vp_device, mfu.asked_flops), .unsummed = true},
    {F("asked_window_ps", REP_COUNT, vp_device, mfu.asked_window_ps)},
    {0},
};

const rep_field rep_device_fields[] = {
    {F("name", REP_TEXT, vp_device, name), .needed = true},
    {F("host", REP_TEXT, vp_device, host)},
    {F("kind", REP_WORD, vp_device, kind), .words = rep_kind_words},
    {F("events", REP_COUNT, vp_device, events), .needed = true},
    {.key = "window", .type = REP_OBJECT, .fields = device_window_fields},
    {F("breakdown", REP_OBJECT, vp_device, breakdown), .fields = rep_breakdown_fields},
    {F("own_clock", REP_BOOL, vp_device, own_clock)},
    {F("model", REP_TEXT, vp_device, model)},
    {F("timeline_ns", REP_INTEGER, vp_device, timeline_ns)},
    {F("self_ps", REP_COUNT, vp_device, self_ps), .needed = true},
    {F("idle_causes", REP_BY_WORD, vp_device, cause_ps), .words = result_cause_words, .full = true},
    {F("memory_bytes", REP_COUNT, vp_device, memory_bytes), .full = true},
    {F("gap_count", REP_COUNT, vp_device, gap_count), .needed = true, .full = true},
    {F("steps_counted", REP_COUNT, vp_device, steps_counted), .full = true},
    {F("barriers", REP_COUNT, vp_device, barriers), .full = true},
    {F("barrier_ps", REP_COUNT, vp_device, barrier_ps), .full = true},
    {F("exposed_wait_ps", REP_COUNT, vp_device, exposed_wait_ps), .full = true},
    {F("hygiene", REP_OBJECT, vp_device, hygiene), .fields = hygiene_fields, .full = true},
    {.key = "mfu", .type = REP_OBJECT, .fields = mfu_fields, .full = true},
    {0},
};

static const rep_field launch_fields[] = {
    {F("calls", REP_COUNT, vp_device, launch.calls)},
    {F("linked_ops", REP_COUNT, vp_device, launch.linked_ops)},
    {F("unlinked_ops", REP_COUNT, vp_device, launch.unlinked_ops)},
    {F("kernels", REP_COUNT, vp_device, launch.kernels)},
    {F("kernel_p50_ps", REP_COUNT, vp_device, launch.kernel_p50_ps)},
    {F("short_kernels", REP_COUNT, vp_device, launch.short_kernels)},
    {F("short_ps", REP_COUNT, vp_device, launch.short_ps)},
    {F("call_p50_ps", REP_COUNT, vp_device, launch.call_p50_ps)},
    {F("call_p95_ps", REP_COUNT, vp_device, launch.call_p95_ps)},
    {F("delay_p50_ps", REP_COUNT, vp_device, launch.delay_p50_ps)},
    {F("delay_p95_ps", REP_COUNT, vp_device, launch.delay_p95_ps)},
    {F("late_launches", REP_COUNT, vp_device, launch.late_launches)},
    {F("queue_max", REP_COUNT, vp_device, launch.queue_max)},
    {F("queue_mean_milli", REP_COUNT, vp_device, launch.queue_mean_milli)},
    {F("graph_launches", REP_COUNT, vp_device, launch.graph_launches)},
    {F("starved_call_ps", REP_COUNT, vp_device, launch.starved_call_ps)},
    {F("starved_latency_ps", REP_COUNT, vp_device, launch.starved_latency_ps)},
    {0},
};

const rep_field rep_launch_fields[] = {
    {.key = "devices", .type = REP_BY_DEVICE, .fields = launch_fields},
    {0},
};

/* ---- Ops ---- */

static void put_mean(rep_json_out *o, const void *op)
{
    int64_t mean = rep_mean_ps(op);
    if (mean < 0)
        vp_json_null(&o->j);
    else
        vp_json_i64(&o->j, mean);
}

static void put_share_of_ops(rep_json_out *o, const void *base)
{
    const vp_op *op = base;
    json_put_share(o, op->self_ps, o->r->devices[op->device].self_ps);
}

static void put_share_of_window(rep_json_out *o, const void *base)
{
    const vp_op *op = base;
    json_put_share(o, op->self_ps, rep_window_of(o->r, op));
}

static void put_cumulative(rep_json_out *o, const void *base)
{
    const vp_op *op = base;
    json_put_share(o, o->cumulative_ps, o->r->devices[op->device].self_ps);
}

static void put_per_step(rep_json_out *o, const void *op)
{
    int64_t ps = rep_per_step_ps(o->r, op);
    if (ps < 0)
        vp_json_null(&o->j);
    else
        vp_json_i64(&o->j, ps);
}

static void put_gb_per_s(rep_json_out *o, const void *op)
{
    vp_json_double(&o->j, rep_gb_per_s(op));
}

static void put_gflop_per_s(rep_json_out *o, const void *op)
{
    vp_json_double(&o->j, rep_gflop_per_s(op));
}

static const rep_field slowest_fields[] = {
    {F("start_ps", REP_TIME, vp_op, slowest_start_ps)},
    {F("dur_ps", REP_COUNT, vp_op, slowest_dur_ps)},
    {0},
};

static const rep_field split_fields[] = {
    {F("label", REP_TEXT, vp_split, label)},
    {F("scope", REP_TEXT, vp_split, scope)},
    {F("source", REP_TEXT, vp_split, source)},
    {F("calls", REP_COUNT, vp_split, calls), .needed = true},
    {F("self_ps", REP_COUNT, vp_split, self_ps), .needed = true},
    {F("max_ps", REP_COUNT, vp_split, max_ps), .needed = true},
    {F("stddev_ps", REP_ROUNDED, vp_split, stddev_ps)},
    {F("by", REP_WORD, vp_split, by), .words = rep_split_words},
    {0},
};

static void put_intensity(rep_json_out *o, const void *roof)
{
    vp_json_double(&o->j, rep_intensity(roof));
}

static void put_bound(rep_json_out *o, const void *roof)
{
    vp_json_cstr(&o->j, rep_bound(roof));
}

static void put_of_bound(rep_json_out *o, const void *roof)
{
    vp_json_double(&o->j, rep_of_bound(roof));
}

const rep_field rep_roof_fields[] = {
    {F("flops", REP_COUNT, vp_roof, flops), .unsummed = true},
    {F("bytes", REP_COUNT, vp_roof, bytes), .unsummed = true},
    {F("peak_ps", REP_COUNT, vp_roof, peak_ps), .needed = true, .unsummed = true},
    {F("memory_ps", REP_COUNT, vp_roof, memory_ps), .needed = true, .unsummed = true},
    {F("cells", REP_BY_WORD, vp_roof, cell_ps), .words = result_cell_words},
    {F("source", REP_WORD, vp_roof, source), .words = rep_cost_words},
    {MADE("flop_per_byte", put_intensity)},
    {MADE("bound", put_bound)},
    {MADE("of_bound", put_of_bound)},
    {0},
};

static const rep_field kernel_launch_fields[] = {
    {F("grid", REP_TEXT, vp_kernel_launch, grid)},
    {F("block", REP_TEXT, vp_kernel_launch, block)},
    {F("registers", REP_COUNT, vp_kernel_launch, registers), .unsummed = true},
    {F("shared_bytes", REP_COUNT, vp_kernel_launch, shared_bytes), .unsummed = true},
    {F("occupancy", REP_TEXT, vp_kernel_launch, occupancy)},
    {F("tensor_cores", REP_TEXT, vp_kernel_launch, tensor_cores)},
    {0},
};

const rep_field rep_op_fields[] = {
    {F("device", REP_DEVICE, vp_op, device)},
    {F("class", REP_WORD, vp_op, op_class), .words = rep_class_words},
    {F("category", REP_TEXT, vp_op, category)},
    {F("name", REP_TEXT, vp_op, name), .needed = true},
    {F("calls", REP_COUNT, vp_op, calls), .needed = true},
    {F("total_ps", REP_COUNT, vp_op, total_ps), .needed = true},
    {F("inner_ps", REP_COUNT, vp_op, inner_ps), .needed = true},
    {F("inner_calls", REP_COUNT, vp_op, inner_calls), .needed = true},
    {F("self_ps", REP_COUNT, vp_op, self_ps), .needed = true},
    {F("threads", REP_COUNT, vp_op, threads)},
    {MADE("mean_ps", put_mean)},
    {F("min_ps", REP_COUNT, vp_op, min_ps), .needed = true},
    {F("p50_ps", REP_COUNT, vp_op, p50_ps), .needed = true},
    {F("p95_ps", REP_COUNT, vp_op, p95_ps), .needed = true},
    {F("max_ps", REP_COUNT, vp_op, max_ps), .needed = true},
    {F("stddev_ps", REP_ROUNDED, vp_op, stddev_ps)},
    {MADE("self_share_of_ops", put_share_of_ops)},
    {MADE("self_share_of_window", put_share_of_window)},
    {MADE("cumulative_share", put_cumulative)},
    {MADE("per_step_ps", put_per_step), .full = true},
    {F("bytes", REP_COUNT, vp_op, bytes)},
    {F("flops", REP_COUNT, vp_op, flops), .unsummed = true},
    {MADE("gb_per_s", put_gb_per_s)},
    {MADE("gflop_per_s", put_gflop_per_s)},
    {F("scope", REP_TEXT, vp_op, scope)},
    {F("source", REP_TEXT, vp_op, source)},
    {F("module", REP_TEXT, vp_op, module)},
    {F("raw_names", REP_COUNT, vp_op, raw_names), .needed = true},
    {F("scopes", REP_COUNT, vp_op, scopes)},
    {F("sources", REP_COUNT, vp_op, sources)},
    {F("launch", REP_OBJECT, vp_op, launch), .size = sizeof(vp_kernel_launch),
     .fields = kernel_launch_fields},
    {.key = "slowest", .type = REP_OBJECT, .fields = slowest_fields},
    {F("step_self_ps", REP_COUNT, vp_op, step_self_ps), .full = true},
    {F("step_calls", REP_COUNT, vp_op, step_calls), .full = true},
    {F("idle_before_ps", REP_COUNT, vp_op, idle_before_ps), .needed = true, .full = true},
    {ARRAY("per_step_points_ps", REP_COUNTS, vp_op, per_step_ps, per_step_count), .full = true},
    {F("roof", REP_OBJECT, vp_op, roof), .fields = rep_roof_fields, .full = true},
    {LIST("splits", vp_op, splits, split_count, vp_split, split_fields), .full = true},
    {0},
};

const rep_field rep_head_fields[] = {
    {.key = "session", .type = REP_OBJECT, .fields = session_fields},
    {.key = "window", .type = REP_OBJECT, .fields = window_fields},
    {.key = "analysis", .type = REP_OBJECT, .fields = analysis_fields},
    {0},
};

const rep_field rep_devices_fields[] = {
    {LIST("devices", vp_report, devices, device_count, vp_device, rep_device_fields)},
    {0},
};

const rep_field rep_ops_fields[] = {
    {LIST("ops", vp_report, ops, op_count, vp_op, rep_op_fields)},
    {0},
};
