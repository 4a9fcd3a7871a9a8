/* Attributes in the args of XLA's events. */
#include "trace/base/err.h"
#include "trace/read/json/json_reader.h"
#include "trace/read/semantics/op_cost.h"
#include "trace/read/semantics/attrs.h"

/* XLA's args that are attributes (docs/reference/xprof.md#stats), sorted by length, which
 * distinguishes most keys. */
static const struct {
    vp_str key;
    sink_attr attr;
    bool weak; /* another key of the same attribute takes precedence */
} plain[] = {
    {VP_STR_INIT("_r"), SINK_ROOT, false},
    {VP_STR_INIT("run_id"), SINK_RUN, true},
    {VP_STR_INIT("iter_num"), SINK_STEP, true},
    {VP_STR_INIT("step_num"), SINK_STEP, false},
    {VP_STR_INIT("group_id"), SINK_GROUP, false},
    {VP_STR_INIT("index_on_host"), SINK_MEM_DEVICE, false},
    {VP_STR_INIT("bytes_reserved"), SINK_MEM_RESERVED, false},
    {VP_STR_INIT("correlation_id"), SINK_CORRELATION, false},
    {VP_STR_INIT("bytes_allocated"), SINK_MEM_USED, false},
    {VP_STR_INIT("bytes_available"), SINK_MEM_FREE, false},
    {VP_STR_INIT("allocation_bytes"), SINK_MEM_DELTA, false},
    {VP_STR_INIT("all_reduce_unique_id"), SINK_RUN, false},
};

static bool value_to_number(js_value v, int64_t *out)
{
    return v.type != JS_NESTED && js_to_id(v.s, out) && *out != SINK_NO_VALUE;
}

static void take_plain(sink_extra *x, vp_str key, js_value v)
{
    int64_t n;
    for (size_t i = 0; i < sizeof plain / sizeof *plain && plain[i].key.n <= key.n; i++)
        if (vp_str_eq(key, plain[i].key) && value_to_number(v, &n) &&
            !(plain[i].weak && rd_has_attr(x, plain[i].attr)))
            sink_extra_set(x, plain[i].attr, n);
}

void cj_attr_take(cj_attrs *a, vp_str key, js_value v)
{
    int64_t n;
    if (key.n > 3) {
        if (vp_str_eq(key, VP_STR("allocator_name")))
            a->allocator = v;
        else if (vp_str_eq(key, VP_STR("flow")) && value_to_number(v, &n))
            a->flow = (uint64_t)n;
        else
            take_plain(&a->x, key, v);
        return;
    }
    if (vp_str_eq(key, VP_STR("_r")))
        take_plain(&a->x, key, v);
    else if (!value_to_number(v, &n))
        return;
    else if (vp_str_eq(key, VP_STR("_pt")))
        a->producer_type = (uint64_t)n;
    else if (vp_str_eq(key, VP_STR("_ct")))
        a->consumer_type = (uint64_t)n;
    else if (vp_str_eq(key, VP_STR("_p")))
        sink_extra_set(&a->x, SINK_FLOW_OUT, n);
    else if (vp_str_eq(key, VP_STR("_c")))
        sink_extra_set(&a->x, SINK_FLOW_IN, n);
}

const sink_extra *cj_attrs_close(cj_attrs *a, js_value name)
{
    sink_extra *x = &a->x;
    if (rd_has_attr(x, SINK_FLOW_OUT))
        x->v[SINK_FLOW_OUT] = rd_flow_key(a->producer_type, (uint64_t)x->v[SINK_FLOW_OUT]);
    if (rd_has_attr(x, SINK_FLOW_IN))
        x->v[SINK_FLOW_IN] = rd_flow_key(a->consumer_type, (uint64_t)x->v[SINK_FLOW_IN]);
    rd_flow_attrs(x, a->flow);
    rd_allocator_attrs(x, name.s, a->allocator.s);
    return x->has ? x : NULL;
}

void cj_attrs_of(cj_attrs *a, js_skip_fn *skip, js_value args)
{
    vp_str key;
    js_value v;
    const char *p = args.s.p + 1, *end = args.s.p + args.s.n;
    if (args.type == JS_NESTED && *args.s.p == '{')
        while (js_next_member(&p, end, skip, &key, &v) == JS_MEMBER)
            cj_attr_take(a, key, v);
}

