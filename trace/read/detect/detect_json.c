/* Detects the kind of a JSON file by the keys of its outermost object. */
#include "trace/read/detect/detect_parts.h"
#include "trace/read/json/json_lex.h"

static const char why_graph[] =
    "an execution graph (nodes without a timeline), not a profile; record one with torch.profiler "
    "and export_chrome_trace, or open this file with Chakra's tools";
static const char why_memory_timeline[] =
    "a PyTorch memory timeline (sizes over time, no operations); export the profile itself with "
    "export_chrome_trace";
static const char why_rocprof[] = "a rocprofv3 result, which is not supported; profile with "
                                  "jax.profiler or torch.profiler instead";
static const char why_speedscope[] =
    "a speedscope profile, which is not supported; open it at speedscope.app";
static const char why_no_events[] =
    "a JSON document without traceEvents, not a profile; check how it was written or copied";
static const char why_table[] =
    "a table that XProf made from a profile; ignored, the profile itself is read";

/* Keys of the outermost object; for an array, those of its first elements. */
enum {
    KEY_EVENTS = 1 << 0,         /* traceEvents: the Trace Event Format's own key */
    KEY_KINETO = 1 << 1,         /* only written by Kineto */
    KEY_SCHEMA_VERSION = 1 << 2, /* Kineto, and others */
    KEY_CONTEXT = 1 << 3,        /* may precede traceEvents and fill `head` */
    KEY_GRAPH = 1 << 4,
    KEY_SCHEMA = 1 << 5,
    KEY_ROCPROF = 1 << 6,
    KEY_TABLE = 1 << 7,
    KEY_PH = 1 << 8,
    KEY_TS = 1 << 9,
    KEY_PID = 1 << 10,
    KEY_TID = 1 << 11,
    KEY_ARGS = 1 << 12,
    KEY_OTHER = 1 << 13,
    KEY_CLOSED = 1 << 14,  /* not a key: the document ends within `head` */
    KEY_ARRAY = 1 << 15,   /* not a key: the outermost value is an array */
    KEY_NUMBERS = 1 << 16, /* not a key: an array of arrays */
};

static const struct {
    const char *key;
    unsigned bit;
} known_keys[] = {
    {"traceEvents", KEY_EVENTS},
    {"systemTraceEvents", KEY_CONTEXT},
    {"otherData", KEY_CONTEXT},
    {"metadata", KEY_CONTEXT},
    {"displayTimeUnit", KEY_CONTEXT},
    {"stackFrames", KEY_CONTEXT},
    {"beginningOfTime", KEY_CONTEXT},
    {"schemaVersion", KEY_SCHEMA_VERSION},
    {"deviceProperties", KEY_KINETO},
    {"computeProperties", KEY_KINETO},
    {"distributedInfo", KEY_KINETO},
    {"baseTimeNanoseconds", KEY_KINETO},
    {"record_shapes", KEY_KINETO},
    {"profile_memory", KEY_KINETO},
    {"with_stack", KEY_KINETO},
    {"with_flops", KEY_KINETO},
    {"with_modules", KEY_KINETO},
    {"cupti_version", KEY_KINETO},
    {"cuda_runtime_version", KEY_KINETO},
    {"roctracer_version", KEY_KINETO},
    {"trace_id", KEY_KINETO},
    {"traceName", KEY_KINETO},
    {"nodes", KEY_GRAPH},
    {"start_ts", KEY_GRAPH},
    {"workload_graph", KEY_GRAPH | KEY_SCHEMA},
    {"schema", KEY_SCHEMA},
    {"rocprofiler-sdk-tool", KEY_ROCPROF},
    {"cols", KEY_TABLE},
    {"podStatsSequence", KEY_TABLE},
    {"hloInfoMap", KEY_TABLE},
    {"memoryProfilePerAllocator", KEY_TABLE},
    {"byProgram", KEY_TABLE},
    {"ph", KEY_PH},
    {"ts", KEY_TS},
    {"pid", KEY_PID},
    {"tid", KEY_TID},
    {"args", KEY_ARGS},
};

static unsigned key_bit(vp_str key)
{
    for (size_t i = 0; i < sizeof known_keys / sizeof *known_keys; i++)
        if (vp_str_eq(key, vp_str_of(known_keys[i].key)))
            return known_keys[i].bit;
    return KEY_OTHER;
}

vp_str rd_skip_blank(vp_str t)
{
    if (vp_str_starts(t, VP_STR("\xef\xbb\xbf")))
        t = vp_str_skip(t, 3);
    while (t.n && js_is_space(t.p[0]))
        t = vp_str_skip(t, 1);
    return t;
}

/* Reads a string after its opening quote; *out is the content, still escaped. */
static void take_string(vp_str *t, vp_str *out)
{
    size_t i = 0;
    while (i < t->n && t->p[i] != '"')
        i += t->p[i] == '\\' ? 2 : 1;
    i = i < t->n ? i : t->n;
    *out = vp_str_head(*t, i);
    *t = vp_str_skip(*t, i + 1);
}

