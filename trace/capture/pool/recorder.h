/* The inside of a recording, shared by the files of this room: who records (session), when
 * (schedule), what else is told (control, adapters), and what is written at the end (writer). The
 * room runs in somebody else's process: it prints nothing, installs nothing unasked, and leaves
 * signals to the application's threads. Nobody outside includes this header. */
#ifndef VP_CAPTURE_RECORDER_H
#define VP_CAPTURE_RECORDER_H

#include "include/view_profile_capture.h"
#include "trace/vpcap/vpcap.h"

/* VP_EVERSION: the caller's structure is of another version, or was not initialised. */
int cap_check_config(const vp_config *cfg);
int cap_check_result(const vp_result *result); /* NULL: nothing to check */

/* ---- writer.c ---- */

/* Writes the files of `outputs` (VP_OUT_…) for an image into the directory run_fd, each to a
 * temporary name that is then changed: <host>.xplane.pb, <host>.trace.json.gz,
 * perfetto_trace.json.gz. *bytes: the size of all files. gpu: decoded device activity, which is not
 * in the image; may be NULL. 0; VP_ENOSPC, VP_EIO: what was written is removed. */
struct gpu_activity;
int cap_write(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
              unsigned outputs);
/* Makes the name of a host's file with this ending, which begins with a dot. Characters of the
 * host's name that would lead into a directory or hide the file are replaced. */
void cap_host_file(char *out, size_t cap, vp_str host, const char *ending);
/* The type of cap_write, by which recordings are written. Tests put a function there that looks at
 * the image instead. */
typedef int cap_write_fn(uint64_t *bytes, int run_fd, const vpcap *v,
                         const struct gpu_activity *gpu, unsigned outputs);
extern cap_write_fn *cap_writer;

/* As VP_GPU_AUTO, for a recording of which nobody asked for the GPU: if the process does not use
 * one, nothing is said. */
#define CAP_GPU_IF_USED ((vp_gpu)(VP_GPU_REQUIRE + 1))
/* As vp_start, but also takes CAP_GPU_IF_USED. */
int cap_start(vp_recording **out, const vp_config *cfg);

/* ---- What schedule, contexts and benchmarks ask of the recorder ---- */

/* The number of the recording that is on, 0: none. A zone counts only in the recording in which it
 * began. Async-signal-safe. */
uint32_t cap_generation(void);
/* Records a zone of the calling thread that began at `start` (vp_now) and ends now, named by
 * vp_name; nothing if `generation` is not on any more. is_step: it is step `number`. */
void cap_zone(uint32_t name, uint64_t start, uint32_t generation, bool is_step, uint64_t number);
/* A zone that has begun. Until it ends it stands on a list in the image, so that a recording that
 * is cut off has it. All threads share the list, which is meant for what begins some thousand times
 * a second at most; if VPCAP_OPEN_MAX are open already, a zone is not put on it. It may end on any
 * thread, but only in the recording in which it began. */
typedef struct cap_begun {
    uint64_t start, number; /* number: of a step */
    uint32_t name, generation;
    uint32_t place; /* on the list; 0: none */
    bool is_step;
} cap_begun;
/* Begins a zone; name: of vp_name. If no recording is on, *z is none. */
void cap_begin(cap_begun *z, uint32_t name, bool is_step, uint64_t number);
/* Ends the zone and records it; *z is none afterwards. Of args more than VPCAP_ARGS_MAX are cut. */
void cap_end(cap_begun *z);
void cap_end_args(cap_begun *z, const vp_arg *args, size_t n);
/* The zone will have no end because its thread has ended: it is counted as left. */
void cap_leave(cap_begun *z);
/* Counts zones of the calling thread that cannot be recorded: they were nested too deep, or were
 * left without an end. Nothing when `generation` is not on any more. */
void cap_count_lost(uint32_t generation, uint64_t too_deep, uint64_t left);
/* As vp_start, for a ring that nobody asked for but whose past may be wanted: no list of sessions
 * shows it while the process lives, and at exit() it is removed. */
int cap_start_standby(vp_recording **out, const vp_config *cfg);
/* As vp_stop, for a recording that ends before it is done: by a limit, or because the process ends.
 * Zones that are open stay in it, and then it counts as cut off; with surely_cut, also if none is.
 */
int cap_stop_early(vp_recording *r, vp_result *result, bool surely_cut);
/* As vp_capture_past, on a thread of its own: takes what has ended by now and within the last
 * `seconds`. *out is for vp_wait, and nothing else can be asked of it. */
int cap_past_start(vp_recording **out, const vp_recording *r, double seconds);
/* Whether it records no more. If its pool is full and nobody has ended it yet, this does: it is
 * written on another thread. */
bool cap_has_ended(const vp_recording *r);
/* Whether vp_wait would return at once. */
bool cap_is_written(const vp_recording *r);
/* Returns when vp_wait would return at once. In a callback of r, where it cannot wait, it returns
 * now. */
void cap_await(const vp_recording *r);
/* What vp_wait would return, without waiting and without freeing: 0, why it was not written, or
 * VP_EBUSY while it is on or being written. */
int cap_peek(const vp_recording *r, vp_result *result);
/* Whether rc, which vp_start with this configuration gave, is a failure of the GPU's part only. */
bool cap_lacks_gpu(int rc, const vp_config *cfg);
/* Ends a recording without writing it, removes its directory, and frees the handle: for a ring in
 * which nothing happened. 0, or as vp_stop. */
int cap_discard(vp_recording *r);

/* ---- What control and adapters ask of the recorder ---- */

/* As vp_name, with a category (NULL: none). The same name in two categories is two names. */
uint32_t cap_name_in(const char *category, const char *name);
/* As vp_name, for what stands at this place of a source. The same name in two places is two names.
 * file NULL: the place is not known. */
uint32_t cap_name_at(const char *file, uint32_t line, const char *name);
/* The site of a name that vp_name gave; NULL: there is none. (vp__site_of has a site for any
 * number.) */
vp__site *cap_known_site(uint32_t name);
void cap_instant(uint32_t name, const vp_arg *args, size_t n);
/* Called on the step's thread for every VP_STEP and what is like it, whether something records or
 * not: before its zone begins and after it has ended. Control is called before the profilers at the
 * begin and after them at the end. Each of the two has one function in a process; NULL: none. */
typedef void cap_step_fn(bool begin, uint64_t number);
typedef enum cap_step_listener { CAP_STEPS_CONTROL, CAP_STEPS_PROFILERS } cap_step_listener;
void cap_on_step(cap_step_listener who, cap_step_fn *fn);
/* Calls them, if there are any. */
void cap_tell_step(bool begin, uint64_t number);
/* The same for a step that a profiler counts itself: only control is called. */
void cap_tell_control_step(bool begin, uint64_t number);
/* The recording that is on, whoever started it; VP_EINACTIVE: none is. _status: what it holds so
 * far (counts, run_dir, start). _past: as vp_capture_past. _end: ends it as if its time were over,
 * so that vp_stop of its owner finds it written; VP_EINACTIVE for a ring that nobody asked for
 * (cap_start_standby). */
typedef enum cap_kind {
    CAP_KIND_NONE,
    CAP_KIND_ENDING, /* it records no more, and the next cannot begin yet */
    CAP_KIND_STANDBY,
    CAP_KIND_RECORDING
} cap_kind;
cap_kind cap_active_kind(void);
int cap_active_status(vp_result *result);
int cap_active_past(double seconds, vp_result *result);
int cap_active_end(vp_result *result);

/* Says something through the log function of a recording or a schedule, if it has one. */
void cap_log(const vp_config *cfg, int level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
