#include "trace/read/semantics/attrs.h"

/* Flows with the same number belong together, whatever their category. This type keeps them apart
 * from flows of producer types, which are small numbers. */
#define FLOW_TYPE 1024u

void rd_flow_attrs(sink_extra *x, uint64_t flow)
{
    int64_t key = rd_flow_key(FLOW_TYPE, flow >> 2);
    if (flow & 1u && !rd_has_attr(x, SINK_FLOW_IN))
        sink_extra_set(x, SINK_FLOW_IN, key);
    if (flow & 2u && !rd_has_attr(x, SINK_FLOW_OUT))
        sink_extra_set(x, SINK_FLOW_OUT, key);
}

#define MEMORY                                                                                     \
    (1u << SINK_MEM_DELTA | 1u << SINK_MEM_USED | 1u << SINK_MEM_FREE | 1u << SINK_MEM_RESERVED |  \
     1u << SINK_MEM_DEVICE | 1u << SINK_MEM_ADDRESS | 1u << SINK_MEM_LIFETIME |                    \
     1u << SINK_MEM_FRAGMENTED)

void rd_allocator_attrs(sink_extra *x, vp_str event, vp_str allocator)
{
    static const vp_str gpu = VP_STR_INIT("GPU_");
    uint64_t ordinal;
    if (!rd_has_attr(x, SINK_MEM_USED)) {
        x->has &= ~MEMORY;
        return;
    }
    if (rd_has_attr(x, SINK_MEM_DELTA) && x->v[SINK_MEM_DELTA] > 0 &&
        vp_str_eq(event, VP_STR("MemoryDeallocation")))
        x->v[SINK_MEM_DELTA] = -x->v[SINK_MEM_DELTA];
    vp_str rest = vp_str_skip(allocator, gpu.n);
    if (!rd_has_attr(x, SINK_MEM_DEVICE) && vp_str_starts(allocator, gpu) &&
        vp_take_uint(&rest, INT32_MAX, &ordinal))
        sink_extra_set(x, SINK_MEM_DEVICE, (int64_t)ordinal);
}

int64_t rd_memory_in_use(int64_t used, int64_t free, int64_t reserved)
{
    if (used >= 0 && free >= 0 && reserved > 0 && __builtin_add_overflow(used, reserved, &used))
        return SINK_UNKNOWN;
    return used;
}