static unsigned key_bits(vp_str t)
{
    unsigned bits = t.p[0] == '[' ? KEY_ARRAY : 0;
    int depth = 0, key_depth = bits ? 2 : 1;
    if (bits && vp_str_starts(rd_skip_blank(vp_str_skip(t, 1)), VP_STR("[")))
        bits |= KEY_NUMBERS;
    while (t.n) {
        char c = t.p[0];
        t = vp_str_skip(t, 1);
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (c == '"') {
            vp_str s;
            take_string(&t, &s);
            if (depth == key_depth && vp_str_starts(rd_skip_blank(t), VP_STR(":")))
                bits |= key_bit(s);
        }
        if (depth == 0)
            return bits | KEY_CLOSED;
    }
    return bits;
}

/* True if an event in `head` has a "cat" that only Kineto writes (in the spelling of 2021 or
 * later). */
static bool has_kineto_cat(vp_str t)
{
    static const char *const cats[] = {"cpu_op",
                                       "user_annotation",
                                       "gpu_user_annotation",
                                       "kernel",
                                       "gpu_memcpy",
                                       "gpu_memset",
                                       "cuda_runtime",
                                       "cuda_driver",
                                       "hip_runtime",
                                       "ac2g",
                                       "Kernel",
                                       "Memcpy",
                                       "Memset",
                                       "Runtime",
                                       "Operator",
                                       "cpu_instant_event",
                                       "python_function",
                                       "mtia_ccp_events",
                                       "fwdbwd",
                                       "async_cpu_to_gpu"};
    for (;;) {
        vp_str cat;
        t = vp_str_skip(t, vp_str_find(t, VP_STR("\"cat\"")) + 5);
        t = rd_skip_blank(t);
        if (!t.n)
            return false;
        t = rd_skip_blank(vp_str_skip(t, 1)); /* the colon */
        t = vp_str_skip(t, 1);                /* the quote */
        take_string(&t, &cat);
        for (size_t i = 0; i < sizeof cats / sizeof *cats; i++)
            if (vp_str_eq(cat, vp_str_of(cats[i])))
                return true;
    }
}

static bool head_contains(vp_str text, const char *what)
{
    return vp_str_find(text, vp_str_of(what)) < text.n;
}

/* The producer of a trace. */
static rd_format json_producer(rd_format promised, unsigned bits, vp_str text)
{
    if (bits & KEY_KINETO || promised == RD_KINETO || has_kineto_cat(text) ||
        head_contains(text, "\"torch_profiler_kwargs\""))
        return RD_KINETO;
    if (bits & KEY_SCHEMA_VERSION)
        return RD_KINETO;
    if (head_contains(text, "\"highres-ticks\"") || head_contains(text, "\"/device:") ||
        head_contains(text, "\"/host:"))
        return RD_XLA_JSON;
    return RD_CHROME;
}

static bool is_event_array(unsigned bits)
{
    if (bits & (KEY_PH | KEY_TS) || (bits & KEY_PID && bits & KEY_TID))
        return true;
    /* A first event whose args (pictures, stacks) fill `head`. */
    return bits & KEY_ARGS && !(bits & (KEY_OTHER | KEY_CLOSED));
}

static bool is_trace(unsigned bits, rd_format promised)
{
    if (bits & KEY_ARRAY)
        return is_event_array(bits) || promised == RD_KINETO || promised == RD_XLA_JSON;
    if (bits & (KEY_EVENTS | KEY_KINETO) || promised == RD_KINETO || promised == RD_XLA_JSON)
        return true;
    /* Context of unknown length before traceEvents; without this check any JSON with "metadata"
     * would match. */
    return bits & KEY_CONTEXT && !(bits & (KEY_OTHER | KEY_CLOSED));
}

/* Known JSON that is not a timeline; RD_UNKNOWN: none of these. */
static rd_kind known_other(vp_str name, unsigned bits, vp_str text)
{
    if (bits & KEY_TABLE)
        return (rd_kind){RD_CACHE, false, why_table};
    if (bits & KEY_ROCPROF)
        return (rd_kind){RD_UNREADABLE, false, why_rocprof};
    if (bits & KEY_GRAPH && bits & KEY_SCHEMA)
        return (rd_kind){RD_UNREADABLE, false, why_graph};
    if (head_contains(text, "speedscope.app/file-format-schema"))
        return (rd_kind){RD_UNREADABLE, false, why_speedscope};
    if (bits & KEY_NUMBERS && (rd_name_has(name, VP_STR("memory_timeline")) ||
                               rd_name_has(name, VP_STR("memory-timeline"))))
        return (rd_kind){RD_UNREADABLE, false, why_memory_timeline};
    return (rd_kind){.format = RD_UNKNOWN};
}

rd_kind rd_sniff_json(vp_str name, rd_format promised, vp_str text)
{
    unsigned bits = key_bits(rd_skip_blank(text));
    if (!(bits & KEY_EVENTS)) {
        rd_kind other = known_other(name, bits, text);
        if (other.format != RD_UNKNOWN)
            return other;
    }
    if (promised != RD_UNKNOWN && bits & KEY_CLOSED && bits & (KEY_OTHER | KEY_GRAPH) &&
        !(bits & (KEY_EVENTS | KEY_KINETO | KEY_PH | KEY_ARRAY)))
        return (rd_kind){RD_UNREADABLE, false, why_no_events};
    if (is_trace(bits, promised))
        return (rd_kind){.format = json_producer(promised, bits, text)};
    return (rd_kind){.format = RD_UNKNOWN};
}
