/* The parts of the writer, which makes the files that a recording leaves behind: writer.c the
 * files, writer_json.c their JSON, writer_raw.c the image itself, writer_gpu.c lines of a GPU's own
 * records for both formats. Files of this room and their tests include this.
 *
 * Recovering (recover.c) uses the same writer on the image of a process that could not write its
 * files. The viewer loads it from the recorder's library, since the writer of JSON would be a
 * twentieth of the viewer. An .xplane.pb is written directly, Trace Event JSON with gzip level 1,
 * each to a temporary name that is changed at the end. */
#ifndef VP_CAPTURE_WRITER_H
#define VP_CAPTURE_WRITER_H

#include "trace/capture/gpu/gpu_activity.h"
#include "trace/vpcap/vpcap_xspace.h"

/* A vl_more_fn; ctx is a const gpu_activity. */
int wr_gpu_lines(void *ctx, vl_lines *l);

/* What is to be said of a GPU's records, a sentence each; gpu may be NULL. Returns how many, at
 * most WR_GPU_WARNINGS. The first may be gpu's own text; `text` holds the others. */
#define WR_GPU_WARNINGS 2
size_t wr_gpu_warnings(vp_str out[WR_GPU_WARNINGS], char text[100], const gpu_activity *gpu);

/* Writes Trace Event JSON as XLA's writer does (docs/reference/xprof.md#trace-json), with gzip
 * level 1, to fd. with_metadata: also `metadata` and `otherData`, which Perfetto does without. gpu
 * may be NULL. */
int wr_json(uint64_t *bytes, int fd, const vpcap *v, const gpu_activity *gpu, bool with_metadata);

/* Writes the image as a .vpcap, without the pages that were never given out. It does not hold what
 * a GPU told. */
int wr_raw(uint64_t *bytes, int fd, const vpcap *v);

#endif
