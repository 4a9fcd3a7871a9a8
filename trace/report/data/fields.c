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

/* ---- Run and window ---- */

static const rep_field file_fields[] = {
    {F("path", REP_TEXT, vp_report_file, path), .needed = true,
     .about = "Path of the file below the path of the run."},
    {F("kind", REP_TEXT, vp_report_file, kind),
     .about = "Format of the file, such as `xplane` or `kineto`."},
    {F("bytes", REP_COUNT, vp_report_file, bytes), .about = "Size of the file as stored."},
    {F("events", REP_COUNT, vp_report_file, events),
     .about = "Events that were read from the file."},
    {F("partial", REP_BOOL, vp_report_file, partial),
     .about = "True if the file was cut off, limited or damaged, so that events are missing."},
    {END("file", "A file that the report was made from.")},
};

static const rep_field session_fields[] = {
    {F("id", REP_TEXT, vp_report, session_id),
     .about = "Identifier of the run, which commands and URLs accept."},
    {F("name", REP_TEXT, vp_report, session_name), .about = "Name of the run, as lists show it."},
    {F("path", REP_TEXT, vp_report, session_path),
     .about = "Path of the run below the path that was opened."},
    {F("kind", REP_TEXT, vp_report, session_kind),
     .about = "Producer of the profile, such as `xla` or `pytorch`."},
    {F("captured_unix_ns", REP_COUNT, vp_report, captured_unix_ns), .unsummed = true,
     .about =
         "Time of the capture since 1970, from the name, else the profile, else the newest file."},
    {F("base_unix_ns", REP_COUNT, vp_report, base_unix_ns), .unsummed = true,
     .about = "Time since 1970 to which all times of the report are relative."},
    {ARRAY("hosts", REP_TEXTS, vp_report, hosts, host_count),
     .about = "Names of the hosts in the profile."},
    {LIST("files", vp_report, files, file_count, vp_report_file, file_fields),
     .about = "Files that were read."},
    {END("session", "The run that the report is about.")},
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

const char *const rep_policy_words[] = {"steps", "asked", "device", "capture", NULL};
const char *const rep_clock_words[] = {"device", "aligned", NULL};

static const rep_field window_fields[] = {
    {MADE("policy", REP_WORD, put_policy), .words = rep_policy_words,
     .about = "How the window was chosen."},
    {MADE("clock", REP_WORD, json_put_clock_kind), .words = rep_clock_words,
     .about = "Clock of the window: `device` if any device window is on its own clock."},
    {F("start_ps", REP_TIME, vp_report, start_ps),
     .about = "Start of the first op of any device; of the first event if there is no device."},
    {F("end_ps", REP_TIME, vp_report, end_ps),
     .about = "End of the last op of any device; of the last event if there is no device."},
    {F("capture_ps", REP_COUNT, vp_report, capture_ps),
     .about = "Length of the capture, from the first to the last event of any kind."},
    {F("step", REP_COUNT, vp_report, step), .unsummed = true, .unit = "",
     .null = "the report is not of one step",
     .about = "Number of the step if the report covers a single step."},
    {END("window", "The time that the report covers.")},
};

static void json_put_where_kind(rep_json_out *o, const void *base)
{
    (void)base;
    vp_json_cstr(&o->j, o->r->has_devices ? "device" : "host");
}

static const rep_field analysis_fields[] = {
    {F("group", REP_WORD, vp_report, group), .words = rep_group_words,
     .about = "How events are grouped into the rows of `ops`."},
    {F("depth", REP_WORD, vp_report, depth), .words = rep_depth_words,
     .about = "How much of the profile was analyzed: `full`, or `ops` for the op tables alone."},
    {F("events", REP_COUNT, vp_report, events), .needed = true,
     .about = "Events of every kind in all files that were read."},
    {F("has_devices", REP_BOOL, vp_report, has_devices),
     .about = "False if the profile has no device; `ops` are then events of host threads."},
    {F("own_clock", REP_BOOL, vp_report, own_clock),
     .about = "True if any device window is on the device's own clock."},
    {F("partial", REP_BOOL, vp_report, partial),
     .about = "True if a file was cut off, limited or damaged, so that figures are incomplete."},
    {MADE("where", REP_WORD, json_put_where_kind), .words = rep_where_words,
     .about = "What `ops` describes: device ops, or the work of host threads."},
    {END("analysis", "How the report was made.")},
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
    {F("start_ps", REP_TIME, vp_device, start_ps), .about = "Start of the first op of the device."},
    {F("end_ps", REP_TIME, vp_device, end_ps), .about = "End of the last op of the device."},
    {END("device_window", "The window of a device.")},
};

const rep_field rep_breakdown_fields[] = {
    {F("window_ps", REP_COUNT, vp_breakdown, window_ps), .needed = true,
     .about = "Length of the window."},
    {F("compute_ps", REP_COUNT, vp_breakdown, compute_ps), .needed = true,
     .about = "Time in which at least one compute op runs."},
    {F("exposed_comm_ps", REP_COUNT, vp_breakdown, exposed_comm_ps), .needed = true,
     .about = "Time in communication while no compute op runs."},
    {F("exposed_copy_ps", REP_COUNT, vp_breakdown, exposed_copy_ps), .needed = true,
     .about = "Time in copies while neither compute nor communication runs."},
    {F("idle_ps", REP_COUNT, vp_breakdown, idle_ps), .needed = true,
     .about = "Time in which no op runs."},
    {F("busy_ps", REP_COUNT, vp_breakdown, busy_ps), .needed = true,
     .about = "Time in which at least one op runs."},
    {F("comm_ps", REP_COUNT, vp_breakdown, comm_ps), .needed = true,
     .about = "Time in which at least one communication op runs."},
    {F("copy_ps", REP_COUNT, vp_breakdown, copy_ps), .needed = true,
     .about = "Time in which at least one copy runs."},
    {F("overlap_comm_ps", REP_COUNT, vp_breakdown, overlap_comm_ps), .needed = true,
     .about = "Time in which communication and compute run together."},
    {END("breakdown", "A window divided into compute, exposed communication, exposed copies and "
                      "idle time; these four add up to `window_ps`.")},
};

static const rep_field avoidable_fields[] = {
    {F("known_ps", REP_COUNT, vp_avoidable, known_ps), .needed = true,
     .about = "Self time of instructions that were found in their HLO programs."},
    {F("float64_ps", REP_COUNT, vp_avoidable, float64_ps), .needed = true,
     .about = "Self time in double precision."},
    {F("fused_layout_ps", REP_COUNT, vp_avoidable, fused_layout_ps), .needed = true,
     .about = "Self time of fusions that transpose or copy into another layout."},
    {F("plain_copy_ps", REP_COUNT, vp_avoidable, plain_copy_ps), .needed = true,
     .about = "Self time of copies that keep the layout."},
    {F("argument_copy_ps", REP_COUNT, vp_avoidable, argument_copy_ps), .needed = true,
     .about = "Part of `plain_copy_ps` that copies arguments that are not donated."},
    {F("elementwise_ps", REP_COUNT, vp_avoidable, elementwise_ps), .needed = true,
     .about = "Self time of element-wise work without transcendental functions."},
    {F("callback_input_ps", REP_COUNT, vp_avoidable, callback_input_ps), .later = true,
     .about = "Self time of instructions whose results only callbacks read."},
    {F("copy_slowed_ps", REP_COUNT, vp_avoidable, copy_slowed_ps), .later = true,
     .about = "What the op of a CPU takes longer while arguments are copied."},
    {F("lookup_ps", REP_COUNT, vp_avoidable, lookup_ps), .later = true,
     .about = "Self time of matmuls with a one-hot operand, and of what makes that operand."},
    {F("update_ps", REP_COUNT, vp_avoidable, update_ps), .later = true,
     .about = "Self time of work on whole tables for gradients of few of their rows."},
    {F("recomputed_ps", REP_COUNT, vp_avoidable, recomputed_ps), .later = true,
     .about = "Self time of the forward pass that `jax.checkpoint` computes again."},
    {F("repeated_ps", REP_COUNT, vp_avoidable, repeated_ps), .later = true,
     .about = "Self time of loops whose matmuls another loop of the program computes as well."},
    {F("unrolled_ps", REP_COUNT, vp_avoidable, unrolled_ps), .later = true,
     .about = "Self time that one batched op saves in place of small ops of equal shape."},
    {END("avoidable", "Self time of an op that its HLO program shows to be avoidable. One op may "
                      "count in several fields.")},
};

static const rep_field hygiene_fields[] = {
    {F("formatting_ps", REP_COUNT, vp_hygiene, formatting_ps), .needed = true,
     .about = "Transposes, copies, reshapes and bitcast-converts."},
    {F("remat_ps", REP_COUNT, vp_hygiene, remat_ps), .needed = true,
     .about = "Rematerialized work, which computes discarded values again."},
    {F("async_done_ps", REP_COUNT, vp_hygiene, async_done_ps), .needed = true,
     .about = "Waits in `-done` ops of asynchronous pairs."},
    {F("padding_ps", REP_COUNT, vp_hygiene, padding_ps), .needed = true,
     .about = "Ops of category `pad`."},
    {F("infeed_ps", REP_COUNT, vp_hygiene, infeed_ps), .needed = true,
     .about = "Infeed and outfeed ops."},
    {F("callback_ps", REP_COUNT, vp_hygiene, callback_ps), .needed = true,
     .about = "Host callbacks that appear as ops."},
    {F("copy_slowed_ps", REP_COUNT, vp_hygiene, copy_slowed_ps), .later = true,
     .about = "Time that ops of a CPU take longer while the host copies."},
    {F("callback_held_ps", REP_COUNT, vp_hygiene, callback_held_ps), .later = true,
     .about = "Gaps after programs with callbacks, which the launching thread waits for."},
    {F("callback_events", REP_COUNT, vp_hygiene, callback_events), .later = true,
     .about = "Events of the launching thread in these gaps and in callbacks."},
    {F("duplicate_ps", REP_COUNT, vp_hygiene, duplicate_ps), .needed = true,
     .about = "Ops that share the code of an identical op."},
    {F("duplicate_ops", REP_COUNT, vp_hygiene, duplicate_ops), .needed = true,
     .about = "Number of ops that share the code of an identical op."},
    {F("chain_ps", REP_COUNT, vp_hygiene, chain_ps), .needed = true,
     .about = "Chains of at least five ops shorter than 5 µs, with gaps shorter than 5 µs."},
    {F("chains", REP_COUNT, vp_hygiene, chains), .needed = true, .about = "Number of such chains."},
    {END("hygiene",
         "Self time of work that a program can often avoid. One op may count in several fields.")},
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
    {MADE("mfu", REP_NUMBER, put_mfu), .unit = "share", .null = "the peak is unknown",
     .about = "Model FLOP utilization: time of the FLOP at peak rate, divided by the window."},
    {MADE("hfu", REP_NUMBER, put_hfu), .unit = "share", .null = "the peak is unknown",
     .about = "Hardware FLOP utilization: like `mfu`, including rematerialized work."},
    {F("chip", REP_TEXT, vp_device, mfu.chip), .null = "no row matches",
     .about = "Row of the table of chips that matches the device."},
    {F("peak_source", REP_WORD, vp_device, mfu.peak_source), .words = rep_peak_words,
     .about = "Origin of the peak FLOP rate."},
    {F("bandwidth_source", REP_WORD, vp_device, mfu.bandwidth_source), .words = rep_peak_words,
     .about = "Origin of the memory bandwidth."},
    {F("uncertain", REP_BOOL, vp_device, mfu.uncertain),
     .about = "True if the match with the table of chips is uncertain."},
    {F("dtype", REP_WORD, vp_device, mfu.dtype), .words = result_dtype_words,
     .about = "Data type of most of the FLOP."},
    {F("peak_gflops", REP_COUNT, vp_device, mfu.peak_gflops), .unsummed = true,
     .about = "Dense peak rate for `dtype`."},
    {F("bandwidth_mb_s", REP_COUNT, vp_device, mfu.bandwidth_mb_s), .unsummed = true,
     .about = "Peak bandwidth of the main memory."},
    {F("flops", REP_COUNT, vp_device, mfu.flops), .unsummed = true,
     .about = "FLOP of matmuls and convolutions, without rematerialized work."},
    {F("recompute_flops", REP_COUNT, vp_device, mfu.recompute_flops), .unsummed = true,
     .about = "FLOP of rematerialized matmuls and convolutions, which `flops` excludes."},
    {F("peak_ps", REP_COUNT, vp_device, mfu.peak_ps), .needed = true, .unsummed = true,
     .about = "Time that `flops` takes at the peak rates of their types."},
    {F("recompute_peak_ps", REP_COUNT, vp_device, mfu.recompute_peak_ps), .needed = true,
     .unsummed = true,
     .about = "Time that `recompute_flops` takes at the peak rates of their types."},
    {F("above_ops", REP_COUNT, vp_device, mfu.above_ops), .needed = true,
     .about = "Executions that were faster than the peak rate allows, which points to a wrong cost "
              "or peak."},
    {F("above_ps", REP_COUNT, vp_device, mfu.above_ps), .needed = true, .unsummed = true,
     .about = "Time by which these executions were faster."},
    {F("cells", REP_BY_WORD, vp_device, mfu.cell_ps), .words = result_cell_words,
     .about = "Compute time divided by use; adds up to `compute_ps` of the breakdown."},
    {F("formatting_ps", REP_COUNT, vp_device, mfu.formatting_ps), .needed = true,
     .about = "Part of `nm_memory` and `nm_excess` in transposes, copies and reshapes."},
    {F("asked_flops", REP_COUNT, vp_device, mfu.asked_flops), .unsummed = true,
     .null = "the options are not given",
     .about = "FLOP of this device by 6 × parameters × tokens, from `--params` and `--tokens`."},
    {F("asked_window_ps", REP_COUNT, vp_device, mfu.asked_window_ps),
     .null = "the options are not given",
     .about = "Time that `asked_flops` is compared with: a mean step, else the window."},
    {END("mfu", "How much of the hardware's peak a device used.")},
};

const rep_field rep_device_fields[] = {
    {F("name", REP_TEXT, vp_device, name), .needed = true,
     .about = "Name of the device in the profile. Names may repeat across hosts."},
    {F("host", REP_TEXT, vp_device, host), .about = "Host of the device."},
    {F("kind", REP_WORD, vp_device, kind), .words = rep_kind_words, .about = "Kind of the device."},
    {F("events", REP_COUNT, vp_device, events), .needed = true,
     .about = "Op events of the device."},
    {.key = "window",
     .type = REP_OBJECT,
     .fields = device_window_fields,
     .about = "Time from the first to the last op."},
    {F("breakdown", REP_OBJECT, vp_device, breakdown), .fields = rep_breakdown_fields,
     .about = "The window divided by what the device did."},
    {F("own_clock", REP_BOOL, vp_device, own_clock),
     .about = "True if the window is on the device's own clock, false if it is on the host's."},
    {F("model", REP_TEXT, vp_device, model),
     .about = "Model of the hardware, such as `TPU v6 Lite`."},
    {F("timeline_ns", REP_INTEGER, vp_device, timeline_ns), .unit = "ns",
     .about = "Offset that converts times of the report to those of its host's file."},
    {F("self_ps", REP_COUNT, vp_device, self_ps), .needed = true,
     .about = "Sum of the self times of its ops; the denominator of `self_share_of_ops`."},
    {F("idle_causes", REP_BY_WORD, vp_device, cause_ps), .words = result_cause_words, .full = true,
     .about = "Idle time by cause; adds up to `idle_ps` of the breakdown."},
    {F("memory_bytes", REP_COUNT, vp_device, memory_bytes), .full = true,
     .about = "Size of the main memory, from the profile, else from the table of chips."},
    {F("gap_count", REP_COUNT, vp_device, gap_count), .needed = true, .full = true,
     .about = "Number of idle gaps. The list `gaps` contains the longest of them."},
    {F("steps_counted", REP_COUNT, vp_device, steps_counted), .full = true,
     .about = "Steps that `step_self_ps` of its ops covers."},
    {F("barriers", REP_COUNT, vp_device, barriers), .full = true,
     .about = "Waits for other cores (`barrier-cores`, TPU)."},
    {F("barrier_ps", REP_COUNT, vp_device, barrier_ps), .full = true,
     .about = "Total time of these waits."},
    {F("exposed_wait_ps", REP_COUNT, vp_device, exposed_wait_ps), .full = true,
     .null = "no call is matched",
     .about = "Part of the exposed communication before the last participant arrived, over matched "
              "calls."},
    {F("hygiene", REP_OBJECT, vp_device, hygiene), .fields = hygiene_fields, .full = true,
     .about = "Work that the program can often avoid."},
    {.key = "mfu",
     .type = REP_OBJECT,
     .fields = mfu_fields,
     .full = true,
     .about = "Use of the hardware's peak."},
    {END("device", "A device; in a profile without devices, a process with its threads.")},
};

static const rep_field launch_fields[] = {
    {F("calls", REP_COUNT, vp_device, launch.calls), .about = "Launch calls on the host."},
    {F("linked_ops", REP_COUNT, vp_device, launch.linked_ops),
     .about = "Op events with a launch call."},
    {F("unlinked_ops", REP_COUNT, vp_device, launch.unlinked_ops),
     .about = "Op events without a launch call."},
    {F("kernels", REP_COUNT, vp_device, launch.kernels), .about = "Compute kernels."},
    {F("kernel_p50_ps", REP_COUNT, vp_device, launch.kernel_p50_ps),
     .about = "Median duration of a compute kernel."},
    {F("short_kernels", REP_COUNT, vp_device, launch.short_kernels),
     .about = "Kernels shorter than 10 µs."},
    {F("short_ps", REP_COUNT, vp_device, launch.short_ps),
     .about = "Total duration of these kernels."},
    {F("call_p50_ps", REP_COUNT, vp_device, launch.call_p50_ps),
     .about = "Median duration of a launch call."},
    {F("call_p95_ps", REP_COUNT, vp_device, launch.call_p95_ps),
     .about = "95th percentile of the duration of a launch call."},
    {F("delay_p50_ps", REP_COUNT, vp_device, launch.delay_p50_ps),
     .about = "Median time from the end of a launch call to the start of the op."},
    {F("delay_p95_ps", REP_COUNT, vp_device, launch.delay_p95_ps),
     .about = "95th percentile of that time."},
    {F("late_launches", REP_COUNT, vp_device, launch.late_launches),
     .about = "Ops that started more than 100 µs after their launch call ended."},
    {F("queue_max", REP_COUNT, vp_device, launch.queue_max),
     .about = "Largest number of ops that were launched and not started."},
    {F("queue_mean_milli", REP_COUNT, vp_device, launch.queue_mean_milli),
     .about = "Mean number of ops in the queue at a launch, times 1000."},
    {F("graph_launches", REP_COUNT, vp_device, launch.graph_launches),
     .about = "Calls that launch a recorded graph."},
    {F("starved_call_ps", REP_COUNT, vp_device, launch.starved_call_ps),
     .about = "Idle time in gaps below 1 ms while the only pending launch call had not returned."},
    {F("starved_latency_ps", REP_COUNT, vp_device, launch.starved_latency_ps),
     .about = "Idle time in gaps below 1 ms between the end of the only pending launch call and "
              "its op."},
    {END("launch", "How kernels of one device were launched. Known if the platform correlates "
                   "launches with kernels.")},
};

const rep_field rep_launch_fields[] = {
    {.key = "devices",
     .type = REP_BY_DEVICE,
     .fields = launch_fields,
     .about = "One entry per device."},
    {END("launches", "Kernel launches.")},
};

/* ---- Deltas of a comparison ---- */

const rep_field rep_delta_fields[] = {
    {F("a_ps", REP_COUNT, vp_delta, a_ps), .null = "only B has it", .about = "Time in A."},
    {F("b_ps", REP_COUNT, vp_delta, b_ps), .null = "only A has it", .about = "Time in B."},
    {F("delta_ps", REP_TIME, vp_delta, delta_ps), .null = "only one side is known",
     .about = "`b_ps` minus `a_ps`."},
    {END("delta", "A time in both runs. Unknown sides are null.")},
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
    {F("start_ps", REP_TIME, vp_op, slowest_start_ps), .about = "Start of the call."},
    {F("dur_ps", REP_COUNT, vp_op, slowest_dur_ps), .about = "Duration of the call."},
    {END("slowest", "The slowest call of an op.")},
};

static const rep_field split_fields[] = {
    {F("label", REP_TEXT, vp_split, label),
     .about = "What the members have in common: the shape, else the scope, else the source."},
    {F("scope", REP_TEXT, vp_split, scope), .about = "Scope of the members."},
    {F("source", REP_TEXT, vp_split, source), .about = "Source line of the members."},
    {F("calls", REP_COUNT, vp_split, calls), .needed = true, .about = "Number of calls."},
    {F("self_ps", REP_COUNT, vp_split, self_ps), .needed = true,
     .about = "Self time of the calls."},
    {F("max_ps", REP_COUNT, vp_split, max_ps), .needed = true,
     .about = "Duration of the longest call."},
    {F("stddev_ps", REP_ROUNDED, vp_split, stddev_ps),
     .about = "Population standard deviation of the durations."},
    {F("by", REP_WORD, vp_split, by), .words = rep_split_words,
     .about = "What distinguishes the parts of the group."},
    {END("split", "A part of a group of ops that have one shape, layout, scope or source.")},
};

static void put_intensity(rep_json_out *o, const void *roof)
{
    vp_json_double(&o->j, rep_intensity(roof));
}

static void put_bound(rep_json_out *o, const void *roof)
{
    vp_json_cstr(&o->j, rep_bound(roof));
}

const char *const rep_bound_words[] = {"compute", "memory", NULL};

static void put_of_bound(rep_json_out *o, const void *roof)
{
    vp_json_double(&o->j, rep_of_bound(roof));
}

const rep_field rep_roof_fields[] = {
    {F("flops", REP_COUNT, vp_roof, flops), .unsummed = true,
     .about = "FLOP of matmuls and convolutions."},
    {F("bytes", REP_COUNT, vp_roof, bytes), .unsummed = true,
     .about = "Bytes that the ops read from and write to main memory."},
    {F("peak_ps", REP_COUNT, vp_roof, peak_ps), .needed = true, .unsummed = true,
     .about = "Time that the FLOP takes at the peak rates of their types."},
    {F("memory_ps", REP_COUNT, vp_roof, memory_ps), .needed = true, .unsummed = true,
     .about = "Time that the bytes take at the full bandwidth."},
    {F("cells", REP_BY_WORD, vp_roof, cell_ps), .words = result_cell_words,
     .about = "Compute time of the ops divided by use."},
    {F("source", REP_WORD, vp_roof, source), .words = rep_cost_words,
     .about = "Origin of the cost; if there are several, the last in the list of words."},
    {MADE("flop_per_byte", REP_NUMBER, put_intensity), .about = "Arithmetic intensity."},
    {MADE("bound", REP_WORD, put_bound), .words = rep_bound_words, .null = "unknown",
     .about = "Resource that limits the ops in the roofline."},
    {MADE("of_bound", REP_NUMBER, put_of_bound), .unit = "share",
     .about = "Time at the bound divided by the time that the ops took."},
    {END("roof", "Cost of ops compared with the device's peaks, summed over all executions.")},
};

static const rep_field kernel_launch_fields[] = {
    {F("grid", REP_TEXT, vp_kernel_launch, grid),
     .about = "Blocks of the launch, such as `3,1,1`."},
    {F("block", REP_TEXT, vp_kernel_launch, block), .about = "Threads of a block."},
    {F("registers", REP_COUNT, vp_kernel_launch, registers), .unsummed = true,
     .about = "Registers per thread."},
    {F("shared_bytes", REP_COUNT, vp_kernel_launch, shared_bytes), .unsummed = true,
     .about = "Shared memory per block."},
    {F("occupancy", REP_TEXT, vp_kernel_launch, occupancy), .unit = "%",
     .about = "Theoretical or estimated occupancy."},
    {F("tensor_cores", REP_TEXT, vp_kernel_launch, tensor_cores),
     .null = "the name does not show it",
     .about = "Part of the kernel's name that shows use of tensor or matrix cores."},
    {END("kernel_launch", "Launch configuration of a kernel; values as the profile writes them.")},
};

const rep_field rep_op_fields[] = {
    {F("device", REP_DEVICE, vp_op, device), .needed = true, .about = "Name of the device."},
    {F("class", REP_WORD, vp_op, op_class), .words = rep_class_words,
     .about = "Class of the work."},
    {F("category", REP_TEXT, vp_op, category), .null = "the profile has no category",
     .about = "Category in the profile, such as `convolution fusion` or `kernel`."},
    {F("name", REP_TEXT, vp_op, name), .needed = true, .null = "empty",
     .about = "Name of the group."},
    {F("calls", REP_COUNT, vp_op, calls), .needed = true, .about = "Number of calls."},
    {F("total_ps", REP_COUNT, vp_op, total_ps), .needed = true,
     .about = "Sum of the durations; calls inside other calls of the group do not count."},
    {F("inner_ps", REP_COUNT, vp_op, inner_ps), .needed = true,
     .about = "Sum of the durations of calls inside other calls of the group, which `total_ps` "
              "excludes."},
    {F("inner_calls", REP_COUNT, vp_op, inner_calls), .needed = true,
     .about = "Number of calls inside other calls of the group."},
    {F("self_ps", REP_COUNT, vp_op, self_ps), .needed = true,
     .about = "Self time: duration without the time of ops that run inside."},
    {F("threads", REP_COUNT, vp_op, threads), .null = "the op ran on a device",
     .about = "Threads that ran the op; 0 for asynchronous work."},
    {MADE("mean_ps", REP_COUNT, put_mean), .null = "no calls",
     .about = "Mean duration of an outermost call."},
    {F("min_ps", REP_COUNT, vp_op, min_ps), .needed = true,
     .about = "Duration of the shortest call."},
    {F("p50_ps", REP_COUNT, vp_op, p50_ps), .needed = true, .about = "Median duration of a call."},
    {F("p95_ps", REP_COUNT, vp_op, p95_ps), .needed = true,
     .about = "95th percentile of the duration of a call."},
    {F("max_ps", REP_COUNT, vp_op, max_ps), .needed = true,
     .about = "Duration of the longest call."},
    {F("stddev_ps", REP_ROUNDED, vp_op, stddev_ps),
     .about = "Population standard deviation of the durations."},
    {MADE("self_share_of_ops", REP_NUMBER, put_share_of_ops), .unit = "share",
     .about = "Self time as a share of the device's op time (`self_ps` of the device)."},
    {MADE("self_share_of_window", REP_NUMBER, put_share_of_window), .unit = "share",
     .null = "parallel tracks add up to more than the window",
     .about = "Self time as a share of the device's window."},
    {MADE("cumulative_share", REP_NUMBER, put_cumulative), .unit = "share",
     .about = "Share of the device's op time of this row and the rows of the device before it."},
    {MADE("per_step_ps", REP_COUNT, put_per_step), .full = true, .null = "no steps",
     .about = "Mean self time per step."},
    {F("bytes", REP_COUNT, vp_op, bytes), .about = "Bytes accessed, summed over calls."},
    {F("flops", REP_COUNT, vp_op, flops), .unsummed = true, .about = "FLOP, summed over calls."},
    {MADE("gb_per_s", REP_NUMBER, put_gb_per_s), .about = "Bytes divided by time."},
    {MADE("gflop_per_s", REP_NUMBER, put_gflop_per_s), .about = "FLOP divided by time."},
    {F("scope", REP_TEXT, vp_op, scope), .null = "the profile has no scope",
     .about = "Scope with the most self time in the group."},
    {F("source", REP_TEXT, vp_op, source), .null = "the profile has no source line",
     .about = "Source line with the most self time in that scope."},
    {F("module", REP_TEXT, vp_op, module), .null = "the profile has no module",
     .about = "Module with the most self time in that scope."},
    {F("operator", REP_TEXT, vp_op, operator_name), .null = "no operator was found",
     .about = "Framework operator that launched most of the self time of the group, such as "
              "`aten::mm`."},
    {F("outermost_operator", REP_TEXT, vp_op, outermost_name),
     .null = "no launch call within an operator was found",
     .about = "Operator that the program called, which in turn called `operator`."},
    {F("operators", REP_COUNT, vp_op, operators), .null = "an older report",
     .about = "Distinct operators of the group, `operator` included."},
    {F("raw_names", REP_COUNT, vp_op, raw_names), .needed = true,
     .about = "Distinct names in the group."},
    {F("scopes", REP_COUNT, vp_op, scopes), .null = "launches were not read",
     .about = "Distinct scopes in the group."},
    {F("sources", REP_COUNT, vp_op, sources), .null = "launches were not read",
     .about = "Distinct source lines in the group."},
    {F("launch", REP_OBJECT, vp_op, launch), .size = sizeof(vp_kernel_launch),
     .fields = kernel_launch_fields, .null = "other groups, or not a kernel",
     .about = "Launch configuration, if the rows are grouped by raw name."},
    {.key = "slowest", .type = REP_OBJECT, .fields = slowest_fields, .about = "The slowest call."},
    {F("step_self_ps", REP_COUNT, vp_op, step_self_ps), .full = true, .null = "no steps",
     .about = "Self time inside the steps that count."},
    {F("step_calls", REP_COUNT, vp_op, step_calls), .full = true, .null = "no steps",
     .about = "Calls that start inside the steps that count."},
    {F("idle_before_ps", REP_COUNT, vp_op, idle_before_ps), .needed = true, .full = true,
     .about = "Device idle time that ends at the start of a call of this group."},
    {ARRAY("per_step_points_ps", REP_COUNTS, vp_op, per_step_ps, per_step_count), .full = true,
     .about = "Mean self time per step over runs of consecutive steps; at most 100 points, empty "
              "for small groups."},
    {F("caller", REP_TEXT, vp_op, caller), .null = "unknown", .later = true, .full = true,
     .about = "Function of the program that calls it, with its file and line. Of a device op, the "
              "function of `source`."},
    {F("avoidable", REP_OBJECT, vp_op, avoidable), .fields = avoidable_fields, .full = true,
     .later = true, .about = "Work that the HLO program shows to be avoidable."},
    {F("roof", REP_OBJECT, vp_op, roof), .fields = rep_roof_fields, .full = true,
     .about = "Cost compared with the device's peaks."},
    {LIST("splits", vp_op, splits, split_count, vp_split, split_fields), .full = true,
     .about = "Largest parts of a group with at least 5% of the op time; at most 8."},
    {END("op",
         "A group of events of one device. The option `--group` sets how events are grouped.")},
};

const rep_field rep_head_fields[] = {
    {.key = "session",
     .type = REP_OBJECT,
     .fields = session_fields,
     .about = "The run that the report is about."},
    {.key = "window",
     .type = REP_OBJECT,
     .fields = window_fields,
     .about = "The time that the report covers."},
    {.key = "analysis",
     .type = REP_OBJECT,
     .fields = analysis_fields,
     .about = "How the report was made."},
    {0},
};

const rep_field rep_devices_fields[] = {
    {LIST("devices", vp_report, devices, device_count, vp_device, rep_device_fields),
     .about = "Devices of the report."},
    {0},
};

const rep_field rep_ops_fields[] = {
    {LIST("ops", vp_report, ops, op_count, vp_op, rep_op_fields),
     .about = "Ops by self time, largest first."},
    {0},
};
