/* The structs of a full report as JSON, field by field. */
#include "trace/report/data/field_macros.h"

#include <math.h>

#include "trace/analyze/result/result_words.h"
#include "trace/report/labels/mfu_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

#define SAMPLES_MAX 256u /* of a module's runs: order statistics at even distances */

/* ---- Scopes and modules ---- */

const rep_field rep_scope_fields[] = {
    {F("path", REP_TEXT, vp_scope, path), .needed = true},
    {F("name", REP_TEXT, vp_scope, name), .needed = true},
    {F("self_ps", REP_COUNT, vp_scope, self_ps), .needed = true},
    {F("total_ps", REP_COUNT, vp_scope, total_ps), .needed = true},
    {F("calls", REP_COUNT, vp_scope, calls), .needed = true},
    {F("bytes", REP_COUNT, vp_scope, bytes)},
    {F("flops", REP_COUNT, vp_scope, flops), .unsummed = true},
    {F("source", REP_TEXT, vp_scope, source)},
    {F("idle_before_ps", REP_COUNT, vp_scope, idle_before_ps), .needed = true, .full = true},
    {F("backward_ps", REP_COUNT, vp_scope, backward_ps), .needed = true},
    {F("remat_ps", REP_COUNT, vp_scope, remat_ps), .needed = true},
    {F("roof", REP_OBJECT, vp_scope, roof), .fields = rep_roof_fields, .full = true},
    {0},
};

static const rep_field folded_fields[] = {
    {F("path", REP_TEXT, vp_folded_scope, path), .needed = true},
    {F("forward_ps", REP_COUNT, vp_folded_scope, forward_ps), .needed = true},
    {F("backward_ps", REP_COUNT, vp_folded_scope, backward_ps), .needed = true},
    {F("remat_ps", REP_COUNT, vp_folded_scope, remat_ps), .needed = true},
    {F("calls", REP_COUNT, vp_folded_scope, calls), .needed = true},
    {0},
};

static void put_samples(rep_json_out *o, const void *base)
{
    const vp_module *m = base;
    size_t n = m->sample_count < SAMPLES_MAX ? m->sample_count : SAMPLES_MAX;
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < n; i++) /* the first is the least, the last the largest */
        vp_json_i64(&o->j, m->sample_ps[n < 2 ? i : i * (m->sample_count - 1) / (n - 1)]);
    vp_json_end_array(&o->j);
}

static const rep_field module_fields[] = {
    {F("name", REP_TEXT, vp_module, name), .needed = true},
    {F("program_id", REP_ID, vp_module, program_id)},
    {F("runs", REP_COUNT, vp_module, runs)},
    {F("total_ps", REP_COUNT, vp_module, total_ps), .needed = true},
    {F("p50_ps", REP_COUNT, vp_module, p50_ps)},
    {ARRAY("samples_ps", REP_COUNTS, vp_module, sample_ps, sample_count), .put = put_samples},
    {F("repeat_steps", REP_COUNT, vp_module, repeat_steps), .full = true},
    {F("repeat_runs", REP_COUNT, vp_module, repeat_runs), .full = true},
    {F("repeat_ps", REP_COUNT, vp_module, repeat_ps), .full = true},
    {0},
};

/* ---- Steps ---- */

static const rep_field step_device_fields[] = {
    {F("name", REP_DEVICE, vp_step_device, device)},
    {F("start_ps", REP_TIME, vp_step_device, start_ps)},
    {F("dur_ps", REP_COUNT, vp_step_device, dur_ps), .needed = true},
    {F("breakdown", REP_OBJECT, vp_step_device, breakdown), .fields = rep_breakdown_fields},
    {F("idle_causes", REP_BY_WORD, vp_step_device, cause_ps), .words = result_cause_words},
    {F("cells", REP_BY_WORD, vp_step_device, cell_ps), .words = result_cell_words},
    {F("peak_ps", REP_COUNT, vp_step_device, peak_ps), .needed = true, .unsummed = true},
    {F("exposed_wait_ps", REP_COUNT, vp_step_device, exposed_wait_ps)},
    {0},
};

/* Of the critical device; null where the step is the host's alone. */
static void put_step_breakdown(rep_json_out *o, const void *base)
{
    const vp_breakdown *b = rep_critical(base);
    if (b)
        rep_put_object(o, rep_breakdown_fields, b);
    else
        vp_json_null(&o->j);
}

