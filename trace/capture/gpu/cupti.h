/* The GPU's side of a recording: CUPTI, loaded when it is wanted and never linked, so that the same
 * library works where there is none. One at a time in a process, as there is one recording at a
 * time; the session starts and stops it. Only this room and the doctor include it.
 *
 *     cupti_start(VP_GPU_AUTO, ring);   a failure is a reason, not the end: record on
 *     …
 *     device_sync(); gpu_activity *a = cupti_stop();   NULL: nothing was started
 *     cap_write(…, a, …); gpu_activity_free(a);
 *
 * It is loaded by dlopen, and its buffers are decoded by offsets that are the same in CUDA 9 to 13
 * (cupti_decode, checked in the peer tests against NVIDIA's headers); a stand-in library plays
 * CUPTI where there is no GPU. It is subscribed to before its callbacks are registered, although
 * activity records need no subscriber: there is one a process, and registering without asking would
 * take another profiler's buffers away. Runtime and driver calls are both traced, since XLA
 * launches by the driver; of the driver's only those stay that launched something no runtime call
 * claims. Kernels are left on after a recording, as XLA leaves them, because ending that hangs in
 * some drivers; what CUPTI tells then goes back unread. Threads beyond the 32nd get smaller
 * buffers, beyond the 1,024th one each that is counted as lost, and never one together. Device work
 * and calls have a limit each; at that of the calls, the driver's that nobody will show make room.
 * A CUPTI of a version to come is tried, and the files say so. --gpu asks for the GPU even before
 * the program has loaded CUDA, and records the rest where there is none
 * (docs/reference/recording.md#gpu); a program that sets VP_GPU_REQUIRE itself gets the failure. */
#ifndef VP_CAPTURE_CUPTI_H
#define VP_CAPTURE_CUPTI_H

#include "include/view_profile_capture.h"
#include "trace/capture/gpu/gpu_activity.h"
#include "trace/capture/pool/recorder.h"

/* Starts tracing. With VP_GPU_AUTO and CAP_GPU_IF_USED only where cupti_is_used: otherwise nothing
 * is loaded, and with the latter that is no failure (0). VP_EGPU_UNAVAILABLE: the process does not
 * use the GPU, or there is no CUPTI or no driver; VP_EGPU_BUSY: another profiler holds CUPTI;
 * VP_EPERM. vp_error_last() has the sentence, and cupti_stop's result has code and sentence, too.
 * ring: if there are too many records, the newest stay. */
int cupti_start(vp_gpu how, bool ring);
/* Whether the process has loaded the driver (libcuda.so.1), as every program that uses the GPU has.
 */
bool cupti_is_used(void);
/* Ends tracing, waits for what the GPU still has to tell, and returns all of it in order; the
 * caller frees it. NULL: nothing was started. After a start that failed it has the reason and no
 * records. The caller must not hold a lock that a CUDA call could need. */
gpu_activity *cupti_stop(void);

/* The device work and calls so far that ended after from_ns (Unix), as cupti_stop would return
 * them, while tracing goes on. Work that the GPU has not finished is missing. NULL: nothing was
 * started, or no memory. */
gpu_activity *cupti_past(int64_t from_ns);

/* What is to be said of a start that succeeded, such as what is not traced; "": nothing. */
void cupti_caveat(char *out, size_t cap);

/* For tests: the path of a library that stands in for CUPTI. NULL: the usual places. */
void cupti_use_library(const char *path);
/* Path of the library that would be used, or an empty string; loads and unloads it. */
void cupti_find(char *out, size_t cap);

#endif
