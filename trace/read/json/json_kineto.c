/* Device work in the form of PyTorch's Kineto. */
#include "trace/base/err.h"
#include "trace/read/json/json_reader.h"

/* Kineto's categories of device work, in the spelling of any version
 * (docs/reference/metrics.md#op-classes). */
cj_gpu_cat cj_gpu_cat_of(vp_str cat)
{
    static const struct {
        vp_str cat;
        cj_gpu_cat what;
    } cats[] = {
        {VP_STR_INIT("kernel"), CJ_GPU_KERNEL},   {VP_STR_INIT("gpu_memcpy"), CJ_GPU_COPY},
        {VP_STR_INIT("gpu_memset"), CJ_GPU_COPY}, {VP_STR_INIT("memcpy"), CJ_GPU_COPY},
        {VP_STR_INIT("memset"), CJ_GPU_COPY},     {VP_STR_INIT("mtia_ccp_events"), CJ_GPU_MTIA}};
    char first = cat.n ? (char)(*cat.p | 0x20) : 0;
    if (first != 'k' && first != 'g' && first != 'm')
        return CJ_GPU_NONE;
    for (size_t i = 0; i < sizeof cats / sizeof *cats; i++)
        if (vp_str_eq_nocase(cat, cats[i].cat))
            return cats[i].what;
    return CJ_GPU_NONE;
}

/* The args of device work that are read. */
enum {
    ARG_DEVICE,
    ARG_CORRELATION,
    ARG_EXTERNAL,
    ARG_NODE, /* of a CUDA graph */
    ARG_BYTES,
    /* only NCCL kernels, since 2024: data of torch.distributed about the call */
    ARG_GROUP,
    ARG_IN,
    ARG_OUT,
    ARG_DTYPE,
    /* annotation of the part of the capture that made the node, with the keys of three versions of
     * PyTorch: the last is the current one */
    ARG_STR,
    ARG_ANNOTATION,
    ARG_NAME,
    /* launch parameters of a kernel, only if requested */
    ARG_REGISTERS,
    ARG_SHARED,
    ARG_GRID,
    ARG_BLOCK,
    ARG_OCCUPANCY,
    ARGS
};

static const vp_str arg_names[ARGS] = {
    [ARG_DEVICE] = VP_STR_INIT("device"),
    [ARG_CORRELATION] = VP_STR_INIT("correlation"),
    [ARG_BYTES] = VP_STR_INIT("bytes"),
    [ARG_GROUP] = VP_STR_INIT("Group size"),
    [ARG_IN] = VP_STR_INIT("In msg nelems"),
    [ARG_OUT] = VP_STR_INIT("Out msg nelems"),
    [ARG_DTYPE] = VP_STR_INIT("dtype"),
    [ARG_EXTERNAL] = VP_STR_INIT("External id"),
    [ARG_NODE] = VP_STR_INIT("graph node id"),
    [ARG_STR] = VP_STR_INIT("str"),
    [ARG_ANNOTATION] = VP_STR_INIT("annotation"),
    [ARG_NAME] = VP_STR_INIT("name"),
    [ARG_REGISTERS] = VP_STR_INIT("registers per thread"),
    [ARG_SHARED] = VP_STR_INIT("shared memory"),
    [ARG_GRID] = VP_STR_INIT("grid"),
    [ARG_BLOCK] = VP_STR_INIT("block"),
    [ARG_OCCUPANCY] = VP_STR_INIT("est. achieved occupancy %"),
};

/* True if args may end in an annotation: a text, or the number of its stream. Args of a kernel
 * without one end in numbers, and need not be read to the end. */
static bool may_be_annotated(js_value args)
{
    size_t n = args.type == JS_NESTED ? args.s.n : 0;
    while (n > 1 && (args.s.p[n - 1] == '}' || (unsigned char)args.s.p[n - 1] <= ' '))
        n--;
    vp_str tail = vp_str_skip((vp_str){args.s.p, n}, n > 40 ? n - 40 : 0);
    return n > 1 && (tail.p[tail.n - 1] == '"' || vp_str_find(tail, VP_STR("_stream\"")) < tail.n);
}

/* The args that are needed for an event of this category. */
static unsigned wanted_kineto_args(const cj_reader *r, cj_gpu_cat cat, const cj_fields *f)
{
    vp_str name = f->v[CJ_NAME].s;
    unsigned want = 1u << ARG_DEVICE;
    if (!r->opts->device_only || r->opts->operators)
        want |= 1u << ARG_CORRELATION;
    if (!r->opts->device_only && cat == CJ_GPU_KERNEL)
        want |= 1u << ARG_EXTERNAL;
    if (cat == CJ_GPU_COPY)
        want |= 1u << ARG_BYTES;
    if (vp_str_starts(name, VP_STR("nccl")))
        want |= 1u << ARG_GROUP | 1u << ARG_IN | 1u << ARG_OUT | 1u << ARG_DTYPE;
    if (may_be_annotated(f->v[CJ_ARGS]))
        want |= 1u << ARG_NODE | 1u << ARG_STR | 1u << ARG_ANNOTATION | 1u << ARG_NAME;
    if (r->opts->launches && cat == CJ_GPU_KERNEL)
        want |= (1u << ARGS) - (1u << ARG_REGISTERS);
    return want;
}

/* Older versions write "Bytes", and a copy may have its bytes twice: the last one is used. */
static bool is_arg(vp_str key, size_t arg)
{
    return arg == ARG_BYTES ? vp_str_eq_nocase(key, arg_names[arg])
                            : vp_str_eq(key, arg_names[arg]);
}

