/* Recognizes collectives and computes their payload (docs/reference/metrics.md#collectives). Pure
 * functions; strings belong to the trace. */
#ifndef VP_ANALYZE_COMM_H
#define VP_ANALYZE_COMM_H

#include "include/view_profile.h"
#include "trace/model/trace.h"

typedef enum comm_kind {
    COMM_ALL_REDUCE,
    COMM_ALL_GATHER,
    COMM_REDUCE_SCATTER,
    COMM_ALL_TO_ALL,
    COMM_PERMUTE,
    COMM_BROADCAST,
    COMM_REDUCE,
    COMM_SEND_RECV,
    COMM_OTHER,
    COMM_KINDS
} comm_kind;

/* "all-reduce", …, "other". */
const char *comm_name(comm_kind k);
/* hlo: the HLO op that the op is or belongs to (category or opcode, may be empty); name: that of
 * the kernel ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL") or of the op. */
comm_kind comm_kind_of(vp_str hlo, vp_str name);
comm_kind comm_of(const trace *t, const trace_kind *k);
/* Payload of one call of one participant in bytes: the output of an all-gather, the input of a
 * reduce-scatter; VP_UNKNOWN. text: the HLO text, may be empty; shape: that of the result, used if
 * there is no text. */
int64_t comm_payload_of(comm_kind kind, vp_str text, vp_str shape, int64_t group_size);
int64_t comm_payload(const trace *t, const trace_kind *k);

#endif
