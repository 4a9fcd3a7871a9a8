/* Internal interface of the recorder: which recording is on (session), when to record (schedule),
 * other sources of events (control, adapters), and the files written at the end (writer). The
 * recorder runs in the user's process: it prints nothing, installs nothing unrequested, and leaves
 * signals to the application's threads. Functions return 0 or a code of view_profile_status.h.
 * Private to trace/capture. */
#ifndef VP_CAPTURE_RECORDER_H
#define VP_CAPTURE_RECORDER_H

#include "include/view_profile_capture.h"
#include "trace/vpcap/vpcap.h"

/* VP_EVERSION: the caller's structure has another version, or was not initialized. */
int cap_check_config(const vp_config *cfg);
int cap_check_result(const vp_result *result); /* NULL is accepted */

/* ---- writer.c ---- */

/* Writes the files of `outputs` (VP_OUT_…) for an image into the directory run_fd:
 * <host>.xplane.pb, <host>.trace.json.gz, perfetto_trace.json.gz. Each is written under a temporary
 * name, then renamed. *bytes: size of all files. gpu: decoded device activity, which is not in the
 * image; may be NULL. 0; VP_ENOSPC, VP_EIO: all files written are removed. */
struct gpu_activity;
int cap_write(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
              unsigned outputs);
/* Makes the name of a host's file with this ending, which begins with a dot. Characters of the
 * host's name that would form a path or hide the file are replaced. */
void cap_host_file(char *out, size_t cap, vp_str host, const char *ending);
/* Type of cap_write. Recordings are written through this pointer, so that tests can inspect the
 * image instead. */
typedef int cap_write_fn(uint64_t *bytes, int run_fd, const vpcap *v,
                         const struct gpu_activity *gpu, unsigned outputs);
extern cap_write_fn *cap_writer;

/* Like VP_GPU_AUTO, for recordings whose caller did not request the GPU: no message if the process
 * does not use one. */
#define CAP_GPU_IF_USED ((vp_gpu)(VP_GPU_REQUIRE + 1))
/* Like vp_start, and accepts CAP_GPU_IF_USED. */
int cap_start(vp_recording **out, const vp_config *cfg);

/* ---- For schedules, contexts and benchmarks ---- */

/* Number of the active recording, 0: none. A zone counts only in the recording in which it began.
 * Async-signal-safe. */
uint32_t cap_generation(void);
/* Records a zone of the calling thread from `start` (vp_now) to now, with a name of vp_name. Does
 * nothing if `generation` is not active any more. is_step: the zone is step `number`. */
void cap_zone(uint32_t name, uint64_t start, uint32_t generation, bool is_step, uint64_t number);
/* An open zone. Until it ends, it is on a list in the image, so that an interrupted recording
 * contains it. All threads share the list, which is meant for zones that begin at most some
 * thousand times per second. If VPCAP_OPEN_MAX are open, further zones are not listed. A zone may
 * end on any thread, but only in the recording in which it began. */
typedef struct cap_begun {
    uint64_t start, number; /* number: of the step, if is_step */
    uint32_t name, generation;
    uint32_t place; /* index in the list; 0: none */
    bool is_step;
} cap_begun;
/* Begins a zone with a name of vp_name. If no recording is active, *z stays empty. */
void cap_begin(cap_begun *z, uint32_t name, bool is_step, uint64_t number);
/* Ends the zone and records it; *z is empty afterwards. At most VPCAP_ARGS_MAX args are
 * recorded. */
void cap_end(cap_begun *z);
void cap_end_args(cap_begun *z, const vp_arg *args, size_t n);
/* Counts the zone as left, because its thread ended and the zone will not. */
void cap_leave(cap_begun *z);
/* Counts zones of the calling thread that cannot be recorded: nested too deeply, or left open. Does
 * nothing if `generation` is not active any more. */
void cap_count_lost(uint32_t generation, uint64_t too_deep, uint64_t left);
/* Like vp_start, for a ring that was started as a precaution, because its past may be requested. It
 * is not listed as a run while the process lives, and is removed at exit(). */
int cap_start_standby(vp_recording **out, const vp_config *cfg);
/* Like vp_stop, for a recording that ends prematurely: because of a limit, or because the process
 * ends. Open zones stay in it, and mark it as cut off; surely_cut marks it in any case. */
int cap_stop_early(vp_recording *r, vp_result *result, bool surely_cut);
/* Like vp_capture_past, on a thread of its own: takes what ended within the last `seconds` before
 * now. *out accepts only vp_wait. */
int cap_past_start(vp_recording **out, const vp_recording *r, double seconds);
/* True if the recording is not active any more. If its pool is full and it has not been ended, this
 * call ends it; another thread writes it. */
bool cap_has_ended(const vp_recording *r);
/* True if vp_wait would return at once. */
bool cap_is_written(const vp_recording *r);
/* Waits until vp_wait would return at once. In a callback of r it cannot wait and returns
 * immediately. */
void cap_await(const vp_recording *r);
/* The result that vp_wait would return, without waiting or freeing: 0, the reason why it was not
 * written, or VP_EBUSY while it is active or being written. */
int cap_peek(const vp_recording *r, vp_result *result);
/* True if rc, a result of vp_start with this configuration, is a failure of the GPU part only. */
bool cap_lacks_gpu(int rc, const vp_config *cfg);
/* Ends a recording without writing it, removes its directory and frees the handle: for a ring
 * without any event of interest. 0, or as vp_stop. */
int cap_discard(vp_recording *r);

/* ---- For control and adapters ---- */

/* Like vp_name, with a category (NULL: none). The same name in two categories is two names. */
uint32_t cap_name_in(const char *category, const char *name);
/* Like vp_name, for a source location. The same name at two locations is two names. file NULL:
 * unknown location. */
uint32_t cap_name_at(const char *file, uint32_t line, const char *name);
/* The site of a name of vp_name; NULL: unknown name. (vp__site_of returns a site for any
 * number.) */
vp__site *cap_known_site(uint32_t name);
void cap_instant(uint32_t name, const vp_arg *args, size_t n);
/* Called on the step's thread for every VP_STEP and its equivalents, also without an active
 * recording: before the step's zone begins and after it ended. Control is called before the
 * profilers at the begin, and after them at the end. A process has one function for each of the
 * two; NULL: none. */
typedef void cap_step_fn(bool begin, uint64_t number);
typedef enum cap_step_listener { CAP_STEPS_CONTROL, CAP_STEPS_PROFILERS } cap_step_listener;
void cap_on_step(cap_step_listener who, cap_step_fn *fn);
/* Calls both listeners, if set. */
void cap_tell_step(bool begin, uint64_t number);
/* The same for steps that a profiler counts itself: calls only control. */
void cap_tell_control_step(bool begin, uint64_t number);
/* The active recording, regardless of who started it; VP_EINACTIVE: none. _status: its counts so
 * far, run_dir and start. _past: like vp_capture_past. _end: ends it as if its time were over, so
 * that vp_stop of its owner finds it written; VP_EINACTIVE for a standby ring
 * (cap_start_standby). */
typedef enum cap_kind {
    CAP_KIND_NONE,
    CAP_KIND_ENDING, /* no longer active, but the next cannot begin yet */
    CAP_KIND_STANDBY,
    CAP_KIND_RECORDING
} cap_kind;
cap_kind cap_active_kind(void);
int cap_active_status(vp_result *result);
int cap_active_past(double seconds, vp_result *result);
int cap_active_end(vp_result *result);

/* Passes a message to the log function of a recording or a schedule, if it has one. */
void cap_log(const vp_config *cfg, int level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
