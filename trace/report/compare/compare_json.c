/* view_profile.compare/1: docs/reference/json.md#comparison. Key order is that of the tables, and
 * part of the contract. */
#include "trace/report/data/field_macros.h"

#include "trace/analyze/result/result_words.h"
#include "trace/report/compare/compare_formats.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/data/report_json.h"
#include "trace/report/labels/words.h"

/* ---- Deltas ---- */

static void json_put_delta_ratio(rep_json_out *o, const void *delta)
{
    const vp_delta *d = delta;
    if (d->a_ps > 0 && d->b_ps >= 0)
        vp_json_ratio(&o->j, d->b_ps, d->a_ps);
    else
        vp_json_null(&o->j);
}

static const rep_field delta_ratio_fields[] = {
    {F("a_ps", REP_COUNT, vp_delta, a_ps), .null = "only B has it", .about = "Time in A."},
    {F("b_ps", REP_COUNT, vp_delta, b_ps), .null = "only A has it", .about = "Time in B."},
    {F("delta_ps", REP_TIME, vp_delta, delta_ps), .null = "only one side is known",
     .about = "`b_ps` minus `a_ps`."},
    {MADE("ratio", REP_NUMBER, json_put_delta_ratio), .unit = "ratio",
     .null = "a side is unknown or 0", .about = "`b_ps` divided by `a_ps`."},
    {END("delta_ratio", "A time in both runs, with the ratio.")},
};

#define DELTA(key_, struct_, member_)                                                              \
    F(key_, REP_OBJECT, struct_, member_), .fields = rep_delta_fields

/* ---- Sides ---- */

typedef struct compared_side {
    const char *id, *name, *path;
} compared_side;

static const rep_field side_session_fields[] = {
    {F("id", REP_TEXT, compared_side, id), .about = "Identifier of the run."},
    {F("name", REP_TEXT, compared_side, name), .about = "Name of the run."},
    {F("path", REP_TEXT, compared_side, path), .about = "Path of the run."},
    {END("compared_session", "A run that is compared.")},
};

static const rep_field side_fields[] = {
    {.key = "session", .type = REP_OBJECT, .fields = side_session_fields, .about = "The run."},
    {END("compared_side", "One side of a comparison.")},
};

static void json_put_side_a(rep_json_out *o, const void *comparison)
{
    const vp_comparison *c = comparison;
    rep_put_object(o, side_fields, &(compared_side){c->a_id, c->a_name, c->a_path});
}

static void json_put_side_b(rep_json_out *o, const void *comparison)
{
    const vp_comparison *c = comparison;
    rep_put_object(o, side_fields, &(compared_side){c->b_id, c->b_name, c->b_path});
}

/* ---- Devices, ops, scopes ---- */

static const rep_field compared_device_fields[] = {
    {F("name", REP_TEXT, vp_compared_device, name), .about = "Name of the device in A, else in B."},
    {DELTA("window", vp_compared_device, window), .about = "Step or window."},
    {DELTA("compute", vp_compared_device, compute), .about = "Compute."},
    {DELTA("exposed_comm", vp_compared_device, exposed_comm), .about = "Exposed communication."},
    {DELTA("exposed_copy", vp_compared_device, exposed_copy), .about = "Exposed copies."},
    {DELTA("idle", vp_compared_device, idle), .about = "Idle time."},
    {DELTA("exposed_wait", vp_compared_device, wait),
     .about = "Part of the exposed communication before the last participant arrived."},
    {DELTA("exposed_transfer", vp_compared_device, transfer),
     .about = "The rest of the exposed communication."},
    {F("idle_causes", REP_DELTAS, vp_compared_device, causes), .words = result_cause_words,
     .about = "Idle time by cause; adds up to `idle`."},
    {F("cells", REP_DELTAS, vp_compared_device, cells), .words = result_cell_words,
     .about = "Compute time by use; adds up to `compute`."},
    {END("compared_device", "A device in both runs. Compute, exposed communication, exposed copies "
                            "and idle add up to the window.")},
};

static void json_put_op_ratio(rep_json_out *o, const void *op)
{
    json_put_delta_ratio(o, &((const vp_compared_op *)op)->self);
}

static void json_put_flop_time_ratio(rep_json_out *o, const void *op)
{
    vp_json_double(&o->j, rep_flop_time_ratio(op));
}

