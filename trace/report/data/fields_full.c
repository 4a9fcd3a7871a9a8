/* The structs of a full report as JSON, field by field. */
#include "trace/report/data/field_macros.h"

#include <math.h>

#include "trace/analyze/result/result_words.h"
#include "trace/report/labels/mfu_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

#define SAMPLES_MAX 256u /* durations of a module's runs: order statistics at even distances */

/* ---- Scopes and modules ---- */

const rep_field rep_scope_fields[] = {
    {F("path", REP_TEXT, vp_scope, path), .needed = true, .null = "empty",
     .about = "Whole path of the scope."},
    {F("name", REP_TEXT, vp_scope, name), .needed = true, .null = "empty",
     .about = "Last component of the path."},
    {F("self_ps", REP_COUNT, vp_scope, self_ps), .needed = true,
     .about = "Self time of ops exactly in this scope."},
    {F("total_ps", REP_COUNT, vp_scope, total_ps), .needed = true,
     .about = "Self time of ops in the whole subtree."},
    {F("calls", REP_COUNT, vp_scope, calls), .needed = true,
     .about = "Calls of ops in the whole subtree."},
    {F("bytes", REP_COUNT, vp_scope, bytes), .about = "Bytes accessed in the whole subtree."},
    {F("flops", REP_COUNT, vp_scope, flops), .unsummed = true,
     .about = "FLOP in the whole subtree."},
    {F("source", REP_TEXT, vp_scope, source),
     .about = "Source line of the op with the most self time in the subtree."},
    {F("idle_before_ps", REP_COUNT, vp_scope, idle_before_ps), .needed = true, .full = true,
     .about = "Device idle time that ends at the start of an op of the subtree."},
    {F("backward_ps", REP_COUNT, vp_scope, backward_ps), .needed = true,
     .about = "Part of `total_ps` in the backward pass."},
    {F("remat_ps", REP_COUNT, vp_scope, remat_ps), .needed = true,
     .about = "Part of `total_ps` in rematerialized work."},
    {F("roof", REP_OBJECT, vp_scope, roof), .fields = rep_roof_fields, .full = true,
     .about = "Cost of the subtree compared with the device's peaks."},
    {.key = "children",
     .type = REP_CHILDREN,
     .fields = rep_scope_fields,
     .about = "Scopes directly below this one."},
    {END("scope", "A node of the tree of scopes: the framework paths of the ops, such as "
                  "`jit(step)/layer_3`.")},
};

const rep_field rep_scopes_fields[] = {
    {LIST("scopes", vp_report, scopes, scope_count, vp_scope, rep_scope_fields),
     .about = "Roots of the tree of scopes."},
    {0},
};

static const rep_field folded_fields[] = {
    {F("path", REP_TEXT, vp_folded_scope, path), .needed = true, .null = "empty",
     .about = "Path without wrappers of transformations such as `jvp`, `transpose` and "
              "rematerialization."},
    {F("forward_ps", REP_COUNT, vp_folded_scope, forward_ps), .needed = true,
     .about = "Self time in the forward pass."},
    {F("backward_ps", REP_COUNT, vp_folded_scope, backward_ps), .needed = true,
     .about = "Self time in the backward pass."},
    {F("remat_ps", REP_COUNT, vp_folded_scope, remat_ps), .needed = true,
     .about = "Self time of rematerialized work."},
    {F("calls", REP_COUNT, vp_folded_scope, calls), .needed = true, .about = "Calls of the ops."},
    {END("folded_scope", "A scope of the forward pass with all work that belongs to it.")},
};

static void put_samples(rep_json_out *o, const void *base)
{
    const vp_module *m = base;
    size_t n = m->sample_count < SAMPLES_MAX ? m->sample_count : SAMPLES_MAX;
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < n; i++) /* the first is the minimum, the last the maximum */
        vp_json_i64(&o->j, m->sample_ps[n < 2 ? i : i * (m->sample_count - 1) / (n - 1)]);
    vp_json_end_array(&o->j);
}

static const rep_field module_fields[] = {
    {F("name", REP_TEXT, vp_module, name), .needed = true, .null = "empty",
     .about = "Name of the module."},
    {F("program_id", REP_ID, vp_module, program_id),
     .about = "XLA's identifier of the program, an unsigned 64-bit integer."},
    {F("runs", REP_COUNT, vp_module, runs), .null = "the profile has no track of modules",
     .about = "Executions of the module."},
    {F("total_ps", REP_COUNT, vp_module, total_ps), .needed = true,
     .about = "Total duration of the executions; without a track of modules, self time of the "
              "module's ops."},
    {F("p50_ps", REP_COUNT, vp_module, p50_ps), .null = "the profile has no track of modules",
     .about = "Median duration of an execution."},
    {ARRAY("samples_ps", REP_COUNTS, vp_module, sample_ps, sample_count), .put = put_samples,
     .about = "Durations of executions in ascending order; order statistics if there are more than "
              "256."},
    {F("repeat_steps", REP_COUNT, vp_module, repeat_steps), .full = true,
     .about = "Steps that count in which the module ran at least three times."},
    {F("repeat_runs", REP_COUNT, vp_module, repeat_runs), .full = true,
     .about = "Executions in those steps."},
    {F("repeat_ps", REP_COUNT, vp_module, repeat_ps), .full = true,
     .about = "Total duration of these executions."},
    {F("in_steps", REP_COUNT, vp_module, in_steps), .full = true, .later = true,
     .null = "the steps in which it ran are unknown",
     .about = "Steps that count in which the module ran."},
    {F("in_steps_ps", REP_COUNT, vp_module, in_steps_ps), .full = true, .later = true,
     .null = "the steps in which it ran are unknown",
     .about = "Total duration of its executions in those steps."},
    {F("ops", REP_COUNT, vp_module, ops), .later = true, .about = "Distinct ops that ran."},
    {F("op_calls", REP_COUNT, vp_module, op_calls), .later = true,
     .about = "Calls of the most frequent of these ops."},
    {F("repeats", REP_TEXT, vp_module, repeats), .full = true, .later = true,
     .null = "no other program computes its matmuls",
     .about = "A larger program that computes at least 90% of this one's FLOP of matmuls, too."},
    {END("module", "A compiled program (HLO module).")},
};

/* ---- Steps ---- */

static const rep_field step_device_fields[] = {
    {F("name", REP_DEVICE, vp_step_device, device), .about = "Name of the device."},
    {F("start_ps", REP_TIME, vp_step_device, start_ps),
     .about = "Start of the step on the device, on the aligned clock."},
    {F("dur_ps", REP_COUNT, vp_step_device, dur_ps), .needed = true,
     .about = "Duration on the device's clock."},
    {F("breakdown", REP_OBJECT, vp_step_device, breakdown), .fields = rep_breakdown_fields,
     .about = "The step divided by what the device did."},
    {F("idle_causes", REP_BY_WORD, vp_step_device, cause_ps), .words = result_cause_words,
     .about = "Idle time by cause; adds up to `idle_ps` of the breakdown."},
    {F("cells", REP_BY_WORD, vp_step_device, cell_ps), .words = result_cell_words,
     .about = "Compute time by use; adds up to `compute_ps` of the breakdown."},
    {F("peak_ps", REP_COUNT, vp_step_device, peak_ps), .needed = true, .unsummed = true,
     .about = "Time that the FLOP of the step takes at peak rate."},
    {F("exposed_wait_ps", REP_COUNT, vp_step_device, exposed_wait_ps), .null = "no call is matched",
     .about = "Exposed communication of the step before the last participant arrived."},
    {END("step_device", "A step on one device.")},
};

/* For the critical device; null if the step is only on the host. */
static void put_step_breakdown(rep_json_out *o, const void *base)
{
    const vp_breakdown *b = rep_critical(base);
    if (b)
        rep_put_object(o, rep_breakdown_fields, b);
    else
        vp_json_null(&o->j);
}

static const rep_field grown_fields[] = {
    {F("name", REP_TEXT, vp_grown, name), .about = "Name of the zone."},
    {F("thread", REP_TEXT, vp_grown, thread), .about = "Thread of the zone."},
    {F("process", REP_DEVICE, vp_grown, device), .about = "Name of the process."},
    {F("more_ps", REP_COUNT, vp_grown, more_ps), .needed = true,
     .about = "Self time in the step beyond the usual self time."},
    {F("usual_ps", REP_COUNT, vp_grown, usual_ps), .needed = true,
     .about = "Median self time of the zone over all steps."},
    {F("caller", REP_TEXT, vp_grown, caller), .null = "unknown", .later = true,
     .about = "Function of the program that calls it, with its file and line."},
    {F("start_ps", REP_TIME, vp_grown, start_ps),
     .about = "Start of its longest call in the step."},
    {F("dur_ps", REP_COUNT, vp_grown, dur_ps), .needed = true, .about = "Duration of that call."},
    {END("grown", "The zone whose self time in a step exceeds its usual self time the most.")},
};

