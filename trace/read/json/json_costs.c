/* PyTorch ops whose cost follows from the shapes that Kineto writes. */
#include "trace/base/err.h"
#include "trace/read/json/json_reader.h"
#include "trace/read/semantics/op_cost.h"

enum { ARG_NUMBER, ARG_DIMS, ARG_TYPES, ARG_CONCRETE, ARG_FLOPS, ARGS };

static const vp_str arg_names[ARGS] = {
    [ARG_NUMBER] = VP_STR_INIT("External id"), [ARG_DIMS] = VP_STR_INIT("Input Dims"),
    [ARG_TYPES] = VP_STR_INIT("Input type"),   [ARG_CONCRETE] = VP_STR_INIT("Concrete Inputs"),
    [ARG_FLOPS] = VP_STR_INIT("flops"),
};

static void read_cost_args(const cj_reader *r, js_value args, js_value a[ARGS])
{
    vp_str key;
    js_value v;
    memset(a, 0, ARGS * sizeof *a);
    if (args.type != JS_NESTED || *args.s.p != '{')
        return;
    const char *p = args.s.p + 1, *end = args.s.p + args.s.n;
    while (js_next_member(&p, end, r->skip, &key, &v) == JS_MEMBER)
        for (size_t i = 0; i < ARGS; i++)
            if (vp_str_eq_nocase(key, arg_names[i]))
                a[i] = v;
}

static int new_kind(cj_reader *r, const cj_fields *f, const js_value a[ARGS], uint64_t key,
                    uint32_t *kind)
{
    const rd_op_shapes shapes = {a[ARG_DIMS].s, a[ARG_TYPES].s, a[ARG_CONCRETE].s};
    rd_op_cost_of cost;
    sink_kind k;
    VP_TRY(cj_kind_named(r, f, 0, &k));
    if (rd_op_cost(&cost, f->v[CJ_NAME].s, &shapes)) {
        k.flops = cost.flops;
        k.bytes = cost.bytes;
        k.dtype = cost.dtype;
        k.rows = cost.rows;
        k.columns = cost.columns;
        k.batch = cost.batch;
    }
    if (js_to_count(a[ARG_FLOPS].s) > 0)
        k.flops = js_to_count(a[ARG_FLOPS].s);
    return cj_kind_put(r, key, &k, kind);
}

bool cj_is_costed(const cj_reader *r, const cj_fields *f)
{
    vp_str cat = f->v[CJ_CAT].s;
    return !r->opts->device_only &&
           (vp_str_eq(cat, VP_STR("cpu_op")) || vp_str_eq(cat, VP_STR("Operator"))) &&
           rd_op_has_cost(f->v[CJ_NAME].s);
}

int cj_costed_op(cj_reader *r, const cj_fields *f, sink_extra *x, uint32_t *kind)
{
    js_value a[ARGS];
    int64_t number;
    uint64_t key = cj_hash(f->v[CJ_NAME], 60) ^ cj_hash(f->v[CJ_CAT], 61) * 3;
    read_cost_args(r, f->v[CJ_ARGS], a);
    if (js_to_id(a[ARG_NUMBER].s, &number) && number != SINK_NO_VALUE)
        sink_extra_set(x, SINK_EXTERNAL, number);
    for (size_t i = ARG_DIMS; i < ARGS; i++)
        key = vp_mix(key ^ cj_hash(a[i], 62 + i));
    cj_kind_get(r, key, kind);
    return *kind != SINK_NONE ? 0 : new_kind(r, f, a, key, kind);
}