static const rep_field compared_op_fields[] = {
    {F("device", REP_TEXT, vp_compared_op, device), .null = "of all devices",
     .about = "Name of the device."},
    {F("class", REP_WORD, vp_compared_op, op_class), .words = rep_class_words,
     .about = "Class of the work."},
    {F("category", REP_TEXT, vp_compared_op, category), .null = "the profile has no category",
     .about = "Category in the profile."},
    {F("name", REP_TEXT, vp_compared_op, name), .null = "empty",
     .about = "Name of the op in A, else in B."},
    {F("scope", REP_TEXT, vp_compared_op, scope), .about = "Scope of the op."},
    {F("a_ps", REP_COUNT, vp_compared_op, self.a_ps), .null = "only B has it",
     .about = "Self time in A."},
    {F("b_ps", REP_COUNT, vp_compared_op, self.b_ps), .null = "only A has it",
     .about = "Self time in B."},
    {F("delta_ps", REP_TIME, vp_compared_op, self.delta_ps), .null = "only one side is known",
     .about = "`b_ps` minus `a_ps`."},
    {MADE("ratio", REP_NUMBER, json_put_op_ratio), .unit = "ratio",
     .null = "a side is unknown or 0", .about = "`b_ps` divided by `a_ps`."},
    {F("calls_a", REP_COUNT, vp_compared_op, calls_a),
     .about = "Calls in A, of all devices in the whole capture."},
    {F("calls_b", REP_COUNT, vp_compared_op, calls_b),
     .about = "Calls in B, of all devices in the whole capture."},
    {F("new", REP_BOOL, vp_compared_op, is_new), .about = "True if only B has the op."},
    {F("gone", REP_BOOL, vp_compared_op, is_gone), .about = "True if only A has the op."},
    {F("significant", REP_BOOL, vp_compared_op, significant),
     .about = "True if the difference is above the noise and not explained by more or less work."},
    {F("reason", REP_TEXT, vp_compared_op, reason),
     .about = "What explains most of the difference."},
    {F("flops_a", REP_COUNT, vp_compared_op, flops_a),
     .about = "FLOP in A, in the time of `a_ps`."},
    {F("flops_b", REP_COUNT, vp_compared_op, flops_b),
     .about = "FLOP in B, in the time of `b_ps`."},
    {MADE("time_per_flop_ratio", REP_NUMBER, json_put_flop_time_ratio), .unit = "ratio",
     .about = "Time per FLOP in B divided by that in A."},
    {F("span_calls_a", REP_NUMBER, vp_compared_op, span_calls_a), .unit = "calls",
     .about = "Calls in A of one device, in the time of `a_ps`."},
    {F("span_calls_b", REP_NUMBER, vp_compared_op, span_calls_b), .unit = "calls",
     .about = "Calls in B of one device, in the time of `b_ps`."},
    {F("name_b", REP_TEXT, vp_compared_op, name_b), .null = "the same name",
     .about = "Name of the op in B, if it differs."},
    {END("compared_op", "An op in both runs.")},
};

static void json_put_scope_depth(rep_json_out *o, const void *scope)
{
    vp_json_i64(&o->j, ((const vp_compared_scope *)scope)->depth);
}

static void json_put_scope_new(rep_json_out *o, const void *scope)
{
    const vp_delta *d = &((const vp_compared_scope *)scope)->total;
    vp_json_bool(&o->j, !d->a_ps && d->b_ps > 0);
}

static void json_put_scope_gone(rep_json_out *o, const void *scope)
{
    const vp_delta *d = &((const vp_compared_scope *)scope)->total;
    vp_json_bool(&o->j, d->a_ps > 0 && !d->b_ps);
}

static const rep_field compared_idle_fields[] = {
    {F("cause", REP_WORD, vp_compared_idle, cause), .words = result_cause_words,
     .about = "Cause of the idle time."},
    {F("label", REP_TEXT, vp_compared_idle, label),
     .about = "What the host did meanwhile; a stack frame as `function (file:line)`."},
    {F("user", REP_TEXT, vp_compared_idle, user), .null = "unknown",
     .about = "The innermost frame of the user's program around it."},
    {F("thread", REP_TEXT, vp_compared_idle, thread), .about = "Thread of the host."},
    {F("a_ps", REP_COUNT, vp_compared_idle, total.a_ps), .about = "Idle time in A."},
    {F("b_ps", REP_COUNT, vp_compared_idle, total.b_ps), .about = "Idle time in B."},
    {F("delta_ps", REP_TIME, vp_compared_idle, total.delta_ps), .about = "`b_ps` minus `a_ps`."},
    {END("compared_idle", "Idle time of a step or window by cause and host activity, mean over "
                          "devices.")},
};