static const rep_field grown_fields[] = {
    {F("name", REP_TEXT, vp_grown, name)},
    {F("thread", REP_TEXT, vp_grown, thread)},
    {F("process", REP_DEVICE, vp_grown, device)},
    {F("more_ps", REP_COUNT, vp_grown, more_ps), .needed = true},
    {F("usual_ps", REP_COUNT, vp_grown, usual_ps), .needed = true},
    {F("start_ps", REP_TIME, vp_grown, start_ps)},
    {F("dur_ps", REP_COUNT, vp_grown, dur_ps), .needed = true},
    {0},
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
    {F("number", REP_COUNT, vp_step, number)},
    {F("name", REP_TEXT, vp_step, name)},
    {F("start_ps", REP_TIME, vp_step, start_ps)},
    {F("dur_ps", REP_COUNT, vp_step, dur_ps), .needed = true},
    {F("device", REP_DEVICE, vp_step, device)},
    {MADE("breakdown", put_step_breakdown)},
    {LIST("devices", vp_step, devices, device_count, vp_step_device, step_device_fields)},
    {F("partial", REP_BOOL, vp_step, partial)},
    {F("warm_up", REP_BOOL, vp_step, warm_up)},
    {F("class", REP_WORD, vp_step, step_class), .words = rep_step_class_words},
    {F("grew", REP_OBJECT, vp_step, grew), .fields = grown_fields, .put = json_put_grown_zone},
    {0},
};

static const rep_field step_group_fields[] = {
    {F("class", REP_WORD, vp_step_group, step_class), .words = rep_step_class_words},
    {F("count", REP_COUNT, vp_step_group, count)},
    {F("median_ps", REP_COUNT, vp_step_group, median_ps)},
    {F("total_ps", REP_COUNT, vp_step_group, total_ps)},
    {F("period", REP_COUNT, vp_step_group, period)},
    {F("example", REP_COUNT, vp_step_group, example)},
    {0},
};

static void put_step_count(rep_json_out *o, const void *base)
{
    vp_json_i64(&o->j, (int64_t)((const vp_steps *)base)->count);
}

/* Without a step that counts there is no mean to divide by. */
static void put_cv(rep_json_out *o, const void *base)
{
    const vp_steps *s = base;
    vp_json_double(&o->j, s->counted > 0 ? s->cv : (double)NAN);
}

static const rep_field steps_fields[] = {
    {F("source", REP_WORD, vp_steps, source), .words = rep_step_source_words},
    {MADE("count", put_step_count)},
    {F("counted", REP_COUNT, vp_steps, counted)},
    {LIST("list", vp_steps, list, count, vp_step, step_fields)},
    {F("median_ps", REP_COUNT, vp_steps, median_ps)},
    {F("p90_ps", REP_COUNT, vp_steps, p90_ps)},
    {F("p95_ps", REP_COUNT, vp_steps, p95_ps)},
    {F("mad_ps", REP_COUNT, vp_steps, mad_ps)},
    {F("mean_ps", REP_COUNT, vp_steps, mean_ps)},
    {F("min_ps", REP_COUNT, vp_steps, min_ps)},
    {F("max_ps", REP_COUNT, vp_steps, max_ps)},
    {MADE("cv", put_cv)},
    {F("excess_ps", REP_COUNT, vp_steps, excess_ps)},
    {LIST("groups", vp_steps, groups, group_count, vp_step_group, step_group_fields)},
    {0},
};

/* ---- Idle ---- */

static const rep_field gap_fields[] = {
    {F("device", REP_DEVICE, vp_gap, device)},
    {F("start_ps", REP_TIME, vp_gap, start_ps)},
    {F("dur_ps", REP_COUNT, vp_gap, dur_ps), .needed = true},
    {F("host_late_ps", REP_COUNT, vp_gap, host_late_ps), .needed = true},
    {F("in_call_ps", REP_COUNT, vp_gap, in_call_ps), .needed = true},
    {F("latency_ps", REP_COUNT, vp_gap, latency_ps), .needed = true},
    {F("causes", REP_BY_WORD, vp_gap, cause_ps), .words = result_cause_words},
    {F("label", REP_TEXT, vp_gap, label)},
    {F("thread", REP_TEXT, vp_gap, thread)},
    {F("next_op", REP_TEXT, vp_gap, next_op)},
    {F("scope", REP_TEXT, vp_gap, scope)},
    {0},
};