static void json_put_grown_zone(rep_json_out *o, const void *base)
{
    const vp_grown *grew = &((const vp_step *)base)->grew;
    if (grew->name)
        rep_put_object(o, grown_fields, grew);
    else
        vp_json_null(&o->j);
}

static const rep_field step_fields[] = {
    {F("number", REP_COUNT, vp_step, number), .unit = "",
     .about = "Number of the step in the program."},
    {F("name", REP_TEXT, vp_step, name), .about = "Name of the step in the profile."},
    {F("start_ps", REP_TIME, vp_step, start_ps),
     .about = "Start of the step on its critical device, or on the host if there is no device."},
    {F("dur_ps", REP_COUNT, vp_step, dur_ps), .needed = true,
     .about = "Duration of the step on its critical device, or on the host if there is no device."},
    {F("device", REP_DEVICE, vp_step, device), .null = "the step is on the host only",
     .about = "Name of the critical device, the one with the longest window."},
    {MADE("breakdown", REP_OBJECT, put_step_breakdown), .fields = rep_breakdown_fields,
     .null = "the step is on the host only", .about = "Breakdown on the critical device."},
    {LIST("devices", vp_step, devices, device_count, vp_step_device, step_device_fields),
     .about = "The step on each device."},
    {F("partial", REP_BOOL, vp_step, partial),
     .about = "True if the capture cuts the step; it does not count in the statistics."},
    {F("warm_up", REP_BOOL, vp_step, warm_up),
     .about = "True for a slow first step, which does not count in the statistics."},
    {F("class", REP_WORD, vp_step, step_class), .words = rep_step_class_words,
     .about = "Class of the step by its duration."},
    {F("grew", REP_OBJECT, vp_step, grew), .fields = grown_fields, .put = json_put_grown_zone,
     .null = "no zone exceeds its usual time",
     .about = "Zone that makes the step longer than usual, in a profile without devices."},
    {END("step", "One step of the program.")},
};

static const rep_field step_group_fields[] = {
    {F("class", REP_WORD, vp_step_group, step_class), .words = rep_step_class_words,
     .about = "Class of the steps."},
    {F("count", REP_COUNT, vp_step_group, count), .about = "Number of steps."},
    {F("median_ps", REP_COUNT, vp_step_group, median_ps), .about = "Median duration."},
    {F("total_ps", REP_COUNT, vp_step_group, total_ps), .about = "Total duration."},
    {F("period", REP_COUNT, vp_step_group, period), .unit = "steps", .null = "irregular",
     .about = "Distance of such steps, counted in steps."},
    {F("example", REP_COUNT, vp_step_group, example), .unit = "",
     .about = "Number of the step nearest to the median."},
    {END("step_group", "Steps of similar duration, such as training steps and evaluation steps.")},
};

static const rep_field step_series_fields[] = {
    {F("name", REP_TEXT, vp_step_series, name), .needed = true,
     .about = "Name of the steps without their numbers; empty if no name repeats."},
    {F("count", REP_COUNT, vp_step_series, count), .about = "Number of steps."},
    {F("counted", REP_COUNT, vp_step_series, counted), .about = "Steps in the statistics."},
    {F("median_ps", REP_COUNT, vp_step_series, median_ps), .null = "no step counts",
     .about = "Median duration."},
    {F("mean_ps", REP_COUNT, vp_step_series, mean_ps), .null = "no step counts",
     .about = "Mean duration."},
    {F("min_ps", REP_COUNT, vp_step_series, min_ps), .null = "no step counts",
     .about = "Shortest duration."},
    {F("max_ps", REP_COUNT, vp_step_series, max_ps), .null = "no step counts",
     .about = "Longest duration."},
    {F("total_ps", REP_COUNT, vp_step_series, total_ps), .about = "Duration of all its steps."},
    {END("step_series", "Steps of one name, such as train and eval. Step numbers are distinct "
                        "only within a series.")},
};

static void put_step_count(rep_json_out *o, const void *base)
{
    vp_json_i64(&o->j, (int64_t)((const vp_steps *)base)->count);
}

/* Without complete steps the mean would divide by 0. */
static void put_cv(rep_json_out *o, const void *base)
{
    const vp_steps *s = base;
    vp_json_double(&o->j, s->counted > 0 ? s->cv : (double)NAN);
}

static const rep_field steps_fields[] = {
    {F("source", REP_WORD, vp_steps, source), .words = rep_step_source_words,
     .about = "What marks the steps."},
    {MADE("count", REP_COUNT, put_step_count), .needed = true,
     .about = "Number of steps in `list`."},
    {F("counted", REP_COUNT, vp_steps, counted), .about = "Steps that count in the statistics."},
    {LIST("list", vp_steps, list, count, vp_step, step_fields), .about = "Steps in order of time."},
    {F("median_ps", REP_COUNT, vp_steps, median_ps), .null = "no step counts",
     .about = "Median duration."},
    {F("p90_ps", REP_COUNT, vp_steps, p90_ps), .null = "no step counts",
     .about = "90th percentile of the duration."},
    {F("p95_ps", REP_COUNT, vp_steps, p95_ps), .null = "no step counts",
     .about = "95th percentile of the duration."},
    {F("mad_ps", REP_COUNT, vp_steps, mad_ps), .null = "no step counts",
     .about = "Median absolute deviation of the duration."},
    {F("mean_ps", REP_COUNT, vp_steps, mean_ps), .null = "no step counts",
     .about = "Mean duration."},
    {F("min_ps", REP_COUNT, vp_steps, min_ps), .null = "no step counts",
     .about = "Shortest duration."},
    {F("max_ps", REP_COUNT, vp_steps, max_ps), .null = "no step counts",
     .about = "Longest duration."},
    {MADE("cv", REP_NUMBER, put_cv), .unit = "ratio", .null = "no step counts",
     .about = "Coefficient of variation: population standard deviation divided by the mean."},
    {F("excess_ps", REP_COUNT, vp_steps, excess_ps), .null = "no step counts",
     .about = "Sum of the durations beyond the median."},
    {LIST("groups", vp_steps, groups, group_count, vp_step_group, step_group_fields),
     .about = "Steps grouped by duration."},
    {LIST("series", vp_steps, series, series_count, vp_step_series, step_series_fields),
     .later = true, .about = "Steps grouped by name. The statistics are those of the first."},
    {END("steps",
         "Steps and their statistics. Cut and warm-up steps do not count in the statistics.")},
};

/* ---- Idle ---- */

static const rep_field gap_fields[] = {
    {F("device", REP_DEVICE, vp_gap, device), .needed = true, .about = "Name of the device."},
    {F("start_ps", REP_TIME, vp_gap, start_ps), .about = "Start of the gap, on the aligned clock."},
    {F("dur_ps", REP_COUNT, vp_gap, dur_ps), .needed = true,
     .about = "Duration on the device's clock."},
    {F("host_late_ps", REP_COUNT, vp_gap, host_late_ps), .needed = true,
     .about = "Part before the launch call of the next op."},
    {F("in_call_ps", REP_COUNT, vp_gap, in_call_ps), .needed = true,
     .about = "Part inside the launch call."},
    {F("latency_ps", REP_COUNT, vp_gap, latency_ps), .needed = true,
     .about = "Part between the launch call and the start of the op."},
    {F("causes", REP_BY_WORD, vp_gap, cause_ps), .words = result_cause_words,
     .about = "Duration by cause; adds up to `dur_ps`."},
    {F("label", REP_TEXT, vp_gap, label), .null = "no such event",
     .about = "Event that covers most of the gap on the launching thread."},
    {F("thread", REP_TEXT, vp_gap, thread), .about = "The launching thread."},
    {F("next_op", REP_TEXT, vp_gap, next_op), .about = "Op that ends the gap."},
    {F("scope", REP_TEXT, vp_gap, scope), .about = "Scope of that op."},
    {END("gap", "An idle gap between two ops of a device.")},
};

