/* Meaning of the attributes of single events, shared by the xplane and the JSON reader. Pure
 * functions over slices; nothing is allocated and nothing fails. Names:
 * docs/reference/xprof.md#stats. */
#ifndef VP_READ_ATTRS_H
#define VP_READ_ATTRS_H

#include "trace/base/map.h"
#include "trace/read/bytes/sink.h"

/* The number that a producer and its consumers share: a hash of (type, id), always positive. */
static inline int64_t rd_flow_key(uint64_t type, uint64_t id)
{
    int64_t key = (int64_t)((vp_mix(type + 1) ^ vp_mix(id * 2 + 1)) & INT64_MAX);
    return key ? key : 1;
}

/* Decodes an XFlow ("flow", docs/reference/xprof.md#stats): the direction in bits 0-1 (1 in, 2 out,
 * 3 both), the id above them. */
void rd_flow_attrs(sink_extra *x, uint64_t flow);

/* Completes an event of an allocator. The event's name gives the sign of SINK_MEM_DELTA; the
 * allocator's name ("GPU_4_bfc") gives SINK_MEM_DEVICE if unknown. An event without SINK_MEM_USED
 * is not an allocator event, so its other SINK_MEM_… attributes are removed. */
void rd_allocator_attrs(sink_extra *x, vp_str event, vp_str allocator);

static inline bool rd_has_attr(const sink_extra *x, sink_attr a)
{
    return x->has >> a & 1u;
}

/* Bytes in use, from the attributes of an allocator event; SINK_NO_VALUE if missing. XLA's
 * allocators, which report free bytes, reserve memory for stacks in addition to the heap. PyTorch's
 * reserved bytes include the heap. SINK_UNKNOWN: the sum overflows. */
int64_t rd_memory_in_use(int64_t used, int64_t free, int64_t reserved);

/* True for allocator events. */
static inline bool rd_is_memory(const sink_extra *x)
{
    return x->has & (1u << SINK_MEM_DELTA | 1u << SINK_MEM_USED);
}

#endif