static const rep_field compared_scope_fields[] = {
    {F("path", REP_TEXT, vp_compared_scope, path), .null = "empty", .about = "Path of the scope."},
    {MADE("depth", REP_COUNT, json_put_scope_depth), .needed = true, .unit = "",
     .about = "Depth in the tree, 0 for a root."},
    {F("a_ps", REP_COUNT, vp_compared_scope, total.a_ps), .null = "only B has it",
     .about = "Time of the subtree in A."},
    {F("b_ps", REP_COUNT, vp_compared_scope, total.b_ps), .null = "only A has it",
     .about = "Time of the subtree in B."},
    {F("delta_ps", REP_TIME, vp_compared_scope, total.delta_ps), .null = "only one side is known",
     .about = "`b_ps` minus `a_ps`."},
    {DELTA("backward", vp_compared_scope, backward),
     .about = "Part of it in the backward pass or in rematerialized work."},
    {F("cells", REP_DELTAS, vp_compared_scope, cells), .words = result_cell_words,
     .about = "Compute time of the subtree by use."},
    {MADE("new", REP_BOOL, json_put_scope_new), .needed = true,
     .about = "True if only B has the scope."},
    {MADE("gone", REP_BOOL, json_put_scope_gone), .needed = true,
     .about = "True if only A has the scope."},
    {END("compared_scope", "A scope whose time changed, in pre-order.")},
};

/* ---- Memory ---- */

static const rep_field compared_holder_fields[] = {
    {F("name", REP_TEXT, vp_compared_holder, name), .null = "of a whole scope",
     .about = "Name of the holder."},
    {F("scope", REP_TEXT, vp_compared_holder, scope), .about = "Scope of the holder."},
    {F("source", REP_TEXT, vp_compared_holder, source), .about = "Source line of the holder."},
    {F("a_bytes", REP_COUNT, vp_compared_holder, a_bytes), .null = "only B has it",
     .about = "Bytes in A."},
    {F("b_bytes", REP_COUNT, vp_compared_holder, b_bytes), .null = "only A has it",
     .about = "Bytes in B."},
    {F("delta_bytes", REP_TIME, vp_compared_holder, delta_bytes), .null = "only one side is known",
     .about = "`b_bytes` minus `a_bytes`."},
    {F("planned", REP_TEXT, vp_compared_holder, planned),
     .about = "Buffer of a memory plan that the holder is."},
    {END("compared_holder", "What holds memory at the peak, in both runs.")},
};

static const rep_field compared_memory_fields[] = {
    {F("allocator", REP_TEXT, vp_compared_memory, allocator), .null = "a program",
     .about = "Name of the allocator."},
    {F("program", REP_TEXT, vp_compared_memory, program), .null = "an allocator",
     .about = "Name of the program."},
    {F("space", REP_COUNT, vp_compared_memory, space), .unit = "", .null = "an allocator",
     .about = "Memory space by XLA's numbers."},
    {F("a_bytes", REP_COUNT, vp_compared_memory, a_bytes), .null = "only B has it",
     .about = "Peak in A."},
    {F("b_bytes", REP_COUNT, vp_compared_memory, b_bytes), .null = "only A has it",
     .about = "Peak in B."},
    {F("delta_bytes", REP_TIME, vp_compared_memory, delta_bytes), .null = "only one side is known",
     .about = "`b_bytes` minus `a_bytes`."},
    {LIST("holders", vp_compared_memory, holders, holder_count, vp_compared_holder,
          compared_holder_fields),
     .about = "What holds the memory, by the size of the difference."},
    {LIST("scopes", vp_compared_memory, scopes, scope_count, vp_compared_holder,
          compared_holder_fields),
     .about = "The same bytes by scope."},
    {END("compared_memory", "Peak of an allocator or of a memory plan, in both runs.")},
};

/* ---- The comparison ---- */

static const rep_field compared_capture_fields[] = {
    {F("id", REP_TEXT, vp_compared_capture, id), .about = "Identifier of the run."},
    {F("name", REP_TEXT, vp_compared_capture, name), .about = "Name of the run."},
    {F("path", REP_TEXT, vp_compared_capture, path), .about = "Path of the run."},
    {F("steps", REP_COUNT, vp_compared_capture, steps), .about = "Steps that count."},
    {F("median_ps", REP_COUNT, vp_compared_capture, median_ps), .about = "Median step."},
    {F("counts", REP_BOOL, vp_compared_capture, counts),
     .about = "False if it has no events or no steps, or is given twice."},
    {F("shown", REP_BOOL, vp_compared_capture, shown),
     .about = "True for the capture with the median step of its side: its ops, scopes and devices "
              "are compared."},
    {END("compared_capture", "A capture of a side.")},
};