static const rep_field idle_label_fields[] = {
    {F("device", REP_DEVICE, vp_idle_label, device), .needed = true,
     .about = "Name of the device."},
    {F("cause", REP_WORD, vp_idle_label, cause), .words = result_cause_words,
     .about = "Cause of the idle time."},
    {F("label", REP_TEXT, vp_idle_label, label), .null = "no such event",
     .about = "Host event during the gaps."},
    {F("thread", REP_TEXT, vp_idle_label, thread), .about = "Thread of the host event."},
    {F("gaps", REP_COUNT, vp_idle_label, gaps), .needed = true, .about = "Number of gaps."},
    {F("total_ps", REP_COUNT, vp_idle_label, total_ps), .needed = true,
     .about = "Total idle time."},
    {F("user", REP_TEXT, vp_idle_label, user), .null = "unknown",
     .about = "Function, file and line of the innermost frame of the user's program around it."},
    {END("idle_label", "Idle time of a device by cause and host event, over all gaps.")},
};

/* ---- Communication and copies ---- */

static void put_algorithm_rate(rep_json_out *o, const void *collective)
{
    vp_json_double(&o->j, rep_algorithm_gb_per_s(collective));
}

static void put_bus_rate(rep_json_out *o, const void *collective)
{
    vp_json_double(&o->j, rep_bus_gb_per_s(collective));
}

static const rep_field collective_fields[] = {
    {F("device", REP_DEVICE, vp_collective, device), .needed = true,
     .about = "Name of the device."},
    {F("kind", REP_TEXT, vp_collective, kind), .needed = true,
     .about = "Kind of the collective, such as `all-reduce` or `send-recv`."},
    {F("name", REP_TEXT, vp_collective, name), .needed = true, .null = "empty",
     .about = "Name of the op."},
    {F("scope", REP_TEXT, vp_collective, scope), .about = "Scope of the op."},
    {F("group_size", REP_COUNT, vp_collective, group_size),
     .about = "Devices that take part in one call."},
    {F("groups", REP_COUNT, vp_collective, groups),
     .about = "Groups into which the collective divides the program's devices."},
    {F("members", REP_TEXT, vp_collective, members),
     .about =
         "Device numbers of this device's group, such as `0,4` or `0-28:4` (first, last, stride)."},
    {F("count", REP_COUNT, vp_collective, count), .needed = true, .about = "Number of calls."},
    {F("bytes", REP_COUNT, vp_collective, bytes),
     .about = "Payload per participant, summed over calls."},
    {F("total_ps", REP_COUNT, vp_collective, total_ps), .needed = true,
     .about = "Sum of the durations; time in flight for asynchronous pairs."},
    {F("union_ps", REP_COUNT, vp_collective, union_ps), .needed = true,
     .about = "Time in which at least one call runs."},
    {F("exposed_ps", REP_COUNT, vp_collective, exposed_ps), .needed = true,
     .about = "Part of `union_ps` during which no other op runs."},
    {MADE("algorithm_gb_per_s", REP_NUMBER, put_algorithm_rate),
     .about = "Payload per participant divided by the duration."},
    {MADE("bus_gb_per_s", REP_NUMBER, put_bus_rate),
     .about = "Algorithm bandwidth times the factor for the traffic on the links."},
    {F("wait_ps", REP_COUNT, vp_collective, wait_ps), .null = "no call is matched",
     .about =
         "Time until the last participant arrived, over calls that are matched across devices."},
    {F("sample_stride", REP_COUNT, vp_collective, sample_stride), .needed = true, .unit = "calls",
     .about = "Sampled calls are every N-th call in order of time; this is N."},
    {ARRAY("sample_start_ps", REP_COUNTS, vp_collective, sample_start_ps, sample_count),
     .about = "Starts of the sampled calls, on the aligned clock."},
    {ARRAY("sample_dur_ps", REP_COUNTS, vp_collective, sample_dur_ps, sample_count),
     .about = "Durations of the sampled calls."},
    {ARRAY("sample_exposed_ps", REP_COUNTS, vp_collective, sample_exposed_ps, sample_count),
     .later = true, .about = "Exposed parts of the sampled calls."},
    {END("collective", "Calls of one collective on one device.")},
};

static void put_transfer_rate(rep_json_out *o, const void *transfer)
{
    vp_json_double(&o->j, rep_transfer_gb_per_s(transfer));
}

static const rep_field largest_fields[] = {
    {F("bytes", REP_COUNT, vp_transfer, largest_bytes), .about = "Size of the transfer."},
    {F("start_ps", REP_TIME, vp_transfer, largest_start_ps), .about = "Start of the transfer."},
    {F("dur_ps", REP_COUNT, vp_transfer, largest_dur_ps), .about = "Duration of the transfer."},
    {END("largest_transfer", "The longest transfer.")},
};

static const rep_field transfer_fields[] = {
    {F("device", REP_DEVICE, vp_transfer, device), .null = "seen on the host only",
     .about = "Name of the device."},
    {F("direction", REP_WORD, vp_transfer, direction), .words = rep_direction_words,
     .about = "Direction of the copies."},
    {F("count", REP_COUNT, vp_transfer, count), .needed = true,
     .about = "Number of copies; an asynchronous pair counts as one."},
    {F("bytes", REP_COUNT, vp_transfer, bytes), .about = "Bytes copied."},
    {F("busy_ps", REP_COUNT, vp_transfer, busy_ps), .needed = true,
     .about = "Time in which at least one copy is in flight."},
    {F("exposed_ps", REP_COUNT, vp_transfer, exposed_ps), .needed = true,
     .about = "Part of that time without compute and communication."},
    {MADE("gb_per_s", REP_NUMBER, put_transfer_rate),
     .about = "Bytes divided by the time in flight."},
    {F("pageable", REP_COUNT, vp_transfer, pageable_count),
     .about = "Copies of pageable host memory."},
    {F("pageable_ps", REP_COUNT, vp_transfer, pageable_ps),
     .about = "Total duration of copies of pageable host memory."},
    {F("total_ps", REP_COUNT, vp_transfer, total_ps), .needed = true,
     .about = "Sum of the durations of the ops."},
    {F("exposed_count", REP_COUNT, vp_transfer, exposed_count), .needed = true,
     .about = "Copies with an exposed part."},
    {.key = "largest",
     .type = REP_OBJECT,
     .fields = largest_fields,
     .about = "The longest transfer."},
    {F("first_start_ps", REP_TIME, vp_transfer, first_start_ps),
     .about = "Start of the first copy."},
    {F("host_only", REP_BOOL, vp_transfer, host_only),
     .about = "True if the copies were measured by host events (CPU devices)."},
    {F("caller", REP_TEXT, vp_transfer, caller), .null = "unknown", .later = true,
     .about = "Function of the program that copies most, with its file and line."},
    {F("function", REP_TEXT, vp_transfer, function), .null = "unknown", .later = true,
     .about = "Compiled function whose calls copy most."},
    {F("argument", REP_TEXT, vp_transfer, argument), .null = "unknown", .later = true,
     .about = "Its largest argument that is copied, with shape and size."},
    {END("transfer", "Copies of one direction on one device.")},
};

static const rep_field reference_fields[] = {
    {.key = "device", .type = REP_DEVICE, .needed = true, .about = "Name of the device."},
    {END("device_reference", "A reference to a device.")},
};

static void put_reference(rep_json_out *o, uint32_t device)
{
    if (device < o->r->device_count)
        rep_put_object(o, reference_fields, &device);
    else
        vp_json_null(&o->j);
}

static void put_busiest(rep_json_out *o, const void *balance)
{
    put_reference(o, ((const vp_balance *)balance)->busiest);
}

static void put_idlest(rep_json_out *o, const void *balance)
{
    put_reference(o, ((const vp_balance *)balance)->idlest);
}

static void put_straggler(rep_json_out *o, const void *balance)
{
    put_reference(o, ((const vp_balance *)balance)->straggler);
}

static void put_balance_devices(rep_json_out *o, const void *balance)
{
    vp_json_i64(&o->j, (int64_t)((const vp_balance *)balance)->devices);
}

/* Computed from the rest of the report, also after reading it. */
static const rep_field balance_fields[] = {
    {MADE("devices", REP_COUNT, put_balance_devices), .needed = true,
     .about = "Devices that run the same modules; with fewer than 2, other figures are null."},
    {F("max_ps", REP_COUNT, vp_balance, max_ps), .about = "Largest compute time of a device."},
    {F("mean_ps", REP_COUNT, vp_balance, mean_ps), .about = "Mean compute time."},
    {F("min_ps", REP_COUNT, vp_balance, min_ps), .about = "Smallest compute time of a device."},
    {MADE("busiest", REP_OBJECT, put_busiest), .fields = reference_fields, .null = "unknown",
     .about = "Device with the largest compute time."},
    {MADE("idlest", REP_OBJECT, put_idlest), .fields = reference_fields, .null = "unknown",
     .about = "Device with the smallest compute time."},
    {F("aligned", REP_BOOL, vp_balance, aligned),
     .about = "True if the clocks of the hosts could be compared."},
    {F("matched", REP_COUNT, vp_balance, matched),
     .about = "Collective calls that were seen on all their devices."},
    {F("wait_ps", REP_COUNT, vp_balance, wait_ps),
     .about = "Sum over these calls of the longest wait."},
    {MADE("straggler", REP_OBJECT, put_straggler), .fields = reference_fields, .null = "none",
     .about = "Device that arrived last most often."},
    {F("straggler_last", REP_COUNT, vp_balance, straggler_last),
     .about = "Calls at which that device arrived last."},
    {F("straggler_host", REP_TEXT, vp_balance, straggler_host), .null = "one host",
     .about = "Host that arrived last most often."},
    {F("straggler_host_last", REP_COUNT, vp_balance, straggler_host_last),
     .about = "Calls at which that host arrived last."},
    {END("balance",
         "How evenly devices with the same modules work, and which one the others wait for.")},
};

