/* What XLA's process, track and op names mean: which tracks carry ops, which only repeat them.
 * Pure functions over slices, shared by the xplane and the JSON reader. Names:
 * docs/reference/xprof.md#line-names; what must never be summed:
 * docs/reference/metrics.md#track-roles. Nothing is owned. */
#ifndef VP_READ_ROLES_H
#define VP_READ_ROLES_H

#include "trace/read/bytes/sink.h"

/* Ids of the lines that XProf derives from others (trace_utils.h: kThreadIdDerivedMin … the last
 * host XLA region). Thread ids of hosts may fall in here by chance: only ask for devices. */
#define RD_DERIVED_ID_MIN INT64_C(0xdeadbeef)
#define RD_DERIVED_ID_MAX (RD_DERIVED_ID_MIN + 289)

/* The role of a track, by its process's name and its own; PLAIN unless the process is "/device:…".
 */
sink_role rd_role_of(vp_str process, vp_str track);
/* The same, knowing the track's id: a derived line is DERIVED whatever it repeats, but "Steps" and
 * "XLA Modules" stay what they are, for nothing else carries them on GPU. */
sink_role rd_role_of_id(vp_str process, vp_str track, int64_t id);
/* The kind of an XLA process and its device ordinal (-1: none). "/device:TPU:0" is TPU 0,
 * "/device:TPU:0 SparseCore 1" OTHER 0, "/host:CPU:3" (XLA's thread pool as a device) CPU 3,
 * "/host:CPU" and everything else HOST. ordinal may be NULL. */
sink_process_kind rd_process_kind(vp_str name, int32_t *ordinal);
/* Our timeline of an XSpace names a device's thread "TPU:0 XLA Ops", since a track that is pinned
 * shows no process, and the siblings of that thread, where what overlaps on it lies, "TPU:0 XLA Ops
 * (2)" and on. Its exporter puts this and a space before the name: "TPU:0" of "/device:TPU:0";
 * empty for hosts. */
vp_str rd_device_prefix(vp_str process);
/* And this is what its reader takes for the name: "XLA Ops" of either. Any other name is itself. */
vp_str rd_bare_track(vp_str process, vp_str track);
/* The HLO opcode in an instruction's text: the word between the shape and the operands,
 * "all-reduce" of "%psum.896 = bf16[8]{0} all-reduce(bf16[8] %x)". Empty when there is none. */
vp_str rd_hlo_opcode(vp_str text);
/* "MemcpyH2D" of the track name "Stream #135(MemcpyH2D)"; else empty. */
vp_str rd_stream_label(vp_str track);
/* The bytes in "kind_src:pinned kind_dst:device size:123 dest:0 async:1" (older: "num_bytes:123"),
 * or SINK_UNKNOWN. */
int64_t rd_memcpy_bytes(vp_str details);
/* How many devices a collective joins, from its HLO text: the first group of
 * "replica_groups={{0,1},{2,3}}", the 4 of "replica_groups=[2,4]<=[8]". SINK_UNKNOWN where the text
 * does not say it ("replica_groups={}": all). */
int64_t rd_group_size(vp_str text);

/* A cost that XLA gives for one execution: of a custom call 0 means that XLA cannot know what the
 * kernel does, not that it does nothing. */
int64_t rd_cost(vp_str category, int64_t amount);

#endif