/* The attribute of an arg in Kineto's allocator events; SINK_ATTRS: none. */
static inline int memory_attr(vp_str key)
{
    switch (key.n) {
    case 4:
        return !VP_SAME(key.p, "Addr") ? SINK_ATTRS : SINK_MEM_ADDRESS;
    case 5:
        return !VP_SAME(key.p, "Bytes") ? SINK_ATTRS : SINK_MEM_DELTA;
    case 9:
        return !VP_SAME(key.p, "Device Id") ? SINK_ATTRS : SINK_MEM_DEVICE;
    case 14:
        return !VP_SAME(key.p, "Total Reserved") ? SINK_ATTRS : SINK_MEM_RESERVED;
    case 15:
        return !VP_SAME(key.p, "Total Allocated") ? SINK_ATTRS : SINK_MEM_USED;
    default:
        return SINK_ATTRS;
    }
}

/* Reads the value at *p. JS_MEMBER: a wanted number; JS_CLOSE: another value; else like
 * js_take_value. */
static inline js_step take_wanted_number(const char **p, const char *end, js_skip_fn *skip,
                                         bool wanted, int64_t *n)
{
    js_value v;
    if (wanted && js_take_int(p, end, n))
        return JS_MEMBER;
    js_step step = js_take_value(p, end, skip, &v);
    return step == JS_MEMBER && !(wanted && value_to_number(v, n)) ? JS_CLOSE : step;
}

static const sink_extra *memory_attrs(cj_attrs *a, cj_reader *r, js_value args)
{
    const uint32_t all = 1u << SINK_MEM_DELTA | 1u << SINK_MEM_DEVICE | 1u << SINK_MEM_RESERVED |
                         1u << SINK_MEM_USED | 1u << SINK_MEM_ADDRESS;
    cj_layout *layout = &r->memory_layout;
    uint32_t *link = &layout->first;
    js_step step = JS_CLOSE;
    int64_t n;
    int attr;
    if (args.type != JS_NESTED || *args.s.p != '{')
        return NULL;
    const char *p = args.s.p + 1, *end = args.s.p + args.s.n;
    a->allocator = (js_value){VP_STR("[memory]"), JS_STRING};
    while (a->x.has != all &&
           cj_next_field(&p, end, layout, &link, memory_attr, &attr) == JS_MEMBER &&
           (step = take_wanted_number(&p, end, r->skip, attr != SINK_ATTRS, &n)) >= 0)
        if (step == JS_MEMBER)
            sink_extra_set(&a->x, (sink_attr)attr, n);
    return rd_has_attr(&a->x, SINK_MEM_DELTA) ? &a->x : NULL;
}

/* The value of a member of args with nested objects. */
static bool find_nested_value(const cj_reader *r, vp_str args, vp_str name, js_value *v)
{
    const char *p = args.p + 1, *end = args.p + args.n;
    vp_str key;
    while (js_next_member(&p, end, r->skip, &key, v) == JS_MEMBER)
        if (vp_str_eq(key, name))
            return true;
    return false;
}

/* The value of a key, which is given with its quotes. Members of flat args are found by their
 * colons, from the end, where profilers write these keys. In a string a quote is escaped. */
static bool find_value(const cj_reader *r, vp_str args, vp_str key, js_value *v)
{
    vp_str before = args;
    if (args.n && memchr(args.p + 1, '{', args.n - 1))
        return find_nested_value(r, args, vp_str_head(vp_str_skip(key, 1), key.n - 2), v);
    for (size_t colon; (colon = vp_str_rfind_char(before, ':')) < before.n;) {
        before = vp_str_head(before, colon);
        vp_str member = before;
        while (member.n && js_is_space(member.p[member.n - 1]))
            member.n--;
        if (!vp_str_ends(member, key))
            continue;
        const char *end = args.p + args.n;
        const char *p = js_skip_space(args.p + colon + 1, end, false);
        return js_take_value(&p, end, r->skip, v) == JS_MEMBER;
    }
    return false;
}

static bool find_number(const cj_reader *r, vp_str args, vp_str key, int64_t *n)
{
    js_value v;
    return find_value(r, args, key, &v) && value_to_number(v, n);
}