static const rep_field idle_label_fields[] = {
    {F("device", REP_DEVICE, vp_idle_label, device)},
    {F("cause", REP_WORD, vp_idle_label, cause), .words = result_cause_words},
    {F("label", REP_TEXT, vp_idle_label, label)},
    {F("thread", REP_TEXT, vp_idle_label, thread)},
    {F("gaps", REP_COUNT, vp_idle_label, gaps), .needed = true},
    {F("total_ps", REP_COUNT, vp_idle_label, total_ps), .needed = true},
    {0},
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
    {F("device", REP_DEVICE, vp_collective, device)},
    {F("kind", REP_TEXT, vp_collective, kind), .needed = true},
    {F("name", REP_TEXT, vp_collective, name), .needed = true},
    {F("scope", REP_TEXT, vp_collective, scope)},
    {F("group_size", REP_COUNT, vp_collective, group_size)},
    {F("groups", REP_COUNT, vp_collective, groups)},
    {F("members", REP_TEXT, vp_collective, members)},
    {F("count", REP_COUNT, vp_collective, count), .needed = true},
    {F("bytes", REP_COUNT, vp_collective, bytes)},
    {F("total_ps", REP_COUNT, vp_collective, total_ps), .needed = true},
    {F("union_ps", REP_COUNT, vp_collective, union_ps), .needed = true},
    {F("exposed_ps", REP_COUNT, vp_collective, exposed_ps), .needed = true},
    {MADE("algorithm_gb_per_s", put_algorithm_rate)},
    {MADE("bus_gb_per_s", put_bus_rate)},
    {F("wait_ps", REP_COUNT, vp_collective, wait_ps)},
    {F("sample_stride", REP_COUNT, vp_collective, sample_stride), .needed = true},
    {ARRAY("sample_start_ps", REP_COUNTS, vp_collective, sample_start_ps, sample_count)},
    {ARRAY("sample_dur_ps", REP_COUNTS, vp_collective, sample_dur_ps, sample_count)},
    {ARRAY("sample_exposed_ps", REP_COUNTS, vp_collective, sample_exposed_ps, sample_count),
     .later = true},
    {0},
};

static void put_transfer_rate(rep_json_out *o, const void *transfer)
{
    vp_json_double(&o->j, rep_transfer_gb_per_s(transfer));
}

static const rep_field largest_fields[] = {
    {F("bytes", REP_COUNT, vp_transfer, largest_bytes)},
    {F("start_ps", REP_TIME, vp_transfer, largest_start_ps)},
    {F("dur_ps", REP_COUNT, vp_transfer, largest_dur_ps)},
    {0},
};

static const rep_field transfer_fields[] = {
    {F("device", REP_DEVICE, vp_transfer, device)},
    {F("direction", REP_WORD, vp_transfer, direction), .words = rep_direction_words},
    {F("count", REP_COUNT, vp_transfer, count), .needed = true},
    {F("bytes", REP_COUNT, vp_transfer, bytes)},
    {F("busy_ps", REP_COUNT, vp_transfer, busy_ps), .needed = true},
    {F("exposed_ps", REP_COUNT, vp_transfer, exposed_ps), .needed = true},
    {MADE("gb_per_s", put_transfer_rate)},
    {F("pageable", REP_COUNT, vp_transfer, pageable_count)},
    {F("pageable_ps", REP_COUNT, vp_transfer, pageable_ps)},
    {F("total_ps", REP_COUNT, vp_transfer, total_ps), .needed = true},
    {F("exposed_count", REP_COUNT, vp_transfer, exposed_count), .needed = true},
    {.key = "largest", .type = REP_OBJECT, .fields = largest_fields},
    {F("first_start_ps", REP_TIME, vp_transfer, first_start_ps)},
    {F("host_only", REP_BOOL, vp_transfer, host_only)},
    {0},
};