static const rep_field noise_fields[] = {
    {F("steps_a", REP_COUNT, vp_comparison, steps_a), .about = "Steps of A that count."},
    {F("steps_b", REP_COUNT, vp_comparison, steps_b), .about = "Steps of B that count."},
    {F("threshold_ps", REP_COUNT, vp_comparison, threshold_ps),
     .about = "Difference from which it counts."},
    {F("verdict", REP_WORD, vp_comparison, verdict), .words = rep_verdict_words,
     .about = "The verdict."},
    {F("reason", REP_TEXT, vp_comparison, verdict_reason), .about = "Reason for the verdict."},
    {F("within_ps", REP_COUNT, vp_comparison, within_ps),
     .null = "no steps are compared, or too few", .about = "Noise of the steps within a capture."},
    {F("between_ps", REP_COUNT, vp_comparison, between_ps), .null = "each side has one capture",
     .about = "Noise of the medians of captures."},
    {END("noise", "Whether the difference is larger than the noise of the steps.")},
};

const rep_field rep_compare_fields[] = {
    {MADE("a", REP_OBJECT, json_put_side_a), .fields = side_fields, .about = "The first run."},
    {MADE("b", REP_OBJECT, json_put_side_b), .fields = side_fields, .about = "The second run."},
    {F("per_step", REP_BOOL, vp_comparison, per_step),
     .about = "True if times are per step, false if they are of the whole window."},
    {F("step", REP_OBJECT, vp_comparison, step), .fields = delta_ratio_fields,
     .about = "Mean step or window of the slowest device."},
    {F("median", REP_OBJECT, vp_comparison, median), .fields = delta_ratio_fields,
     .about = "Median step."},
    {F("p90", REP_OBJECT, vp_comparison, p90), .fields = delta_ratio_fields,
     .about = "90th percentile of the steps."},
    {LIST("devices", vp_comparison, devices, device_count, vp_compared_device,
          compared_device_fields),
     .about = "Devices."},
    {LIST("ops", vp_comparison, ops, op_count, vp_compared_op, compared_op_fields),
     .about = "Ops by the size of the difference, largest first."},
    {.key = "noise",
     .type = REP_OBJECT,
     .fields = noise_fields,
     .about = "Verdict against the noise."},
    {ARRAY("findings_new", REP_TEXTS, vp_comparison, findings_new, new_count),
     .about = "Identifiers of findings that only B has."},
    {ARRAY("findings_gone", REP_TEXTS, vp_comparison, findings_gone, gone_count),
     .about = "Identifiers of findings that only A has."},
    {ARRAY("caveats", REP_TEXTS, vp_comparison, caveats, caveat_count),
     .about = "Limits of the comparison."},
    {LIST("scopes", vp_comparison, scopes, scope_count, vp_compared_scope, compared_scope_fields),
     .about = "Scopes whose time changed."},
    {LIST("memory", vp_comparison, memory, memory_count, vp_compared_memory,
          compared_memory_fields),
     .about = "Memory at the peak."},
    {LIST("captures_a", vp_comparison, captures_a, captures_a_count, vp_compared_capture,
          compared_capture_fields),
     .about = "Captures of A, as given."},
    {LIST("captures_b", vp_comparison, captures_b, captures_b_count, vp_compared_capture,
          compared_capture_fields),
     .about = "Captures of B, as given."},
    {F("typical", REP_OBJECT, vp_comparison, typical), .fields = delta_ratio_fields,
     .about = "Mean step without irregular steps: the median step, and what periodic steps add."},
    {LIST("idle", vp_comparison, idle, idle_count, vp_compared_idle, compared_idle_fields),
     .about = "Idle time by host activity, by the size of the difference, largest first."},
    {F("certain_ps", REP_TIME, vp_comparison, certain_ps),
     .about =
         "At least so much of a difference of this sign is work that only one side does, and no "
         "noise; 0 if that is unknown."},
    {F("cause", REP_TEXT, vp_comparison, cause), .null = "nothing changed, or nothing explains it",
     .about = "What changed most, as a sentence."},
    {0},
};

static const vp_report no_compared_report; /* no field refers to one */

void rep_json_delta(vp_json *j, const char *key, const vp_delta *d, bool with_ratio)
{
    rep_json_out o = {.j = *j, .r = &no_compared_report};
    vp_json_key(&o.j, key);
    rep_put_object(&o, with_ratio ? delta_ratio_fields : rep_delta_fields, d);
    *j = o.j;
}

void rep_json_compared_op(vp_json *j, const vp_compared_op *op)
{
    rep_json_out o = {.j = *j, .r = &no_compared_report};
    rep_put_object(&o, compared_op_fields, op);
    *j = o.j;
}

int rep_compare_json(vp_buf *b, const vp_comparison *c)
{
    rep_json_out o = {.r = &no_compared_report};
    vp_json_init(&o.j, b);
    rep_json_head(&o.j, "view_profile.compare/1");
    rep_put_fields(&o, rep_compare_fields, c);
    vp_json_end_object(&o.j);
    return vp_buf_putc(b, '\n');
}
