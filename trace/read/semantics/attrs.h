/* What the attributes of single events mean, wherever they are written: pure functions over slices,
 * shared by the xplane and the JSON reader. Names: docs/reference/xprof.md#stats. Nothing is owned.
 */
#ifndef VP_READ_ATTRS_H
#define VP_READ_ATTRS_H

#include "trace/base/map.h"
#include "trace/read/bytes/sink.h"

/* The number that a producer and its consumers share: a hash of (type, id), never negative or 0. */
static inline int64_t rd_flow_key(uint64_t type, uint64_t id)
{
    int64_t key = (int64_t)((vp_mix(type + 1) ^ vp_mix(id * 2 + 1)) & INT64_MAX);
    return key ? key : 1;
}

/* XFlow ("flow", docs/reference/xprof.md#stats): direction in bits 0-1 (1 in, 2 out, 3 both), what
 * it connects above them. */
void rd_flow_attrs(sink_extra *x, uint64_t flow);

/* Completes an event of an allocator: the sign of SINK_MEM_DELTA, by the event's name;
 * SINK_MEM_DEVICE, by the allocator's ("GPU_4_bfc"), if it is not known. An event without
 * SINK_MEM_USED is none of an allocator: its other SINK_MEM_… are taken away. */
void rd_allocator_attrs(sink_extra *x, vp_str event, vp_str allocator);

static inline bool rd_has_attr(const sink_extra *x, sink_attr a)
{
    return x->has >> a & 1u;
}

/* Bytes in use by what an allocator's event says, SINK_NO_VALUE where it does not. What XLA's
 * allocators (those that tell how much is free) reserve for stacks is in use beside the heap; what
 * PyTorch's reserve includes the heap. SINK_UNKNOWN: more than there is. */
int64_t rd_memory_in_use(int64_t used, int64_t free, int64_t reserved);

/* An event of an allocator. */
static inline bool rd_is_memory(const sink_extra *x)
{
    return x->has & (1u << SINK_MEM_DELTA | 1u << SINK_MEM_USED);
}

#endif