static void put_reference(rep_json_out *o, uint32_t device)
{
    static const rep_field fields[] = {{.key = "device", .type = REP_DEVICE}, {0}};
    if (device < o->r->device_count)
        rep_put_object(o, fields, &device);
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

/* Made from the rest of the report, here or after reading it back. */
static const rep_field balance_fields[] = {
    {MADE("devices", put_balance_devices)},
    {F("max_ps", REP_COUNT, vp_balance, max_ps)},
    {F("mean_ps", REP_COUNT, vp_balance, mean_ps)},
    {F("min_ps", REP_COUNT, vp_balance, min_ps)},
    {MADE("busiest", put_busiest)},
    {MADE("idlest", put_idlest)},
    {F("aligned", REP_BOOL, vp_balance, aligned)},
    {F("matched", REP_COUNT, vp_balance, matched)},
    {F("wait_ps", REP_COUNT, vp_balance, wait_ps)},
    {MADE("straggler", put_straggler)},
    {F("straggler_last", REP_COUNT, vp_balance, straggler_last)},
    {F("straggler_host", REP_TEXT, vp_balance, straggler_host)},
    {F("straggler_host_last", REP_COUNT, vp_balance, straggler_host_last)},
    {0},
};

/* ---- The host ---- */

static const rep_field function_fields[] = {
    {F("host", REP_TEXT, vp_function, host)},
    {F("function", REP_TEXT, vp_function, name), .needed = true},
    {F("compiles", REP_COUNT, vp_function, compiles), .needed = true},
    {F("calls", REP_COUNT, vp_function, calls), .needed = true},
    {F("cache_hits", REP_COUNT, vp_function, cache_hits)},
    {F("total_ps", REP_COUNT, vp_function, total_ps), .needed = true},
    {F("repeat_ps", REP_COUNT, vp_function, repeat_ps), .needed = true},
    {F("late", REP_COUNT, vp_function, late), .needed = true},
    {F("late_ps", REP_COUNT, vp_function, late_ps), .needed = true},
    {F("first_start_ps", REP_TIME, vp_function, first_start_ps)},
    {F("last_start_ps", REP_TIME, vp_function, last_start_ps)},
    {F("first_dur_ps", REP_COUNT, vp_function, first_dur_ps)},
    {F("last_dur_ps", REP_COUNT, vp_function, last_dur_ps)},
    {0},
};

static void put_recompiled(rep_json_out *o, const void *base)
{
    const vp_compile *c = base;
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < c->function_count; i++) {
        const vp_function *f = &c->functions[i];
        if (f->compiles < 2)
            continue;
        vp_json_begin_object(&o->j);
        vp_json_kcstr(&o->j, "host", f->host);
        vp_json_kcstr(&o->j, "function", f->name);
        vp_json_kcount(&o->j, "compiles", f->compiles);
        vp_json_kcount(&o->j, "calls", f->calls);
        vp_json_end_object(&o->j);
    }
    vp_json_end_array(&o->j);
}

static const rep_field compile_fields[] = {
    {F("count", REP_COUNT, vp_compile, count), .needed = true},
    {F("total_ps", REP_COUNT, vp_compile, total_ps), .needed = true},
    {F("lower_ps", REP_COUNT, vp_compile, lower_ps), .needed = true},
    {F("late", REP_COUNT, vp_compile, late), .needed = true},
    {F("late_ps", REP_COUNT, vp_compile, late_ps), .needed = true},
    {F("before_steps_ps", REP_COUNT, vp_compile, before_steps_ps)},
    {F("cache_hits", REP_COUNT, vp_compile, cache_hits)},
    {F("cache_misses", REP_COUNT, vp_compile, cache_misses)},
    {MADE("recompiled", put_recompiled)},
    {LIST("functions", vp_compile, functions, function_count, vp_function, function_fields)},
    {0},
};

static const rep_field host_op_fields[] = {
    {F("host", REP_TEXT, vp_host_op, host)},
    {F("thread", REP_TEXT, vp_host_op, thread)},
    {F("name", REP_TEXT, vp_host_op, name), .needed = true},
    {F("cause", REP_WORD, vp_host_op, cause), .words = result_cause_words},
    {F("blocking", REP_BOOL, vp_host_op, blocking)},
    {F("threads", REP_COUNT, vp_host_op, threads)},
    {F("calls", REP_COUNT, vp_host_op, calls), .needed = true},
    {F("total_ps", REP_COUNT, vp_host_op, total_ps), .needed = true},
    {F("self_ps", REP_COUNT, vp_host_op, self_ps), .needed = true},
    {F("idle_ps", REP_COUNT, vp_host_op, idle_ps), .needed = true},
    {F("blocked_ps", REP_COUNT, vp_host_op, blocked_ps)},
    {F("max_ps", REP_COUNT, vp_host_op, max_ps), .needed = true},
    {F("max_start_ps", REP_TIME, vp_host_op, max_start_ps)},
    {0},
};

