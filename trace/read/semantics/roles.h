/* Meaning of XLA's process, track and op names: which tracks carry ops, and which only repeat them.
 * Pure functions over slices, shared by the xplane and the JSON reader; nothing is allocated.
 * Names: docs/reference/xprof.md#line-names; tracks that must never be summed:
 * docs/reference/metrics.md#track-roles. */
#ifndef VP_READ_ROLES_H
#define VP_READ_ROLES_H

#include "trace/read/bytes/sink.h"

/* Ids of the lines that XProf derives from others (trace_utils.h: kThreadIdDerivedMin … the last
 * host XLA region). Thread ids of hosts may have these values by chance, so test only lines of
 * devices. */
#define RD_DERIVED_ID_MIN INT64_C(0xdeadbeef)
#define RD_DERIVED_ID_MAX (RD_DERIVED_ID_MIN + 289)

/* Role of a track by the names of its process and itself; PLAIN unless the process is
 * "/device:…". */
sink_role rd_role_of(vp_str process, vp_str track);
/* The same if the track's id is known: a derived line is DERIVED whatever it repeats. "Steps" and
 * "XLA Modules" keep their role, because no other line carries them on GPU. */
sink_role rd_role_of_id(vp_str process, vp_str track, int64_t id);
/* Kind of an XLA process, and its device number (-1: none). "/device:TPU:0" is TPU 0,
 * "/device:TPU:0 SparseCore 1" OTHER 0, "/host:CPU:3" (XLA's thread pool as a device) CPU 3,
 * "/host:CPU" and all other names HOST. ordinal may be NULL. */
sink_process_kind rd_process_kind(vp_str name, int32_t *ordinal);
/* Prefix of a device's thread names in an exported timeline: "TPU:0" of "/device:TPU:0"; empty for
 * hosts. The exporter names the thread "TPU:0 XLA Ops", because a pinned track does not show its
 * process. Overlapping events go to sibling threads "TPU:0 XLA Ops (2)" and so on. */
vp_str rd_device_prefix(vp_str process);
/* Inverse of the exporter's naming: "XLA Ops" for both names above. Other names are returned
 * unchanged. */
vp_str rd_bare_track(vp_str process, vp_str track);
/* The HLO opcode in an instruction's text: the word between the shape and the operands,
 * "all-reduce" in "%psum.896 = bf16[8]{0} all-reduce(bf16[8] %x)". Empty if there is none. */
vp_str rd_hlo_opcode(vp_str text);
/* "MemcpyH2D" of the track name "Stream #135(MemcpyH2D)"; else empty. */
vp_str rd_stream_label(vp_str track);
/* The bytes in "kind_src:pinned kind_dst:device size:123 dest:0 async:1" (older: "num_bytes:123"),
 * or SINK_UNKNOWN. */
int64_t rd_memcpy_bytes(vp_str details);
/* Number of devices that a collective joins, from its HLO text: the size of the first group of
 * "replica_groups={{0,1},{2,3}}", the 4 of "replica_groups=[2,4]<=[8]". SINK_UNKNOWN if the text
 * does not state it ("replica_groups={}": all). */
int64_t rd_group_size(vp_str text);

/* A cost that XLA gives for one execution. For a custom call, 0 means that XLA does not know the
 * kernel's cost, so SINK_UNKNOWN is returned. */
int64_t rd_cost(vp_str category, int64_t amount);

#endif