/* ---- The host ---- */

static const rep_field function_fields[] = {
    {F("host", REP_TEXT, vp_function, host), .about = "Host of the compilations."},
    {F("function", REP_TEXT, vp_function, name), .needed = true, .null = "empty",
     .about = "Name of the function."},
    {F("compiles", REP_COUNT, vp_function, compiles), .needed = true,
     .about = "Number of compilations."},
    {F("calls", REP_COUNT, vp_function, calls), .needed = true, .about = "Number of calls."},
    {F("cache_hits", REP_COUNT, vp_function, cache_hits),
     .about = "Compilations that the persistent cache answered."},
    {F("total_ps", REP_COUNT, vp_function, total_ps), .needed = true,
     .about = "Total compile time."},
    {F("repeat_ps", REP_COUNT, vp_function, repeat_ps), .needed = true,
     .about = "Compile time without the first compilation."},
    {F("late", REP_COUNT, vp_function, late), .needed = true,
     .about = "Compilations after execution had begun."},
    {F("late_ps", REP_COUNT, vp_function, late_ps), .needed = true,
     .about = "Compile time after execution had begun."},
    {F("first_start_ps", REP_TIME, vp_function, first_start_ps),
     .about = "Start of the first compilation."},
    {F("last_start_ps", REP_TIME, vp_function, last_start_ps),
     .about = "Start of the last compilation."},
    {F("first_dur_ps", REP_COUNT, vp_function, first_dur_ps),
     .about = "Duration of the first compilation."},
    {F("last_dur_ps", REP_COUNT, vp_function, last_dur_ps),
     .about = "Duration of the last compilation."},
    {F("caller", REP_TEXT, vp_function, caller), .null = "unknown",
     .about = "Innermost function of the program around the last compilation, with its file and "
              "line."},
    {F("changes", REP_TEXT, vp_function, changes), .null = "unknown",
     .about = "What differs between the compiled variants."},
    {F("prepare_ps", REP_COUNT, vp_function, prepare_ps), .optional = true, .needed = true,
     .about = "Tracing and lowering before late and repeated compilations."},
    {F("ready_ps", REP_TIME, vp_function, ready_ps), .optional = true,
     .about = "Time after which its compilations are avoidable."},
    {END("function", "Compilations of one function.")},
};

static const rep_field recompiled_fields[] = {
    {F("host", REP_TEXT, vp_function, host), .about = "Host of the compilations."},
    {F("function", REP_TEXT, vp_function, name), .needed = true, .null = "empty",
     .about = "Name of the function."},
    {F("compiles", REP_COUNT, vp_function, compiles), .needed = true,
     .about = "Number of compilations."},
    {F("calls", REP_COUNT, vp_function, calls), .needed = true, .about = "Number of calls."},
    {END("recompiled", "A function that was compiled more than once.")},
};

static void put_recompiled(rep_json_out *o, const void *base)
{
    const vp_compile *c = base;
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < c->function_count; i++)
        if (c->functions[i].compiles >= 2)
            rep_put_object(o, recompiled_fields, &c->functions[i]);
    vp_json_end_array(&o->j);
}

static const rep_field compile_fields[] = {
    {F("count", REP_COUNT, vp_compile, count), .needed = true, .about = "Number of compilations."},
    {F("total_ps", REP_COUNT, vp_compile, total_ps), .needed = true,
     .about = "Total compile time; overlapping compilations of a thread count once."},
    {F("lower_ps", REP_COUNT, vp_compile, lower_ps), .needed = true,
     .about = "Time for tracing and lowering to HLO."},
    {F("late", REP_COUNT, vp_compile, late), .needed = true,
     .about = "Compilations after execution had begun."},
    {F("late_ps", REP_COUNT, vp_compile, late_ps), .needed = true,
     .about = "Compile time after execution had begun."},
    {F("before_steps_ps", REP_COUNT, vp_compile, before_steps_ps),
     .about = "Compile time that began before the first run of the step's module."},
    {F("cache_hits", REP_COUNT, vp_compile, cache_hits),
     .about = "Hits of the persistent compilation cache."},
    {F("cache_misses", REP_COUNT, vp_compile, cache_misses),
     .about = "Misses of the persistent compilation cache."},
    {MADE("recompiled", REP_LIST, put_recompiled), .fields = recompiled_fields,
     .about = "Functions that were compiled more than once."},
    {LIST("functions", vp_compile, functions, function_count, vp_function, function_fields),
     .about = "Functions by compile time, largest first."},
    {END("compile", "Compilation on the hosts.")},
};

static const rep_field host_op_fields[] = {
    {F("host", REP_TEXT, vp_host_op, host), .about = "Host of the call."},
    {F("thread", REP_TEXT, vp_host_op, thread), .about = "Thread with the most self time of it."},
    {F("name", REP_TEXT, vp_host_op, name), .needed = true, .null = "empty",
     .about = "Name of the function or runtime call."},
    {F("cause", REP_WORD, vp_host_op, cause), .words = result_cause_words,
     .about = "Cause of device idle time that the event stands for; `host` for plain work."},
    {F("blocking", REP_BOOL, vp_host_op, blocking), .about = "True if the call blocks."},
    {F("threads", REP_COUNT, vp_host_op, threads), .about = "Threads that the row covers."},
    {F("calls", REP_COUNT, vp_host_op, calls), .needed = true, .about = "Number of calls."},
    {F("total_ps", REP_COUNT, vp_host_op, total_ps), .needed = true,
     .about = "Sum of the durations; calls inside calls of the same name do not count."},
    {F("self_ps", REP_COUNT, vp_host_op, self_ps), .needed = true, .about = "Self time."},
    {F("idle_ps", REP_COUNT, vp_host_op, idle_ps), .needed = true,
     .about = "Part of the self time during which all devices of the host are idle."},
    {F("blocked_ps", REP_COUNT, vp_host_op, blocked_ps),
     .about =
         "Time in blocking calls, including nested calls, while all devices of the host are idle."},
    {F("max_ps", REP_COUNT, vp_host_op, max_ps), .needed = true,
     .about = "Duration of the longest call."},
    {F("max_start_ps", REP_TIME, vp_host_op, max_start_ps), .about = "Start of the longest call."},
    {END("host_op", "A function or runtime call on a host.")},
};

static const rep_field thread_fields[] = {
    {F("process", REP_DEVICE, vp_thread, device), .about = "Name of the process."},
    {F("thread", REP_TEXT, vp_thread, name), .about = "Name of the thread."},
    {F("steps", REP_BOOL, vp_thread, steps),
     .about = "True if the thread runs the program's steps; only waits within steps then count as "
              "lost."},
    {F("start_ps", REP_TIME, vp_thread, start_ps), .about = "Start of its first zone."},
    {F("end_ps", REP_TIME, vp_thread, end_ps), .about = "End of its last zone."},
    {F("work_ps", REP_COUNT, vp_thread, work_ps), .needed = true,
     .about = "Self time outside of zones that wait."},
    {F("wait_ps", REP_COUNT, vp_thread, wait_ps), .needed = true,
     .about = "Self time of zones that wait."},
    {F("lost_ps", REP_COUNT, vp_thread, lost_ps), .needed = true,
     .about = "Waits that could have been work, such as waits for locks."},
    {F("zone", REP_TEXT, vp_thread, zone), .about = "Zone with the most work."},
    {F("zone_ps", REP_COUNT, vp_thread, zone_ps), .needed = true,
     .about = "Self time of that zone."},
    {F("wait", REP_TEXT, vp_thread, wait), .null = "no time is lost",
     .about = "Zone with the most lost time."},
    {F("zone_caller", REP_TEXT, vp_thread, zone_caller), .null = "unknown", .later = true,
     .about = "Function of the program that calls `zone`, with its file and line."},
    {F("wait_caller", REP_TEXT, vp_thread, wait_caller), .null = "unknown", .later = true,
     .about = "Function of the program that calls `wait`, with its file and line."},
    {F("wait_calls", REP_COUNT, vp_thread, wait_calls), .needed = true,
     .about = "Calls of that zone."},
    {F("wait_start_ps", REP_TIME, vp_thread, wait_start_ps), .about = "Start of its longest call."},
    {F("wait_dur_ps", REP_COUNT, vp_thread, wait_dur_ps), .needed = true,
     .about = "Duration of its longest call."},
    {END("thread", "A host thread of a program without devices.")},
};

