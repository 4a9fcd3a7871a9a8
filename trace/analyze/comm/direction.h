/* Direction of a copy from the names that profilers use
 * (docs/reference/metrics.md#transfer-direction). Pure functions; strings belong to the trace. */
#ifndef VP_ANALYZE_DIRECTION_H
#define VP_ANALYZE_DIRECTION_H

#include "include/view_profile.h"
#include "trace/model/trace.h"

typedef enum pageable { PAGEABLE_UNKNOWN, PAGEABLE_NO, PAGEABLE_YES } pageable;

/* The direction in a name: "MemcpyH2D", "Memcpy DtoH (Device -> Pageable)", "CopyHostToDevice",
 * "MEMORY_COPY_HOST_TO_DEVICE", "hipMemcpyHtoDAsync"; VP_OTHER_COPY if it has none. */
vp_direction direction_of_name(vp_str name);
/* The direction of a TPU op, by its HLO category or opcode and its text: memory space 5 is that of
 * the host. */
vp_direction direction_of_hlo(vp_str hlo, vp_str text, vp_str shape);
vp_direction direction_of(const trace *t, const trace_kind *k);
/* The direction in Kineto's name ("… (Pageable -> Device)") or XLA's details ("kind_src:pageable
 * …"). */
pageable pageable_of(vp_str name, vp_str details);
/* The size of one such copy; VP_UNKNOWN. */
int64_t copy_bytes(const trace *t, const trace_kind *k);
/* The direction of a span on a host thread ("H2D Dispatch", "np.asarray(jax.Array)");
 * VP_OTHER_COPY: not a copy. */
vp_direction direction_of_host_span(vp_str name);

#endif
