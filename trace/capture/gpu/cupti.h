/* GPU activity of a recording by CUPTI, which is loaded at run time, so the library also works
 * without it. One user at a time per process, as there is one recording at a time; the session
 * starts and stops it. Private to this module and the doctor.
 *
 *     cupti_start(VP_GPU_AUTO, ring);   a failure is a reason; the recording continues
 *     …
 *     device_sync(); gpu_activity *a = cupti_stop();   NULL: nothing was started
 *     cap_write(…, a, …); gpu_activity_free(a);
 *
 * Buffers are decoded by offsets that are the same in CUDA 9 to 13 (cupti_decode, checked by the
 * peer tests against NVIDIA's headers); tests without a GPU use a substitute library. Subscription:
 * a process has one subscriber. Activity records need none, but registering buffer callbacks
 * without subscribing would take another profiler's buffers away, so we subscribe first.
 *
 * Calls: runtime and driver calls are both traced, because XLA launches through the driver. Driver
 * calls are only kept if they launched something that no runtime call claims. Kernel tracing stays
 * enabled after a recording, as in XLA, because disabling it hangs in some drivers; buffers that
 * arrive then are returned unread.
 *
 * Limits: threads beyond the 32nd get smaller buffers; beyond the 1,024th, each gets one that is
 * counted as lost, and never a shared one. Device work and calls have separate limits; at that of
 * the calls, driver calls that would be dropped later are removed first. An unknown, newer version
 * of CUPTI is tried, and the files state this. --gpu requests the GPU even before the program has
 * loaded CUDA, and records without it if there is none (docs/reference/recording.md#gpu); a program
 * that sets VP_GPU_REQUIRE gets the failure. */
#ifndef VP_CAPTURE_CUPTI_H
#define VP_CAPTURE_CUPTI_H

#include "include/view_profile_capture.h"
#include "trace/capture/gpu/gpu_activity.h"
#include "trace/capture/pool/recorder.h"

/* Starts tracing. VP_GPU_AUTO and CAP_GPU_IF_USED start only if cupti_is_used; otherwise nothing is
 * loaded, and CAP_GPU_IF_USED returns 0. VP_EGPU_UNAVAILABLE: the process does not use the GPU, or
 * CUPTI or the driver is missing; VP_EGPU_BUSY: another profiler uses CUPTI; VP_EPERM.
 * vp_error_last() has the message, and cupti_stop's result has code and message, too. ring: if
 * there are too many records, the newest are kept. */
int cupti_start(vp_gpu how, bool ring);
/* True if the process has loaded the driver (libcuda.so.1), as every program that uses the GPU
 * has. */
bool cupti_is_used(void);
/* Ends tracing, waits for the GPU's remaining records, and returns all records in order; the caller
 * frees them. NULL: nothing was started. After a failed start the result has the reason and no
 * records. The caller must not hold a lock that a CUDA call could need. */
gpu_activity *cupti_stop(void);

/* Device work and calls so far that ended after from_ns (Unix), in the form of cupti_stop, while
 * tracing continues. Work that the GPU has not finished is missing. NULL: nothing was started, or
 * out of memory. */
gpu_activity *cupti_past(int64_t from_ns);

/* A caveat of a successful start, such as activity that is not traced; "": none. */
void cupti_caveat(char *out, size_t cap);

/* For tests: path of a substitute for CUPTI. NULL: the usual places. */
void cupti_use_library(const char *path);
/* Path of the library that would be used, or ""; loads and unloads it. */
void cupti_find(char *out, size_t cap);

#endif
