/* Ops in XLA's form. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/read/json/json_reader.h"
#include "trace/read/semantics/roles.h"

/* Args of XLA ops that are read. Those before ARG_OWN are the same for every execution of an op and
 * define its kind. */
enum {
    ARG_CATEGORY,
    ARG_LONG_NAME,
    ARG_HLO_OP,
    ARG_MODULE,
    ARG_SCOPE,
    ARG_SOURCE,
    ARG_SHAPE,
    ARG_PROGRAM,
    ARG_BYTES,
    ARG_MODEL_FLOPS,
    ARG_FLOPS,
    ARG_MEMCPY,
    ARG_TWIN,
    ARG_OWN,
    ARG_OFFSET = ARG_OWN,
    ARG_DURATION,
    ARG_ORDINAL,
    ARG_LAUNCH, /* defines the kind, too, if requested */
    ARGS
};

static const vp_str xla_args[ARGS] = {
    [ARG_CATEGORY] = VP_STR_INIT("hlo_category"),
    [ARG_LONG_NAME] = VP_STR_INIT("long_name"),
    [ARG_HLO_OP] = VP_STR_INIT("hlo_op"),
    [ARG_MODULE] = VP_STR_INIT("hlo_module"),
    [ARG_SCOPE] = VP_STR_INIT("tf_op"),
    [ARG_SOURCE] = VP_STR_INIT("source"),
    [ARG_SHAPE] = VP_STR_INIT("shape_with_layout"),
    [ARG_PROGRAM] = VP_STR_INIT("program_id"),
    [ARG_BYTES] = VP_STR_INIT("bytes_accessed"),
    [ARG_MODEL_FLOPS] = VP_STR_INIT("model_flops"),
    [ARG_FLOPS] = VP_STR_INIT("flops"),
    [ARG_MEMCPY] = VP_STR_INIT("memcpy_details"),
    [ARG_TWIN] = VP_STR_INIT("deduplicated_name"),
    [ARG_OFFSET] = VP_STR_INIT("device_offset_ps"),
    [ARG_DURATION] = VP_STR_INIT("device_duration_ps"),
    [ARG_ORDINAL] = VP_STR_INIT("device_ordinal"),
    [ARG_LAUNCH] = VP_STR_INIT("kernel_details"),
};

/* Reads the values of these keys, and returns their number. All other args go to `attrs`, unless it
 * is NULL. */
static size_t read_op_args(const cj_reader *r, js_value args, js_value out[ARGS], cj_attrs *attrs)
{
    vp_str key;
    js_value v;
    size_t found = 0, n = r->opts->launches ? ARGS : ARG_LAUNCH;
    memset(out, 0, ARGS * sizeof *out);
    if (args.type != JS_NESTED || *args.s.p != '{')
        return 0;
    const char *p = args.s.p + 1, *end = args.s.p + args.s.n;
    while (js_next_member(&p, end, r->skip, &key, &v) == JS_MEMBER) {
        size_t i = 0;
        while (i < n && !vp_str_eq(key, xla_args[i]))
            i++;
        if (i < n) {
            found += out[i].type == JS_NONE;
            out[i] = v;
        } else if (attrs) {
            cj_attr_take(attrs, key, v);
        }
    }
    return found;
}

/* Where attributes are stored; NULL for op tables, which need none. */
static cj_attrs *start_attrs(const cj_reader *r, cj_attrs *a)
{
    cj_attrs_clear(a);
    return r->opts->device_only ? NULL : a;
}

static vp_str without_colons(vp_str s)
{
    while (s.n && s.p[s.n - 1] == ':')
        s.n--;
    return s;
}

/* The kind of an XLA op. With `cpu` it is named after its instruction, because the event's name is
 * only the primitive's (docs/reference/jax-cpu.md#async-ops). */
static int xla_kind(cj_reader *r, const cj_fields *f, const js_value a[ARGS], vp_str label,
                    bool is_op, bool cpu, uint32_t *kind)
{
    js_value name = cpu ? a[ARG_HLO_OP] : f->v[CJ_NAME];
    uint64_t key = cj_hash(name, vp_hash(label.p, label.n, 9));
    size_t size = name.s.n;
    int64_t program;
    for (size_t i = 0; i < ARG_OWN; i++) {
        key = vp_mix(key ^ cj_hash(a[i], i + 10));
        size += a[i].s.n;
    }
    if (a[ARG_LAUNCH].type) {
        key = vp_mix(key ^ cj_hash(a[ARG_LAUNCH], ARG_LAUNCH + 10));
        size += a[ARG_LAUNCH].s.n;
    }
    key = vp_mix(key ^ (uint64_t)is_op << 1 ^ (uint64_t)cpu);
    cj_kind_get(r, key, kind);
    if (*kind != SINK_NONE)
        return 0;
    VP_TRY(cj_scratch(r, size));
    sink_kind k = {.name = cj_text(r, name),
                   .long_name = cj_text(r, a[ARG_LONG_NAME]),
                   .category = cj_text(r, a[ARG_CATEGORY]),
                   .hlo_op = cj_text(r, a[ARG_HLO_OP]),
                   .module = cj_text(r, a[ARG_MODULE]),
                   .scope = without_colons(cj_text(r, a[ARG_SCOPE])),
                   .source = cj_text(r, a[ARG_SOURCE]),
                   .shape = cj_text(r, a[ARG_SHAPE]),
                   .memcpy = cj_text(r, a[ARG_MEMCPY]),
                   .twin_of = cj_text(r, a[ARG_TWIN]),
                   .launch = cj_text(r, a[ARG_LAUNCH]),
                   .stream_label = label,
                   .program_id = js_to_id(a[ARG_PROGRAM].s, &program) ? program : SINK_UNKNOWN,
                   .bytes = js_to_count(a[ARG_BYTES].s),
                   .flops = js_to_count(a[ARG_MODEL_FLOPS].s),
                   .is_op = is_op};
    if ((a[ARG_MODEL_FLOPS].type && k.flops < 0) || (a[ARG_BYTES].type && k.bytes < 0))
        cj_note(r, CJ_BAD_COST);
    k.opcode = rd_hlo_opcode(k.long_name.n ? k.long_name : k.name);
    k.group_size = rd_group_size(k.long_name.n ? k.long_name : k.name);
    if (k.flops == SINK_UNKNOWN)
        k.flops = js_to_count(a[ARG_FLOPS].s);
    if (k.bytes == SINK_UNKNOWN)
        k.bytes = rd_memcpy_bytes(k.memcpy);
    k.bytes = rd_cost(k.category, k.bytes);
    k.flops = rd_cost(k.category, k.flops);
    return cj_kind_put(r, key, &k, kind);
}