static const rep_field torch_cost_fields[] = {
    {F("thread_host", REP_TEXT, vp_torch_cost, host), .about = "Host of the thread."},
    {F("thread", REP_TEXT, vp_torch_cost, thread), .about = "Name of the thread."},
    {F("process", REP_DEVICE, vp_torch_cost, device), .null = "unknown",
     .about = "Process of the thread."},
    {F("kind", REP_WORD, vp_torch_cost, kind), .words = result_torch_words,
     .about = "What could be saved."},
    {F("name", REP_TEXT, vp_torch_cost, name), .null = "unknown",
     .about = "Operator, module, or what else is called."},
    {F("caller", REP_TEXT, vp_torch_cost, caller), .null = "unknown",
     .about = "Function of the program that calls it, with its file and line."},
    {F("calls", REP_COUNT, vp_torch_cost, calls), .needed = true,
     .about = "Number of calls, or passes of the loops."},
    {F("groups", REP_COUNT, vp_torch_cost, groups), .needed = true,
     .about = "Number of loops, or of steps of the optimizer."},
    {F("total_ps", REP_COUNT, vp_torch_cost, total_ps), .needed = true,
     .about = "Time of all calls or loops, with their backward pass."},
    {F("saved_ps", REP_COUNT, vp_torch_cost, saved_ps), .needed = true,
     .about = "Part of it that would be saved."},
    {F("start_ps", REP_TIME, vp_torch_cost, start_ps),
     .about = "Start of the longest call or loop."},
    {F("dur_ps", REP_COUNT, vp_torch_cost, dur_ps), .needed = true, .about = "Its duration."},
    {END("torch_cost", "What a change to a program of PyTorch would save.")},
};

static const rep_field activity_fields[] = {
    {F("thread_host", REP_TEXT, vp_activity, host), .about = "Host of the thread."},
    {F("thread", REP_TEXT, vp_activity, thread), .about = "Name of the thread."},
    {F("process", REP_DEVICE, vp_activity, device), .null = "the profile has devices",
     .about = "Name of the process."},
    {F("kind", REP_WORD, vp_activity, kind), .words = result_activity_words,
     .about = "What the thread does."},
    {F("name", REP_TEXT, vp_activity, name), .about = "Name of the longest call."},
    {F("caller", REP_TEXT, vp_activity, caller), .null = "unknown",
     .about = "Innermost function of the program around that call, with its file and line."},
    {F("callee", REP_TEXT, vp_activity, callee), .null = "unknown",
     .about = "Outermost function of the program inside that call, with its file and line."},
    {F("max_ps", REP_COUNT, vp_activity, max_ps), .needed = true,
     .about = "Duration of that call."},
    {F("max_start_ps", REP_TIME, vp_activity, max_start_ps), .about = "Start of that call."},
    {F("calls", REP_COUNT, vp_activity, calls), .needed = true, .about = "Number of calls."},
    {F("total_ps", REP_COUNT, vp_activity, total_ps), .needed = true,
     .about = "Sum of their durations. Calls inside any activity do not count."},
    {F("wait_ps", REP_COUNT, vp_activity, wait_ps), .needed = true,
     .about = "Part of it in zones that wait."},
    {F("idle_ps", REP_COUNT, vp_activity, idle_ps), .null = "the profile has no device",
     .about = "Part of it during which all devices of the host are idle."},
    {F("steps", REP_COUNT, vp_activity, steps), .needed = true,
     .about = "Number of steps in which it occurs."},
    {END("activity", "Work of the training thread that is not the program's own.")},
};

static const rep_field replay_fields[] = {
    {F("replay_host", REP_TEXT, vp_replay, host), .about = "Host of the program."},
    {F("thread", REP_TEXT, vp_replay, thread), .about = "Thread that launches its modules."},
    {F("recorded_ps", REP_COUNT, vp_replay, recorded_ps), .needed = true,
     .about = "From the first step to the end of the last run launched in a step, as recorded."},
    {F("replayed_ps", REP_COUNT, vp_replay, replayed_ps), .needed = true,
     .about = "The same, replayed unchanged. The difference is the error of the model."},
    {F("unwaited_ps", REP_COUNT, vp_replay, unwaited_ps), .needed = true,
     .about = "The same, replayed without waits for results."},
    {F("waits", REP_COUNT, vp_replay, waits), .needed = true,
     .about = "Number of waits for the end of a run."},
    {F("waiter", REP_TEXT, vp_replay, waiter), .null = "unknown",
     .about = "Function of the program in which most of their time is."},
    {END("replay", "A program replayed with its links, on one host.")},
};

static const rep_field user_function_fields[] = {
    {F("function_host", REP_TEXT, vp_user_function, host), .about = "Host of the function."},
    {F("name", REP_TEXT, vp_user_function, name), .needed = true,
     .about = "Function, with its file and line."},
    {F("calls", REP_COUNT, vp_user_function, calls), .needed = true,
     .about = "Number of outermost calls."},
    {F("total_ps", REP_COUNT, vp_user_function, total_ps), .needed = true,
     .about = "Sum of their durations."},
    {F("max_start_ps", REP_TIME, vp_user_function, max_start_ps),
     .about = "Start of the longest call."},
    {F("max_ps", REP_COUNT, vp_user_function, max_ps), .needed = true,
     .about = "Duration of the longest call."},
    {F("launches", REP_COUNT, vp_user_function, launches), .needed = true,
     .about = "Number of runs of modules that they launch."},
    {F("run_ps", REP_COUNT, vp_user_function, run_ps), .needed = true,
     .about = "Sum of the durations of these runs."},
    {F("reads", REP_COUNT, vp_user_function, reads), .needed = true,
     .about = "Number of results that they read: calls that wait for a device."},
    {F("without_ps", REP_COUNT, vp_user_function, without_ps), .needed = true,
     .about = "The replay without the function; compare with `replayed_ps`."},
    {END("user_function", "A function of the program on the launching thread.")},
};

static const rep_field torch_fields[] = {
    {F("optimizer", REP_TEXT, vp_torch, optimizer), .null = "no optimizer ran",
     .about = "Name of the optimizer with the longest step."},
    {F("optimizer_steps", REP_COUNT, vp_torch, optimizer_steps), .needed = true,
     .about = "Number of optimizer steps."},
    {F("optimizer_ps", REP_COUNT, vp_torch, optimizer_ps), .needed = true,
     .about = "Time in them."},
    {F("optimizer_ops", REP_COUNT, vp_torch, optimizer_ops), .needed = true,
     .about = "Operators that they call directly."},
    {F("grouped_ops", REP_COUNT, vp_torch, grouped_ops), .needed = true,
     .about = "Operators among them that update many parameters at once (foreach, fused)."},
    {F("optimizer_start_ps", REP_TIME, vp_torch, optimizer_start_ps),
     .about = "Start of the longest optimizer step."},
    {F("optimizer_dur_ps", REP_COUNT, vp_torch, optimizer_dur_ps), .needed = true,
     .about = "Duration of that step."},
    {F("recorded_ops", REP_COUNT, vp_torch, recorded_ops), .needed = true,
     .about = "Operations that autograd records."},
    {F("unused_ops", REP_COUNT, vp_torch, unused_ops), .needed = true,
     .about = "Operations among them without a backward pass."},
    {F("unused_ps", REP_COUNT, vp_torch, unused_ps), .needed = true,
     .about = "Time of the outermost operators of these."},
    {F("unused_start_ps", REP_TIME, vp_torch, unused_start_ps),
     .about = "Start of the longest run of these operators."},
    {F("unused_dur_ps", REP_COUNT, vp_torch, unused_dur_ps), .needed = true,
     .about = "Duration of that run."},
    {END("torch", "How a program of PyTorch trains; zeros for any other program.")},
};

/* ---- Data recorded by the program ---- */

static const rep_field said_fields[] = {
    {F("text", REP_TEXT, vp_said, text), .needed = true, .null = "empty", .about = "The text."},
    {F("count", REP_COUNT, vp_said, count), .needed = true,
     .about = "How often the argument had it."},
    {END("value", "A text that an argument had.")},
};