static const rep_field thread_fields[] = {
    {F("process", REP_DEVICE, vp_thread, device)},
    {F("thread", REP_TEXT, vp_thread, name)},
    {F("steps", REP_BOOL, vp_thread, steps)},
    {F("start_ps", REP_TIME, vp_thread, start_ps)},
    {F("end_ps", REP_TIME, vp_thread, end_ps)},
    {F("work_ps", REP_COUNT, vp_thread, work_ps), .needed = true},
    {F("wait_ps", REP_COUNT, vp_thread, wait_ps), .needed = true},
    {F("lost_ps", REP_COUNT, vp_thread, lost_ps), .needed = true},
    {F("zone", REP_TEXT, vp_thread, zone)},
    {F("zone_ps", REP_COUNT, vp_thread, zone_ps), .needed = true},
    {F("wait", REP_TEXT, vp_thread, wait)},
    {F("wait_calls", REP_COUNT, vp_thread, wait_calls), .needed = true},
    {F("wait_start_ps", REP_TIME, vp_thread, wait_start_ps)},
    {F("wait_dur_ps", REP_COUNT, vp_thread, wait_dur_ps), .needed = true},
    {0},
};

/* ---- What the program says of itself ---- */

static const rep_field said_fields[] = {
    {F("text", REP_TEXT, vp_said, text), .needed = true},
    {F("count", REP_COUNT, vp_said, count), .needed = true},
    {0},
};

static const rep_field arg_fields[] = {
    {F("host", REP_TEXT, vp_values, host)},
    {F("zone", REP_TEXT, vp_values, zone), .needed = true},
    {F("key", REP_TEXT, vp_values, key), .needed = true},
    {F("numbers", REP_COUNT, vp_values, numbers), .needed = true},
    {F("min", REP_NUMBER, vp_values, min)},
    {F("mean", REP_NUMBER, vp_values, mean)},
    {F("max", REP_NUMBER, vp_values, max)},
    {F("sum", REP_NUMBER, vp_values, sum)},
    {F("last", REP_NUMBER, vp_values, last)},
    {F("texts", REP_COUNT, vp_values, texts), .needed = true},
    {F("distinct", REP_COUNT, vp_values, distinct)},
    {LIST("top", vp_values, top, top_count, vp_said, said_fields)},
    {F("others", REP_COUNT, vp_values, others), .needed = true},
    {0},
};

static const rep_field counter_fields[] = {
    {F("host", REP_TEXT, vp_values, host)},
    {F("name", REP_TEXT, vp_values, zone), .needed = true},
    {F("values", REP_COUNT, vp_values, numbers), .needed = true},
    {F("min", REP_NUMBER, vp_values, min)},
    {F("mean", REP_NUMBER, vp_values, mean)},
    {F("max", REP_NUMBER, vp_values, max)},
    {F("last", REP_NUMBER, vp_values, last)},
    {0},
};

static const rep_field meta_fields[] = {
    {F("host", REP_TEXT, vp_meta, host)},
    {F("key", REP_TEXT, vp_meta, key), .needed = true},
    {F("value", REP_TEXT, vp_meta, value), .needed = true},
    {0},
};

/* ---- Memory and quality ---- */

static const rep_field memory_item_fields[] = {
    {F("name", REP_TEXT, vp_memory_item, name), .needed = true},
    {F("bytes", REP_COUNT, vp_memory_item, bytes), .needed = true},
    {F("count", REP_COUNT, vp_memory_item, count)},
    {F("scope", REP_TEXT, vp_memory_item, scope)},
    {F("source", REP_TEXT, vp_memory_item, source)},
    {F("step", REP_COUNT, vp_memory_item, step)},
    {F("planned", REP_TEXT, vp_memory_item, planned)},
    {0},
};

