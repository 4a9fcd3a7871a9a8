#include "trace/analyze/device/classify.h"

/* The alternatives of the rules in docs/reference/metrics.md#op-classes, in lower case. '^' anchors
 * a pattern at the start; all others are found anywhere. '_' stands for '-', '_' or nothing, '$'
 * for the end of the name that XLA numbers: "psum.896". */
static const char *const comm_names[] = {"nccl",
                                         "rccl",
                                         "^hccl",
                                         "cross_device_reduce",
                                         "multimem_all",
                                         "oneshot_all_reduce",
                                         "twoshot_all_reduce",
                                         "all_reduce",
                                         "all_gather",
                                         "reduce_scatter",
                                         "all_to_all",
                                         "collective_permute",
                                         "collective_broadcast",
                                         "sendrecv",
                                         "nvshmem",
                                         "deep_ep", /* "deepep", too */
                                         "dpsk::ep::",
                                         "^ppermute",
                                         "^psum$",
                                         "^psum_invariant$", /* as shard_map names it */
                                         "^pmax$",
                                         "^pmin$"};
static const char *const copy_names[] = {"memcpy",
                                         "memset",
                                         "hipmemcpy",
                                         "hipmemset",
                                         "copyhosttodevice",
                                         "copydevicetohost",
                                         "copydevicetodevice",
                                         "memory_copy_",
                                         "__amd_rocclr_copybuffer",
                                         "__amd_rocclr_fillbuffer",
                                         "infeed",
                                         "outfeed",
                                         "copy-start",
                                         "copy-done"};
static const char *const hlo_comm[] = {"all-reduce",  "all-gather", "all-to-all", "reduce-scatter",
                                       "collective-", "send",       "recv"};
static const char *const hlo_copy[] = {"infeed",    "outfeed",   "copy-start",
                                       "copy-done", "host send", "host recv"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool starts_with_any(vp_str s, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vp_str_starts_nocase(s, vp_str_of(prefixes[i])))
            return true;
    return false;
}

/* True if the pattern matches at the start of s. A '_' of the pattern matches '-' or nothing. */
static bool match_here(vp_str s, const char *pattern)
{
    size_t i = 0;
    for (; *pattern; pattern++) {
        char c = i < s.n ? vp_lower(s.p[i]) : 0;
        if (*pattern == '$')
            return !c || c == '.';
        if (*pattern == '_') {
            i += c == '_' || c == '-';
            continue;
        }
        if (c != *pattern)
            return false;
        i++;
    }
    return true;
}

static bool is_comm_name(vp_str s)
{
    for (size_t p = 0; p < COUNT(comm_names); p++) {
        const char *pattern = comm_names[p];
        if (*pattern == '^') {
            if (match_here(s, pattern + 1))
                return true;
            continue;
        }
        for (size_t i = 0; i < s.n; i++)
            if (vp_lower(s.p[i]) == *pattern && match_here(vp_str_skip(s, i), pattern))
                return true;
    }
    return false;
}

static bool is_copy_category(vp_str c)
{
    return vp_str_eq(c, VP_STR("gpu_memcpy")) || vp_str_eq(c, VP_STR("gpu_memset")) ||
           vp_str_eq(c, VP_STR("memcpy")) || vp_str_eq(c, VP_STR("memset"));
}

static bool is_kineto_category(vp_str c)
{
    return is_copy_category(c) || vp_str_eq(c, VP_STR("kernel")) ||
           vp_str_eq(c, VP_STR("mtia_ccp_events"));
}

/* A stream with only copies: each kind in its label is Memcpy… or Memset. */
static bool copies_only(vp_str label)
{
    vp_str kind;
    bool any = false;
    while (label.n && vp_take_until(&label, ',', label.n, &kind)) {
        if (!vp_str_starts_nocase(kind, VP_STR("mem")) ||
            !(vp_str_starts(kind, VP_STR("Memcpy")) || vp_str_starts(kind, VP_STR("Memset"))))
            return false;
        any = true;
    }
    return any;
}

static vp_str hlo_of(vp_str category, vp_str opcode)
{
    return !category.n || is_kineto_category(category) ? opcode : category;
}

vp_str cl_hlo(const trace *t, const trace_kind *k)
{
    return hlo_of(trace_str(t, k->category), trace_str(t, k->opcode));
}

vp_op_class cl_class_of(vp_str name, vp_str category, vp_str opcode, vp_str stream_label)
{
    vp_str hlo = hlo_of(category, opcode);
    if (is_copy_category(category) || starts_with_any(hlo, hlo_copy, COUNT(hlo_copy)))
        return VP_COPY;
    if (hlo.n)
        return starts_with_any(hlo, hlo_comm, COUNT(hlo_comm)) ? VP_COMMUNICATION : VP_COMPUTE;
    if (copies_only(stream_label) || starts_with_any(name, copy_names, COUNT(copy_names)))
        return VP_COPY;
    return is_comm_name(name) ? VP_COMMUNICATION : VP_COMPUTE;
}

vp_op_class cl_class(const trace *t, const trace_kind *k)
{
    return cl_class_of(trace_str(t, k->name), trace_str(t, k->category), trace_str(t, k->opcode),
                       trace_str(t, k->stream_label));
}