static const rep_field arg_fields[] = {
    {F("host", REP_TEXT, vp_values, host), .about = "Host of the zones."},
    {F("zone", REP_TEXT, vp_values, zone), .needed = true, .null = "empty",
     .about = "Name of the zones."},
    {F("key", REP_TEXT, vp_values, key), .needed = true, .null = "empty",
     .about = "Name of the argument."},
    {F("numbers", REP_COUNT, vp_values, numbers), .needed = true, .about = "Numeric values."},
    {F("min", REP_NUMBER, vp_values, min), .unit = "as recorded", .null = "no numbers",
     .about = "Smallest number."},
    {F("mean", REP_NUMBER, vp_values, mean), .unit = "as recorded", .null = "no numbers",
     .about = "Mean of the numbers."},
    {F("max", REP_NUMBER, vp_values, max), .unit = "as recorded", .null = "no numbers",
     .about = "Largest number."},
    {F("sum", REP_NUMBER, vp_values, sum), .unit = "as recorded", .null = "no numbers",
     .about = "Sum of the numbers."},
    {F("last", REP_NUMBER, vp_values, last), .unit = "as recorded", .null = "no numbers",
     .about = "Last number."},
    {F("texts", REP_COUNT, vp_values, texts), .needed = true, .about = "Text values."},
    {F("distinct", REP_COUNT, vp_values, distinct), .null = "more than 64",
     .about = "Distinct texts."},
    {LIST("top", vp_values, top, top_count, vp_said, said_fields),
     .about = "Most frequent texts, at most 8."},
    {F("others", REP_COUNT, vp_values, others), .needed = true,
     .about = "Text values that `top` does not list."},
    {END("arg", "An argument of all zones of one name.")},
};

static const rep_field counter_fields[] = {
    {F("host", REP_TEXT, vp_values, host), .about = "Host of the counter."},
    {F("name", REP_TEXT, vp_values, zone), .needed = true, .null = "empty",
     .about = "Name of the counter."},
    {F("values", REP_COUNT, vp_values, numbers), .needed = true, .about = "Number of values."},
    {F("min", REP_NUMBER, vp_values, min), .unit = "as recorded", .null = "no values",
     .about = "Smallest value."},
    {F("mean", REP_NUMBER, vp_values, mean), .unit = "as recorded", .null = "no values",
     .about = "Mean value."},
    {F("max", REP_NUMBER, vp_values, max), .unit = "as recorded", .null = "no values",
     .about = "Largest value."},
    {F("last", REP_NUMBER, vp_values, last), .unit = "as recorded", .null = "no values",
     .about = "Last value."},
    {END("counter", "A counter that the program recorded.")},
};

static const rep_field meta_fields[] = {
    {F("host", REP_TEXT, vp_meta, host), .about = "Host of the program."},
    {F("key", REP_TEXT, vp_meta, key), .needed = true, .null = "empty",
     .about = "Name of the fact."},
    {F("value", REP_TEXT, vp_meta, value), .needed = true, .null = "empty",
     .about = "Value of the fact."},
    {END("meta", "A fact that the program recorded about itself.")},
};

/* ---- Memory and quality ---- */

static const rep_field memory_item_fields[] = {
    {F("name", REP_TEXT, vp_memory_item, name), .needed = true, .null = "empty",
     .about = "Name of the holder."},
    {F("bytes", REP_COUNT, vp_memory_item, bytes), .needed = true, .about = "Bytes held."},
    {F("count", REP_COUNT, vp_memory_item, count), .about = "Number of allocations."},
    {F("scope", REP_TEXT, vp_memory_item, scope), .about = "Scope of the allocations."},
    {F("source", REP_TEXT, vp_memory_item, source),
     .about = "Source line or stack frame of the allocations."},
    {F("step", REP_COUNT, vp_memory_item, step), .unit = "",
     .about = "Number of the step in which the allocations were made."},
    {F("planned", REP_TEXT, vp_memory_item, planned),
     .about =
         "Buffer of a program's memory plan with the same size, such as `jit_f: temporaries`."},
    {END("memory_item",
         "What holds memory at the peak: an op, a function, or a name in brackets.")},
};

static const rep_field leak_fields[] = {
    {F("name", REP_TEXT, vp_leak, name), .needed = true, .null = "empty",
     .about = "Name of the holder."},
    {F("scope", REP_TEXT, vp_leak, scope), .about = "Scope of the allocations."},
    {F("source", REP_TEXT, vp_leak, source),
     .about = "Source line or stack frame of the allocations."},
    {F("bytes", REP_COUNT, vp_leak, bytes), .needed = true,
     .about = "Bytes held, over all steps that could be judged."},
    {F("count", REP_COUNT, vp_leak, count), .needed = true, .about = "Number of allocations."},
    {F("steps", REP_COUNT, vp_leak, steps), .needed = true,
     .about = "Steps that left such allocations."},
    {END("leak", "Memory that steps allocate and still hold two steps later.")},
};

static const rep_field allocator_fields[] = {
    {F("host", REP_TEXT, vp_memory, host), .about = "Host of the allocator."},
    {F("allocator", REP_TEXT, vp_memory, allocator), .needed = true, .null = "empty",
     .about = "Name of the allocator, such as `GPU_0_bfc`."},
    {F("peak_bytes", REP_COUNT, vp_memory, peak_bytes), .about = "Largest number of bytes in use."},
    {F("peak_start_ps", REP_TIME, vp_memory, peak_start_ps),
     .about = "Time at which the peak was first reached."},
    {F("total_bytes", REP_COUNT, vp_memory, total_bytes),
     .about = "Bytes that the allocator may use."},
    {F("lifetime_peak_bytes", REP_COUNT, vp_memory, lifetime_peak_bytes),
     .about = "Peak since the start of the process."},
    {F("reserved_bytes", REP_COUNT, vp_memory, reserved_bytes),
     .about = "Bytes reserved from the device at the peak."},
    {F("reserved_peak_bytes", REP_COUNT, vp_memory, reserved_peak_bytes),
     .about = "Largest number of bytes reserved from the device."},
    {F("fragmented_bytes", REP_COUNT, vp_memory, fragmented_bytes),
     .about = "Free bytes that are too scattered for one allocation."},
    {F("fragmented_of_bytes", REP_COUNT, vp_memory, fragmented_of_bytes),
     .about = "Bytes that `fragmented_bytes` is a part of."},
    {F("allocations", REP_COUNT, vp_memory, allocations), .about = "Number of allocations."},
    {F("frees", REP_COUNT, vp_memory, frees), .about = "Number of frees."},
    {F("end_bytes", REP_COUNT, vp_memory, end_bytes), .about = "Bytes in use at the end."},
    {F("allocated_bytes", REP_COUNT, vp_memory, allocated_bytes),
     .about = "Sum of the sizes of all allocations."},
    {F("out_of_memory", REP_COUNT, vp_memory, out_of_memory), .about = "Requests that failed."},
    {F("steps", REP_COUNT, vp_memory, steps), .about = "Whole steps in the capture."},
    {F("step_allocations", REP_COUNT, vp_memory, step_allocations),
     .about = "Allocations within these steps."},
    {ARRAY("sample_start_ps", REP_COUNTS, vp_memory, sample_start_ps, sample_count),
     .about = "Times of at most 200 points of the memory curve."},
    {ARRAY("sample_bytes", REP_COUNTS, vp_memory, sample_bytes, sample_count),
     .about = "Bytes in use at these points, each a local maximum."},
    {ARRAY("sample_reserved_bytes", REP_COUNTS, vp_memory, sample_reserved_bytes,
           sample_reserved_count),
     .about = "Bytes reserved at these points; empty if unknown."},
    {ARRAY("sample_fragmented_bytes", REP_COUNTS, vp_memory, sample_fragmented_bytes,
           sample_fragmented_count),
     .about = "Fragmented bytes at these points; empty if unknown."},
    {LIST("top", vp_memory, top, top_count, vp_memory_item, memory_item_fields),
     .about = "Largest holders at the peak, at most 20."},
    {F("leak_steps", REP_COUNT, vp_memory, leak_steps),
     .about = "Steps that could be judged for leaks."},
    {LIST("leaks", vp_memory, leaks, leak_count, vp_leak, leak_fields),
     .about = "Memory that steps do not give back, largest first, at most 20."},
    {END("allocator", "Memory of one allocator during the capture.")},
};

static const rep_field memory_fields[] = {
    {LIST("allocators", vp_report, memory, memory_count, vp_memory, allocator_fields),
     .about = "One entry per allocator."},
    {END("memory", "Memory that was in use during the capture.")},
};