static const rep_field leak_fields[] = {
    {F("name", REP_TEXT, vp_leak, name), .needed = true},
    {F("scope", REP_TEXT, vp_leak, scope)},
    {F("source", REP_TEXT, vp_leak, source)},
    {F("bytes", REP_COUNT, vp_leak, bytes), .needed = true},
    {F("count", REP_COUNT, vp_leak, count), .needed = true},
    {F("steps", REP_COUNT, vp_leak, steps), .needed = true},
    {0},
};

static const rep_field allocator_fields[] = {
    {F("host", REP_TEXT, vp_memory, host)},
    {F("allocator", REP_TEXT, vp_memory, allocator), .needed = true},
    {F("peak_bytes", REP_COUNT, vp_memory, peak_bytes)},
    {F("peak_start_ps", REP_TIME, vp_memory, peak_start_ps)},
    {F("total_bytes", REP_COUNT, vp_memory, total_bytes)},
    {F("lifetime_peak_bytes", REP_COUNT, vp_memory, lifetime_peak_bytes)},
    {F("reserved_bytes", REP_COUNT, vp_memory, reserved_bytes)},
    {F("reserved_peak_bytes", REP_COUNT, vp_memory, reserved_peak_bytes)},
    {F("fragmented_bytes", REP_COUNT, vp_memory, fragmented_bytes)},
    {F("fragmented_of_bytes", REP_COUNT, vp_memory, fragmented_of_bytes)},
    {F("allocations", REP_COUNT, vp_memory, allocations)},
    {F("frees", REP_COUNT, vp_memory, frees)},
    {F("end_bytes", REP_COUNT, vp_memory, end_bytes)},
    {F("allocated_bytes", REP_COUNT, vp_memory, allocated_bytes)},
    {F("out_of_memory", REP_COUNT, vp_memory, out_of_memory)},
    {F("steps", REP_COUNT, vp_memory, steps)},
    {F("step_allocations", REP_COUNT, vp_memory, step_allocations)},
    {ARRAY("sample_start_ps", REP_COUNTS, vp_memory, sample_start_ps, sample_count)},
    {ARRAY("sample_bytes", REP_COUNTS, vp_memory, sample_bytes, sample_count)},
    {ARRAY("sample_reserved_bytes", REP_COUNTS, vp_memory, sample_reserved_bytes,
           sample_reserved_count)},
    {ARRAY("sample_fragmented_bytes", REP_COUNTS, vp_memory, sample_fragmented_bytes,
           sample_fragmented_count)},
    {LIST("top", vp_memory, top, top_count, vp_memory_item, memory_item_fields)},
    {F("leak_steps", REP_COUNT, vp_memory, leak_steps)},
    {LIST("leaks", vp_memory, leaks, leak_count, vp_leak, leak_fields)},
    {0},
};

static const rep_field memory_fields[] = {
    {LIST("allocators", vp_report, memory, memory_count, vp_memory, allocator_fields)},
    {0},
};

static void json_put_memory_section(rep_json_out *o, const void *r)
{
    if (((const vp_report *)r)->memory_count)
        rep_put_object(o, memory_fields, r);
    else
        vp_json_null(&o->j);
}

/* ---- Memory as planned ---- */

static const rep_field plan_buffer_fields[] = {
    {F("instruction", REP_TEXT, vp_plan_buffer, instruction), .needed = true},
    {F("opcode", REP_TEXT, vp_plan_buffer, opcode)},
    {F("kind", REP_WORD, vp_plan_buffer, kind), .words = rep_buffer_kind_words},
    {F("shape", REP_TEXT, vp_plan_buffer, shape)},
    {F("scope", REP_TEXT, vp_plan_buffer, scope)},
    {F("source", REP_TEXT, vp_plan_buffer, source)},
    {F("origin_scope", REP_TEXT, vp_plan_buffer, origin_scope)},
    {F("origin_source", REP_TEXT, vp_plan_buffer, origin_source)},
    {F("bytes", REP_COUNT, vp_plan_buffer, bytes), .needed = true},
    {F("unpadded_bytes", REP_COUNT, vp_plan_buffer, unpadded_bytes)},
    {F("first", REP_COUNT, vp_plan_buffer, first)},
    {F("last", REP_COUNT, vp_plan_buffer, last)},
    {F("unused_instructions", REP_COUNT, vp_plan_buffer, unused)},
    {F("padded", REP_TEXT, vp_plan_buffer, padded)},
    {0},
};