/* Sets the times of the device's own clock if the event has them; ts and dur are then its times on
 * the host's clock. */
static void use_device_clock(const cj_reader *r, const js_value a[ARGS], sink_event *e)
{
    int64_t base_ps, start, dur;
    if (!vp_str_to_i64(a[ARG_OFFSET].s, &start) || !vp_str_to_i64(a[ARG_DURATION].s, &dur) ||
        dur < 0 || __builtin_mul_overflow(r->base_us, INT64_C(1000000), &base_ps) ||
        __builtin_sub_overflow(start, base_ps, &start) || start < -VP_TIME_MAX_PS ||
        dur > VP_TIME_MAX_PS || start > VP_TIME_MAX_PS - dur)
        return;
    e->aligned_start_ps = e->start_ps;
    e->aligned_dur_ps = e->dur_ps;
    e->start_ps = start;
    e->dur_ps = dur;
}

/* Handles an event of an XLA device process. */
static int xla_event(cj_reader *r, const cj_fields *f, const js_value a[ARGS], cj_attrs *attrs,
                     cj_thread *t, bool is_op, sink_event *e)
{
    VP_TRY(cj_track_of(r, t, &e->track));
    vp_str label = is_op ? rd_stream_label(cj_thread_name(r, t)) : VP_STR_NONE;
    VP_TRY(xla_kind(r, f, a, label, is_op, false, &e->kind));
    use_device_clock(r, a, e);
    e->extra = cj_attrs_close(attrs, f->v[CJ_NAME]);
    return cj_emit(r, t, e);
}

/* Handles an op of XLA:CPU. It is one of the host's events, and is shown there, too. */
static int cpu_op(cj_reader *r, const cj_fields *f, sink_event *e)
{
    js_value a[ARGS];
    cj_attrs attrs;
    int64_t ordinal = 0;
    read_op_args(r, f->v[CJ_ARGS], a, start_attrs(r, &attrs));
    if (!a[ARG_HLO_OP].s.n)
        return 0;
    if (a[ARG_ORDINAL].type && (!js_to_id(a[ARG_ORDINAL].s, &ordinal) || ordinal < 0))
        ordinal = 0;
    VP_TRY(cj_cpu_track(r, ordinal, &e->track));
    VP_TRY(xla_kind(r, f, a, VP_STR_NONE, true, true, &e->kind));
    r->has_device = r->has_cpu_ops = true;
    attrs.x.has &= 1u << SINK_RUN; /* other attributes belong to the host event */
    e->extra = attrs.x.has ? &attrs.x : NULL;
    return cj_emit(r, NULL, e);
}

/* Handles an event without a category in a process that has no name so far. XLA writes names first,
 * but other tools reorder. It is an op if it looks like one; the role of its track is decided at
 * the end. */
static int unnamed_event(cj_reader *r, const cj_fields *f, cj_thread **thread, sink_event *e)
{
    cj_thread *t = *thread;
    js_value a[ARGS];
    cj_attrs attrs;
    if (!read_op_args(r, f->v[CJ_ARGS], a, start_attrs(r, &attrs)))
        return 0;
    if (!a[ARG_CATEGORY].type && !a[ARG_HLO_OP].type && !a[ARG_OFFSET].type)
        return 0;
    *thread = NULL;
    t->maybe_ops++;
    return xla_event(r, f, a, &attrs, t, true, e);
}

int cj_op(cj_reader *r, const cj_fields *f, int64_t start_ps, int64_t dur_ps, cj_thread **thread)
{
    sink_event e = {.start_ps = start_ps, .dur_ps = dur_ps, .aligned_start_ps = SINK_NO_TIME};
    js_value args = f->v[CJ_ARGS];
    cj_gpu_cat cat = cj_gpu_cat_of(f->v[CJ_CAT].s);
    cj_thread *t;
    *thread = NULL;
    if (cat != CJ_GPU_NONE)
        return cj_kineto_op(r, f, cat, &e);
    VP_TRY(cj_thread_of(r, f, &t));
    const cj_process *p = cj_process_at(r, t);
    if (p->is_device) {
        js_value a[ARGS];
        cj_attrs attrs;
        read_op_args(r, args, a, start_attrs(r, &attrs));
        return xla_event(r, f, a, &attrs, t, cj_role(r, t) == SINK_ROLE_OPS, &e);
    }
    *thread = t;
    if (args.type != JS_NESTED || f->v[CJ_CAT].s.n) /* XLA writes no category */
        return 0;
    if (!p->name)
        return unnamed_event(r, f, thread, &e);
    if (!r->has_xla_device && vp_str_find(args.s, VP_STR("\"hlo_op\"")) < args.s.n)
        return cpu_op(r, f, &e);
    return 0;
}