static void json_put_memory_section(rep_json_out *o, const void *r)
{
    if (((const vp_report *)r)->memory_count)
        rep_put_object(o, memory_fields, r);
    else
        vp_json_null(&o->j);
}

/* ---- Planned memory ---- */

static const rep_field plan_buffer_fields[] = {
    {F("instruction", REP_TEXT, vp_plan_buffer, instruction), .needed = true, .null = "empty",
     .about = "HLO instruction that defines the buffer."},
    {F("opcode", REP_TEXT, vp_plan_buffer, opcode), .about = "Opcode of the instruction."},
    {F("kind", REP_WORD, vp_plan_buffer, kind), .words = rep_buffer_kind_words,
     .about = "Kind of the buffer."},
    {F("shape", REP_TEXT, vp_plan_buffer, shape), .about = "Shape with its layout."},
    {F("scope", REP_TEXT, vp_plan_buffer, scope), .about = "Scope of the instruction."},
    {F("source", REP_TEXT, vp_plan_buffer, source), .about = "Source line of the instruction."},
    {F("origin_scope", REP_TEXT, vp_plan_buffer, origin_scope), .null = "none, or `scope` is known",
     .about = "Scope of the instruction that it copies or fuses."},
    {F("origin_source", REP_TEXT, vp_plan_buffer, origin_source),
     .null = "none, or `source` is known",
     .about = "Source line of the instruction that it copies or fuses."},
    {F("bytes", REP_COUNT, vp_plan_buffer, bytes), .needed = true,
     .about = "Size with its layout."},
    {F("unpadded_bytes", REP_COUNT, vp_plan_buffer, unpadded_bytes),
     .about = "Size without padding."},
    {F("first", REP_COUNT, vp_plan_buffer, first), .unit = "event",
     .null = "live during the whole program",
     .about = "First event of the plan at which the buffer is live."},
    {F("last", REP_COUNT, vp_plan_buffer, last), .unit = "event",
     .null = "live during the whole program",
     .about = "Last event of the plan at which the buffer is live."},
    {F("unused_instructions", REP_COUNT, vp_plan_buffer, unused),
     .about = "Consecutive instructions around the peak that do not read the buffer."},
    {F("padded", REP_TEXT, vp_plan_buffer, padded), .null = "no padding",
     .about = "Dimension that the layout pads, such as `dimension 1: 200 of 256`."},
    {END("plan_buffer", "A buffer that is live at the peak of a memory plan.")},
};

static const rep_field plan_donation_fields[] = {
    {F("parameter", REP_TEXT, vp_plan_donation, parameter), .needed = true, .null = "empty",
     .about = "The argument."},
    {F("parameter_number", REP_COUNT, vp_plan_donation, parameter_number), .unit = "index",
     .about = "Position of the argument."},
    {F("scope", REP_TEXT, vp_plan_donation, scope), .about = "Name or scope of the argument."},
    {F("output", REP_TEXT, vp_plan_donation, output), .needed = true, .null = "empty",
     .about = "The result."},
    {F("output_scope", REP_TEXT, vp_plan_donation, output_scope),
     .about = "Scope of the instruction that makes the result."},
    {F("output_source", REP_TEXT, vp_plan_donation, output_source),
     .about = "Source line of the instruction that makes the result."},
    {F("bytes", REP_COUNT, vp_plan_donation, bytes), .needed = true,
     .about = "Bytes that donation saves."},
    {F("last_use", REP_COUNT, vp_plan_donation, last_use), .unit = "index",
     .about = "Position in the schedule of the last use of the argument."},
    {F("born", REP_COUNT, vp_plan_donation, born), .unit = "index",
     .about = "Position in the schedule at which the result is made."},
    {F("also_scratch", REP_BOOL, vp_plan_donation, also_scratch),
     .about = "True if the result's memory holds temporaries before, so that donation saves less."},
    {END("donation",
         "An argument that could give its memory to a result (`donate_argnums` in JAX).")},
};

static const rep_field plan_layer_fields[] = {
    {F("scope", REP_TEXT, vp_plan_layer, scope), .null = "buffers without a scope",
     .about = "The scope."},
    {ARRAY("bytes", REP_COUNTS, vp_plan_layer, bytes, byte_count),
     .about = "Bytes live at each event of `sample_event`."},
    {END("plan_layer", "Memory of one scope over the course of a plan.")},
};

static const rep_field plan_fields[] = {
    {F("host", REP_TEXT, vp_memory_plan, host), .about = "Host of the program."},
    {F("module", REP_TEXT, vp_memory_plan, module), .needed = true, .null = "empty",
     .about = "Name of the module."},
    {F("program_id", REP_ID, vp_memory_plan, program_id),
     .about = "XLA's identifier of the program, an unsigned 64-bit integer."},
    {F("space", REP_INTEGER, vp_memory_plan, space), .unit = "",
     .about = "Memory space by XLA's numbers: 0 is the device's main memory, 5 is host memory."},
    {F("ran", REP_BOOL, vp_memory_plan, ran),
     .about = "True if the program ran during the capture, false if it was only compiled."},
    {F("replayed", REP_BOOL, vp_memory_plan, replayed),
     .about = "True if `heap_peak_bytes` comes from the compiler's own events."},
    {F("peak_bytes", REP_COUNT, vp_memory_plan, peak_bytes),
     .about = "Peak of the plan: arguments, results, constants and heap."},
    {F("heap_peak_bytes", REP_COUNT, vp_memory_plan, heap_peak_bytes),
     .about = "Peak of the temporary buffers."},
    {F("peak_unpadded_bytes", REP_COUNT, vp_memory_plan, peak_unpadded_bytes),
     .about = "Peak without padding."},
    {F("peak_event", REP_COUNT, vp_memory_plan, peak_event), .unit = "event",
     .about = "Event of the plan at which the peak is reached."},
    {F("events", REP_COUNT, vp_memory_plan, events), .needed = true,
     .about = "Events of the plan: allocations and frees."},
    {F("peak_instruction", REP_TEXT, vp_memory_plan, peak_instruction),
     .about = "Instruction at the peak."},
    {F("instructions", REP_COUNT, vp_memory_plan, instructions),
     .about = "Instructions that do work, in the order of the schedule."},
    {F("reserved_bytes", REP_COUNT, vp_memory_plan, reserved_bytes), .needed = true,
     .about = "Bytes that the runtime reserves for the program."},
    {F("fragmentation_bytes", REP_COUNT, vp_memory_plan, fragmentation_bytes),
     .about = "`reserved_bytes` minus `peak_bytes`."},
    {F("parameter_bytes", REP_COUNT, vp_memory_plan, parameter_bytes), .needed = true,
     .about = "Size of the arguments."},
    {F("output_bytes", REP_COUNT, vp_memory_plan, output_bytes), .needed = true,
     .about = "Size of the results that do not reuse arguments."},
    {F("constant_bytes", REP_COUNT, vp_memory_plan, constant_bytes), .needed = true,
     .about = "Size of the constants."},
    {F("temp_bytes", REP_COUNT, vp_memory_plan, temp_bytes), .needed = true,
     .about = "Size of the temporary allocation."},
    {F("stack_bytes", REP_COUNT, vp_memory_plan, stack_bytes), .needed = true,
     .about = "Thread-local memory, which no sum includes."},
    {F("live_out_bytes", REP_COUNT, vp_memory_plan, live_out_bytes), .needed = true,
     .about = "Size of the results, including those in donated arguments."},
    {F("alias_bytes", REP_COUNT, vp_memory_plan, alias_bytes), .needed = true,
     .about = "Size of the arguments whose memory results reuse."},
    {F("untraced_bytes", REP_COUNT, vp_memory_plan, untraced_bytes),
     .about = "Temporary buffers without events, such as tables of pointers."},
    {F("xla_peak_bytes", REP_COUNT, vp_memory_plan, xla_peak_bytes),
     .about = "The compiler's own figure for all memory spaces together."},
    {F("remat_count", REP_COUNT, vp_memory_plan, remat_count), .needed = true,
     .about = "Instructions that compute discarded values again."},
    {LIST("live", vp_memory_plan, live, live_count, vp_plan_buffer, plan_buffer_fields),
     .about = "Buffers at the peak, largest first; they add up to `peak_bytes`."},
    {LIST("donations", vp_memory_plan, donations, donation_count, vp_plan_donation,
          plan_donation_fields),
     .about = "Arguments that could be donated, largest first, at most 100."},
    {F("donation_total", REP_COUNT, vp_memory_plan, donation_total), .needed = true,
     .about = "Number of such arguments."},
    {F("donation_bytes", REP_COUNT, vp_memory_plan, donation_bytes), .needed = true,
     .about = "Bytes that all these donations save."},
    {ARRAY("sample_event", REP_COUNTS, vp_memory_plan, sample_event, sample_count), .unit = "event",
     .about = "Events of the plan at which `layers` gives bytes; at most 160."},
    {LIST("layers", vp_memory_plan, layers, layer_count, vp_plan_layer, plan_layer_fields),
     .about = "Live bytes by scope, for the largest plans."},
    {END("memory_plan",
         "Memory of one program in one memory space, from the buffer assignment of the compiler.")},
};