static const rep_field plan_donation_fields[] = {
    {F("parameter", REP_TEXT, vp_plan_donation, parameter), .needed = true},
    {F("parameter_number", REP_COUNT, vp_plan_donation, parameter_number)},
    {F("scope", REP_TEXT, vp_plan_donation, scope)},
    {F("output", REP_TEXT, vp_plan_donation, output), .needed = true},
    {F("output_scope", REP_TEXT, vp_plan_donation, output_scope)},
    {F("output_source", REP_TEXT, vp_plan_donation, output_source)},
    {F("bytes", REP_COUNT, vp_plan_donation, bytes), .needed = true},
    {F("last_use", REP_COUNT, vp_plan_donation, last_use)},
    {F("born", REP_COUNT, vp_plan_donation, born)},
    {F("also_scratch", REP_BOOL, vp_plan_donation, also_scratch)},
    {0},
};

static const rep_field plan_layer_fields[] = {
    {F("scope", REP_TEXT, vp_plan_layer, scope)},
    {ARRAY("bytes", REP_COUNTS, vp_plan_layer, bytes, byte_count)},
    {0},
};

static const rep_field plan_fields[] = {
    {F("host", REP_TEXT, vp_memory_plan, host)},
    {F("module", REP_TEXT, vp_memory_plan, module), .needed = true},
    {F("program_id", REP_ID, vp_memory_plan, program_id)},
    {F("space", REP_INTEGER, vp_memory_plan, space)},
    {F("ran", REP_BOOL, vp_memory_plan, ran)},
    {F("replayed", REP_BOOL, vp_memory_plan, replayed)},
    {F("peak_bytes", REP_COUNT, vp_memory_plan, peak_bytes)},
    {F("heap_peak_bytes", REP_COUNT, vp_memory_plan, heap_peak_bytes)},
    {F("peak_unpadded_bytes", REP_COUNT, vp_memory_plan, peak_unpadded_bytes)},
    {F("peak_event", REP_COUNT, vp_memory_plan, peak_event)},
    {F("events", REP_COUNT, vp_memory_plan, events), .needed = true},
    {F("peak_instruction", REP_TEXT, vp_memory_plan, peak_instruction)},
    {F("instructions", REP_COUNT, vp_memory_plan, instructions)},
    {F("reserved_bytes", REP_COUNT, vp_memory_plan, reserved_bytes), .needed = true},
    {F("fragmentation_bytes", REP_COUNT, vp_memory_plan, fragmentation_bytes)},
    {F("parameter_bytes", REP_COUNT, vp_memory_plan, parameter_bytes), .needed = true},
    {F("output_bytes", REP_COUNT, vp_memory_plan, output_bytes), .needed = true},
    {F("constant_bytes", REP_COUNT, vp_memory_plan, constant_bytes), .needed = true},
    {F("temp_bytes", REP_COUNT, vp_memory_plan, temp_bytes), .needed = true},
    {F("stack_bytes", REP_COUNT, vp_memory_plan, stack_bytes), .needed = true},
    {F("live_out_bytes", REP_COUNT, vp_memory_plan, live_out_bytes), .needed = true},
    {F("alias_bytes", REP_COUNT, vp_memory_plan, alias_bytes), .needed = true},
    {F("untraced_bytes", REP_COUNT, vp_memory_plan, untraced_bytes)},
    {F("xla_peak_bytes", REP_COUNT, vp_memory_plan, xla_peak_bytes)},
    {F("remat_count", REP_COUNT, vp_memory_plan, remat_count), .needed = true},
    {LIST("live", vp_memory_plan, live, live_count, vp_plan_buffer, plan_buffer_fields)},
    {LIST("donations", vp_memory_plan, donations, donation_count, vp_plan_donation,
          plan_donation_fields)},
    {F("donation_total", REP_COUNT, vp_memory_plan, donation_total), .needed = true},
    {F("donation_bytes", REP_COUNT, vp_memory_plan, donation_bytes), .needed = true},
    {ARRAY("sample_event", REP_COUNTS, vp_memory_plan, sample_event, sample_count)},
    {LIST("layers", vp_memory_plan, layers, layer_count, vp_plan_layer, plan_layer_fields)},
    {0},
};