static vp_str text_of_args(js_value args)
{
    return args.type == JS_NESTED && *args.s.p == '{' ? args.s : VP_STR_NONE;
}

static const sink_extra *launch_correlation(cj_attrs *a, const cj_reader *r, js_value args)
{
    int64_t n;
    if (find_number(r, text_of_args(args), VP_STR("\"correlation\""), &n) && n)
        sink_extra_set(&a->x, SINK_CORRELATION, n);
    return a->x.has ? &a->x : NULL;
}

static bool has_float64(const cj_reader *r, vp_str args)
{
    js_value types, dims;
    if (!find_value(r, args, VP_STR("\"Input type\""), &types) ||
        vp_str_find(types.s, VP_STR("\"double\"")) == types.s.n)
        return false;
    rd_op_shapes shapes = {.types = types.s};
    if (find_value(r, args, VP_STR("\"Input Dims\""), &dims))
        shapes.dims = dims.s;
    return rd_op_has_float64(&shapes);
}

/* Only a backward op has a forward thread other than 0. */
static const sink_extra *operator_attrs(cj_attrs *a, const cj_reader *r, js_value args)
{
    vp_str text = text_of_args(args);
    int64_t sequence, thread;
    if (!text.n)
        return NULL;
    /* rare in args without a sequence number */
    if (memchr(text.p, 'q', text.n) &&
        find_number(r, text, VP_STR("\"Sequence number\""), &sequence) && sequence >= 0 &&
        find_number(r, text, VP_STR("\"Fwd thread id\""), &thread) && thread >= 0)
        sink_extra_set(&a->x, thread ? SINK_BACKWARD : SINK_SEQUENCE, sequence);
    if (has_float64(r, text))
        sink_extra_set(&a->x, SINK_DOUBLE, 1);
    return a->x.has ? &a->x : NULL;
}

void cj_correlation(sink_extra *x, js_value v)
{
    int64_t n;
    if (value_to_number(v, &n) && n != 0)
        sink_extra_set(x, SINK_CORRELATION, n);
}

cj_caller cj_caller_of(vp_str cat)
{
    if (vp_str_eq(cat, VP_STR("cpu_op")) || vp_str_eq(cat, VP_STR("Operator")))
        return CJ_OPERATOR;
    bool is_launch = vp_str_ends(cat, VP_STR("runtime")) || vp_str_ends(cat, VP_STR("driver")) ||
                     vp_str_eq(cat, VP_STR("Runtime"));
    return is_launch ? CJ_LAUNCH : CJ_NO_CALLER;
}

const sink_extra *cj_launch_attrs(cj_attrs *a, const cj_reader *r, const cj_fields *f)
{
    cj_attrs_clear(a);
    return launch_correlation(a, r, f->v[CJ_ARGS]);
}

const sink_extra *cj_host_attrs(cj_attrs *a, cj_reader *r, const cj_fields *f)
{
    static const vp_str step = VP_STR_INIT("ProfilerStep#");
    js_value name = f->v[CJ_NAME], cat = f->v[CJ_CAT], args = f->v[CJ_ARGS];
    uint64_t n;
    cj_attrs_clear(a);
    if (vp_str_eq(name.s, VP_STR("[memory]")))
        return memory_attrs(a, r, args);
    if (!cat.s.n) {
        cj_attrs_of(a, r->skip, args);
        return cj_attrs_close(a, name);
    }
    cj_caller by = cj_caller_of(cat.s);
    if (by == CJ_LAUNCH)
        return launch_correlation(a, r, args);
    /* on a device's stream ("gpu_user_annotation") it only repeats the host's annotation */
    bool is_step = vp_str_starts(name.s, step) && !vp_str_starts(cat.s, VP_STR("gpu_"));
    if (!is_step && by == CJ_OPERATOR)
        return operator_attrs(a, r, args);
    if (!is_step)
        return NULL;
    vp_str rest = vp_str_skip(name.s, step.n);
    if (vp_take_uint(&rest, INT64_MAX, &n) && !rest.n)
        sink_extra_set(&a->x, SINK_STEP, (int64_t)n);
    return a->x.has ? &a->x : NULL;
}