static const rep_field programs_fields[] = {
    {F("host", REP_TEXT, vp_memory_programs, host), .about = "Host of the programs."},
    {F("space", REP_INTEGER, vp_memory_programs, space), .unit = "",
     .about = "Memory space by XLA's numbers."},
    {F("programs", REP_COUNT, vp_memory_programs, programs), .needed = true,
     .about = "Number of programs."},
    {F("largest", REP_TEXT, vp_memory_programs, largest),
     .about = "Module that takes the most memory."},
    {F("least_bytes", REP_COUNT, vp_memory_programs, least_bytes), .needed = true,
     .about = "Memory of the largest program alone."},
    {F("most_bytes", REP_COUNT, vp_memory_programs, most_bytes), .needed = true,
     .about =
         "Memory if arguments, results and constants of all programs stay and one program runs."},
    {END("memory_programs", "All programs that ran, in one memory space of one host.")},
};

static const rep_field quality_fields[] = {
    {F("code", REP_TEXT, vp_quality, code), .needed = true,
     .about = "Stable code of the problem, such as `truncated`."},
    {F("severity", REP_WORD, vp_quality, severity), .words = rep_severity_words,
     .about = "Severity of the problem."},
    {F("message", REP_TEXT, vp_quality, message), .needed = true, .about = "One sentence."},
    {F("file", REP_TEXT, vp_quality, file), .null = "no single file",
     .about = "File with the problem."},
    {F("event", REP_COUNT, vp_quality, event), .unit = "index", .null = "no single event",
     .about = "Number of the event."},
    {F("byte", REP_COUNT, vp_quality, byte), .unit = "bytes", .null = "no single place",
     .about = "Offset in the file."},
    {F("partial", REP_BOOL, vp_quality, partial),
     .about = "True if figures are incomplete because of the problem."},
    {END("quality", "A problem of the data that affects the report.")},
};

typedef struct mfu_mean {
    int64_t devices;
    double mfu;
} mfu_mean;

static const rep_field mfu_mean_fields[] = {
    {F("devices", REP_COUNT, mfu_mean, devices), .needed = true,
     .about = "Devices that computed and whose peak is known."},
    {F("mfu", REP_NUMBER, mfu_mean, mfu), .unit = "share", .null = "no such device",
     .about = "Mean of their MFU, each over its own window."},
    {END("mfu_mean", "Mean MFU over devices.")},
};

static void put_mfu_mean(rep_json_out *o, const void *base)
{
    size_t devices;
    mfu_mean mean = {.mfu = rep_mean_mfu(base, &devices)};
    mean.devices = (int64_t)devices;
    rep_put_object(o, mfu_mean_fields, &mean);
}

static const rep_field rank_fields[] = {
    {F("host", REP_TEXT, vp_rank, host), .about = "Name of the host."},
    {F("rank", REP_INTEGER, vp_rank, rank), .unit = "", .about = "Its rank, from 0."},
    {END("rank", "A host's rank in its job.")},
};

const rep_field rep_tail_fields[] = {
    {LIST("folded_scopes", vp_report, folded, folded_count, vp_folded_scope, folded_fields),
     .about =
         "Scopes of the forward pass with their backward and rematerialized work, by total time."},
    {LIST("modules", vp_report, modules, module_count, vp_module, module_fields),
     .about = "Compiled programs."},
    {F("steps", REP_OBJECT, vp_report, steps), .fields = steps_fields, .full = true,
     .about = "Steps and their statistics."},
    {LIST("gaps", vp_report, gaps, gap_count, vp_gap, gap_fields), .full = true,
     .about = "The longest idle gaps of each device, longest first."},
    {LIST("idle_labels", vp_report, idle_labels, idle_label_count, vp_idle_label,
          idle_label_fields),
     .full = true, .about = "Idle time by cause and host event, largest first."},
    {LIST("collectives", vp_report, collectives, collective_count, vp_collective,
          collective_fields),
     .full = true, .about = "Collectives by exposed time, largest first."},
    {LIST("transfers", vp_report, transfers, transfer_count, vp_transfer, transfer_fields),
     .full = true, .about = "Copies by device and direction."},
    {F("compile", REP_OBJECT, vp_report, compile), .fields = compile_fields, .full = true,
     .about = "Compilation."},
    {F("balance", REP_OBJECT, vp_report, balance), .fields = balance_fields, .full = true,
     .about = "Balance between devices."},
    {MADE("mfu_mean", REP_OBJECT, put_mfu_mean), .full = true, .fields = mfu_mean_fields,
     .about = "Mean MFU over devices."},
    {.key = "launch",
     .type = REP_OBJECT,
     .fields = rep_launch_fields,
     .full = true,
     .about = "Kernel launches."},
    {LIST("host_ops", vp_report, host_ops, host_op_count, vp_host_op, host_op_fields), .full = true,
     .about = "Host functions and calls by self time; the first 100 of each host and the longest "
              "blocking calls."},
    {F("host_op_total", REP_COUNT, vp_report, host_op_total), .full = true,
     .about = "Number of such rows, listed or not."},
    {LIST("threads", vp_report, threads, thread_count, vp_thread, thread_fields), .full = true,
     .about = "Busiest host threads, in a profile without devices."},
    {LIST("activities", vp_report, activities, activity_count, vp_activity, activity_fields),
     .full = true, .later = true,
     .about = "What training threads do besides the program's own work."},
    {LIST("replays", vp_report, replays, replay_count, vp_replay, replay_fields), .full = true,
     .later = true, .about = "Programs replayed with their links, one for each host."},
    {LIST("user_functions", vp_report, user_functions, user_function_count, vp_user_function,
          user_function_fields),
     .full = true, .later = true,
     .about = "Functions of the program on launching threads, and the replay without each."},
    {LIST("torch_costs", vp_report, torch_costs, torch_cost_count, vp_torch_cost,
          torch_cost_fields),
     .full = true, .later = true,
     .about = "What changes to a program of PyTorch without devices would save."},
    {F("torch", REP_OBJECT, vp_report, torch), .fields = torch_fields, .full = true,
     .optional = true, .about = "How a program of PyTorch trains."},
    {LIST("args", vp_report, args, arg_count, vp_values, arg_fields), .full = true,
     .about = "Arguments of zones, most frequent first; at most 100 per host."},
    {F("arg_total", REP_COUNT, vp_report, arg_total), .full = true, .needed = true,
     .about = "Number of such rows, listed or not."},
    {LIST("counters", vp_report, counters, counter_count, vp_values, counter_fields), .full = true,
     .about = "Counters; at most 100 per host."},
    {F("counter_total", REP_COUNT, vp_report, counter_total), .full = true, .needed = true,
     .about = "Number of such rows, listed or not."},
    {LIST("meta", vp_report, meta, meta_count, vp_meta, meta_fields), .full = true,
     .about = "Facts that the program recorded about itself, by key; at most 100 per host."},
    {F("meta_total", REP_COUNT, vp_report, meta_total), .full = true, .needed = true,
     .about = "Number of such rows, listed or not."},
    {F("world_size", REP_COUNT, vp_report, world_size), .optional = true, .unit = "",
     .null = "no file states it", .about = "Number of ranks of the job."},
    {LIST("ranks", vp_report, ranks, rank_count, vp_rank, rank_fields), .optional = true,
     .about = "Hosts whose rank is known, by rank."},
    {0},
};

const rep_field rep_memory_fields[] = {
    {.key = "memory",
     .type = REP_OBJECT,
     .fields = memory_fields,
     .put = json_put_memory_section,
     .full = true,
     .null = "the profile has no allocator events",
     .about = "Memory that was in use during the capture."},
    {LIST("memory_static", vp_report, memory_static, memory_static_count, vp_memory_plan,
          plan_fields),
     .full = true, .about = "Memory plans of the compiler by peak; programs that ran come first."},
    {LIST("memory_programs", vp_report, memory_programs, memory_programs_count, vp_memory_programs,
          programs_fields),
     .full = true, .about = "Memory of all programs together, by host and memory space."},
    {0},
};

const rep_field rep_quality_fields[] = {
    {LIST("quality", vp_report, quality, quality_count, vp_quality, quality_fields),
     .about = "Problems of the data that affect the report."},
    {0},
};