static const rep_field programs_fields[] = {
    {F("host", REP_TEXT, vp_memory_programs, host)},
    {F("space", REP_INTEGER, vp_memory_programs, space)},
    {F("programs", REP_COUNT, vp_memory_programs, programs), .needed = true},
    {F("largest", REP_TEXT, vp_memory_programs, largest)},
    {F("least_bytes", REP_COUNT, vp_memory_programs, least_bytes), .needed = true},
    {F("most_bytes", REP_COUNT, vp_memory_programs, most_bytes), .needed = true},
    {0},
};

static const rep_field quality_fields[] = {
    {F("code", REP_TEXT, vp_quality, code), .needed = true},
    {F("severity", REP_WORD, vp_quality, severity), .words = rep_severity_words},
    {F("message", REP_TEXT, vp_quality, message), .needed = true},
    {F("file", REP_TEXT, vp_quality, file)},
    {F("event", REP_COUNT, vp_quality, event)},
    {F("byte", REP_COUNT, vp_quality, byte)},
    {F("partial", REP_BOOL, vp_quality, partial)},
    {0},
};

static void put_mfu_mean(rep_json_out *o, const void *base)
{
    size_t devices;
    double mean = rep_mean_mfu(base, &devices);
    vp_json_begin_object(&o->j);
    vp_json_ki64(&o->j, "devices", (int64_t)devices);
    vp_json_kdouble(&o->j, "mfu", mean);
    vp_json_end_object(&o->j);
}

const rep_field rep_tail_fields[] = {
    {LIST("folded_scopes", vp_report, folded, folded_count, vp_folded_scope, folded_fields)},
    {LIST("modules", vp_report, modules, module_count, vp_module, module_fields)},
    {F("steps", REP_OBJECT, vp_report, steps), .fields = steps_fields, .full = true},
    {LIST("gaps", vp_report, gaps, gap_count, vp_gap, gap_fields), .full = true},
    {LIST("idle_labels", vp_report, idle_labels, idle_label_count, vp_idle_label,
          idle_label_fields),
     .full = true},
    {LIST("collectives", vp_report, collectives, collective_count, vp_collective,
          collective_fields),
     .full = true},
    {LIST("transfers", vp_report, transfers, transfer_count, vp_transfer, transfer_fields),
     .full = true},
    {F("compile", REP_OBJECT, vp_report, compile), .fields = compile_fields, .full = true},
    {F("balance", REP_OBJECT, vp_report, balance), .fields = balance_fields, .full = true},
    {MADE("mfu_mean", put_mfu_mean), .full = true},
    {.key = "launch", .type = REP_OBJECT, .fields = rep_launch_fields, .full = true},
    {LIST("host_ops", vp_report, host_ops, host_op_count, vp_host_op, host_op_fields),
     .full = true},
    {F("host_op_total", REP_COUNT, vp_report, host_op_total), .full = true},
    {LIST("threads", vp_report, threads, thread_count, vp_thread, thread_fields), .full = true},
    {LIST("args", vp_report, args, arg_count, vp_values, arg_fields), .full = true},
    {F("arg_total", REP_COUNT, vp_report, arg_total), .full = true, .needed = true},
    {LIST("counters", vp_report, counters, counter_count, vp_values, counter_fields), .full = true},
    {F("counter_total", REP_COUNT, vp_report, counter_total), .full = true, .needed = true},
    {LIST("meta", vp_report, meta, meta_count, vp_meta, meta_fields), .full = true},
    {F("meta_total", REP_COUNT, vp_report, meta_total), .full = true, .needed = true},
    {0},
};

const rep_field rep_memory_fields[] = {
    {.key = "memory",
     .type = REP_OBJECT,
     .fields = memory_fields,
     .put = json_put_memory_section,
     .full = true},
    {LIST("memory_static", vp_report, memory_static, memory_static_count, vp_memory_plan,
          plan_fields),
     .full = true},
    {LIST("memory_programs", vp_report, memory_programs, memory_programs_count, vp_memory_programs,
          programs_fields),
     .full = true},
    {0},
};

const rep_field rep_quality_fields[] = {
    {LIST("quality", vp_report, quality, quality_count, vp_quality, quality_fields)},
    {0},
};
