/* The parts of the writer: what a recording leaves behind as files. writer.c makes the files,
 * writer_json.c their JSON, writer_raw.c the image itself, writer_gpu.c turns a GPU's own records
 * into lines for both formats. Only trace/capture/writer*.c and their tests include this.
 *
 * Recovering (recover.c) is the same to the image of a process that did not write its files. The
 * viewer loads it from the recorder's library: the writer of JSON would be a twentieth of the
 * viewer. Files are .xplane.pb at once and Trace Event JSON with gzip level 1, each to a temporary
 * name and renamed. */
#ifndef VP_CAPTURE_WRITER_H
#define VP_CAPTURE_WRITER_H

#include "trace/capture/gpu/gpu_activity.h"
#include "trace/image/vpcap_xspace.h"

/* A vl_more_fn; ctx is a const gpu_activity. */
int wr_gpu_lines(void *ctx, vl_lines *l);

/* What is to be said of a GPU's records, a sentence a piece; gpu may be NULL. How many: at most
 * WR_GPU_WARNINGS. The first may be gpu's own text, text holds the others. */
#define WR_GPU_WARNINGS 2
size_t wr_gpu_warnings(vp_str out[WR_GPU_WARNINGS], char text[100], const gpu_activity *gpu);

/* Trace Event JSON as XLA's writer leaves it (xprof.md 3.1), gzip level 1, to fd. with_metadata:
 * `metadata` and `otherData` beside the events, which Perfetto does without. gpu may be NULL. */
int wr_json(uint64_t *bytes, int fd, const vpcap *v, const gpu_activity *gpu, bool with_metadata);

/* The image as a .vpcap, without the pages that nobody took; what a GPU told is not in it. */
int wr_raw(uint64_t *bytes, int fd, const vpcap *v);

#endif
