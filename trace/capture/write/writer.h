/* Parts of the writer of a recording's files: writer.c the files, writer_json.c their JSON,
 * writer_raw.c the image itself, writer_gpu.c lines of GPU records for both formats. Private to
 * this module and its tests. The caller owns descriptors and images. Failures: VP_EIO, VP_ENOSPC,
 * VP_ENOMEM.
 *
 * Recovery (recover.c) uses the same writer for the image of a process that could not write its
 * files. The viewer loads it from the recorder's library, because the JSON writer would add a
 * twentieth to the viewer. An .xplane.pb is written directly, Trace Event JSON with gzip level 1,
 * each under a temporary name that is renamed at the end. */
#ifndef VP_CAPTURE_WRITER_H
#define VP_CAPTURE_WRITER_H

#include "trace/capture/gpu/gpu_activity.h"
#include "trace/vpcap/vpcap_xspace.h"

/* A vl_more_fn; ctx is a const gpu_activity. */
int wr_gpu_lines(void *ctx, vl_lines *l);

/* Warnings about a GPU's records, one sentence each; gpu may be NULL. Returns their number, at most
 * WR_GPU_WARNINGS. The first may be gpu's own text; `text` holds the others. */
#define WR_GPU_WARNINGS 2
size_t wr_gpu_warnings(vp_str out[WR_GPU_WARNINGS], char text[100], const gpu_activity *gpu);

/* Writes Trace Event JSON to fd in the form of XLA's writer (docs/reference/xprof.md#trace-json),
 * with gzip level 1. with_metadata: also `metadata` and `otherData`, which Perfetto does not need.
 * gpu may be NULL. */
int wr_json(uint64_t *bytes, int fd, const vpcap *v, const gpu_activity *gpu, bool with_metadata);

/* Writes the image as a .vpcap, without unused pages. It does not contain GPU records. */
int wr_raw(uint64_t *bytes, int fd, const vpcap *v);

#endif