static void read_kineto_args(const cj_reader *r, js_value args, unsigned want, js_value a[ARGS])
{
    vp_str key;
    js_value v;
    memset(a, 0, ARGS * sizeof *a);
    if (args.type != JS_NESTED || *args.s.p != '{')
        return;
    const char *p = args.s.p + 1, *end = args.s.p + args.s.n;
    for (unsigned rest = want; rest && js_next_member(&p, end, r->skip, &key, &v) == JS_MEMBER;)
        for (unsigned left = want; left; left &= left - 1) {
            size_t i = (size_t)__builtin_ctz(left);
            if (!is_arg(key, i))
                continue;
            a[i] = v;
            rest &= i == ARG_BYTES ? ~0u : ~(1u << i);
            break;
        }
}

/* Bytes per element of a torch dtype, or SINK_UNKNOWN. */
static int64_t element_bytes(vp_str dtype)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"Float", 4}, {"BFloat16", 2}, {"Half", 2},         {"Long", 8},
                 {"Int", 4},   {"Double", 8},   {"Byte", 1},         {"Char", 1},
                 {"Bool", 1},  {"Short", 2},    {"ComplexFloat", 8}, {"ComplexDouble", 16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (vp_str_eq(dtype, vp_str_of(types[i].name)))
            return types[i].bytes;
    return vp_str_starts(dtype, VP_STR("Float8")) ? 1 : SINK_UNKNOWN;
}

/* Message size of a collective: the larger of input and output, which is the output of an
 * all-gather and the input of a reduce-scatter. */
static int64_t message_bytes(const js_value a[ARGS])
{
    int64_t in = js_to_count(a[ARG_IN].s), out = js_to_count(a[ARG_OUT].s), bytes;
    int64_t each = element_bytes(a[ARG_DTYPE].s), n = in > out ? in : out;
    return n < 0 || each < 0 || __builtin_mul_overflow(n, each, &bytes) ? SINK_UNKNOWN : bytes;
}

/* Writes the launch parameters like XLA's kernel_details; only characters of numbers are copied. */
static size_t put_launch(char launch[256], const js_value a[ARGS])
{
    static const char *const words[] = {"regs:", "shared:", "grid:", "block:", "occ_pct:"};
    size_t n = 0;
    for (size_t i = ARG_REGISTERS; i < ARGS; i++) {
        if (!a[i].type)
            continue;
        for (const char *z = words[i - ARG_REGISTERS]; *z; z++)
            launch[n++] = *z;
        for (size_t k = 0, most = n + 36; k < a[i].s.n && n < most; k++)
            if (strchr("0123456789,.-", a[i].s.p[k]) && a[i].s.p[k])
                launch[n++] = a[i].s.p[k];
        launch[n++] = ' ';
    }
    return n;
}

/* The annotation, if the event is a node of a graph; else nothing. Consumes its args. */
static js_value annotation_of(js_value a[ARGS])
{
    int64_t node;
    js_value said = {0};
    for (size_t i = ARG_STR; i <= ARG_NAME; i++) {
        said = a[i].type == JS_STRING ? a[i] : said;
        a[i].type = JS_NONE;
    }
    return js_to_id(a[ARG_NODE].s, &node) && node > 0 ? said : (js_value){0};
}

static int kineto_kind_of(cj_reader *r, const cj_fields *f, js_value a[ARGS], uint32_t *kind)
{
    js_value annotation = annotation_of(a);
    uint64_t key = cj_hash(f->v[CJ_NAME], cj_hash(f->v[CJ_CAT], 40));
    sink_kind k;
    for (size_t i = ARG_BYTES; i < ARGS; i++)
        if (a[i].type)
            key = vp_mix(key ^ cj_hash(a[i], 41 + i));
    if (annotation.type)
        key = vp_mix(key ^ cj_hash(annotation, 41 + ARGS));
    cj_kind_get(r, key, kind);
    if (*kind != SINK_NONE)
        return 0;
    VP_TRY(cj_kind_named(r, f, annotation.s.n, &k));
    k.scope = annotation.type ? cj_text(r, annotation) : VP_STR_NONE;
    char launch[256];
    k.launch = (vp_str){launch, put_launch(launch, a)};
    k.group_size = js_to_count(a[ARG_GROUP].s);
    k.bytes = js_to_count(a[ARG_BYTES].s);
    k.is_op = true;
    if (k.bytes == SINK_UNKNOWN)
        k.bytes = message_bytes(a);
    return cj_kind_put(r, key, &k, kind);
}

int cj_kineto_op(cj_reader *r, const cj_fields *f, cj_gpu_cat cat, sink_event *e)
{
    js_value a[ARGS];
    sink_extra x = {.has = 0};
    cj_thread *t;
    int64_t number;
    read_kineto_args(r, f->v[CJ_ARGS], wanted_kineto_args(r, cat, f), a);
    cj_correlation(&x, a[ARG_CORRELATION]);
    if (js_to_id(a[ARG_EXTERNAL].s, &number) && number > 0)
        sink_extra_set(&x, SINK_EXTERNAL, number);
    e->extra = x.has ? &x : NULL;
    r->has_device = true;
    VP_TRY(cj_thread_of(r, f, &t));
    VP_TRY(cj_gpu_track(r, t, a[ARG_DEVICE].type ? a[ARG_DEVICE] : f->v[CJ_PID], cat == CJ_GPU_MTIA,
                        &e->track));
    VP_TRY(kineto_kind_of(r, f, a, &e->kind));
    return cj_emit(r, t, e);
}
