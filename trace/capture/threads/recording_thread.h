/* Entry and exit of threads into the pool of the active recording. Private to the recorder. The
 * rules are at the top of view_profile_capture_macros.h.
 *
 * The hot path is in the header of the macros: a load and a branch when nothing records; two
 * readings of the clock, and stores that overlap with them, when something does. No lock is needed.
 * A scope remembers the generation in which it began and is recorded only in that one. A thread
 * writes only while its busy flag is set and the generation seen after that is active. The thread
 * that ends a recording switches it off, makes all processors see that (membarrier), and takes the
 * image when no thread is busy. A signal handler that finds its own thread busy only counts its
 * zones.
 *
 * Open zones: a record is written when a zone ends. Until then a scope or a pair is in a frame of
 * its thread's block; the frame of a VP_STEP has its number next to its kind. Less frequent zones,
 * at most some thousand per second, are in one list of the image (open_zone.c): steps of a
 * profiler, contexts, ranges of NVTX and ITT. They may end on another thread and in any order.
 * Their entry is freed together with writing the record, so that no zone occurs twice.
 *
 * Only interrupted recordings have open zones in their files, marked "unfinished": interrupted by
 * exit, by vp_profiler_free in a capture, by a crash; and, if a zone was open, by a time limit, a
 * full pool or a request from outside. A recording that its owner stops excludes open zones. Open
 * zones end with the recording; after a crash, at the last time that any thread recorded, because
 * all of them were in their zones until then. Functions (record --functions) are too many for the
 * list: open ones are omitted. */
#ifndef VP_CAPTURE_RECORDING_THREAD_H
#define VP_CAPTURE_RECORDING_THREAD_H

#include "include/view_profile_capture.h"
#include "trace/capture/pool/pool.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/threads/step_marks.h"

#define CAP_CORRELATIONS 16 /* maximum nesting; deeper ones get the number of the outer one */

/* The pool of the active recording; only between cap_enter and vp__leave. */
extern cap_pool cap_pool_now;

/* The recorder's state of the calling thread; NULL: there are too many threads. */
vp__thread *cap_me(void);
uint32_t *cap_correlations(vp__thread *t);
/* Per-thread state of other files of this module. It is here because thread-local storage is scarce
 * in libraries that are loaded late: the recorder uses only 64 bytes of it. */
typedef struct cap_own {
    /* own_time.c, in ns; since: start of the uncounted time while depth > 0 */
    int64_t since, total, paused;
    unsigned depth;
    /* step_pair.c */
    bool in_step;
    uint64_t step_number;
    cap_begun step;
    step_marks marks;
} cap_own;
/* State of the calling thread; NULL: there are too many threads. */
cap_own *cap_own_now(void);

/* Marks the calling thread as busy in the recording `generation`, with a chunk to write into. NULL:
 * that recording is not active any more; or a signal interrupted a busy thread, or there is no
 * space, which are both counted. Async-signal-safe. */
vp__thread *cap_enter(uint32_t generation);
/* The same, without counting failures. */
vp__thread *cap_try_enter(uint32_t generation);
/* Reserves slots for a record (at most VP__EVENT_SLOTS) in the thread's chunk or in a new one;
 * NULL: no space, which is counted. now: ticks. */
vp__record *cap_reserve(vp__thread *t, uint32_t slots, uint64_t now);
/* Publishes the reserved slots after they are complete. */
void cap_publish(vp__thread *t, uint32_t slots, bool is_event);

/* Marks the zone as closed; false: it was not open. */
static inline bool cap_frame_close(vp__frame *f)
{
    bool was_open = VP__LOAD(f->start) != 0;
    if (was_open)
        __atomic_store_n(&f->start, 0, __ATOMIC_RELEASE);
    return was_open;
}

/* Call before the first recording. */
void cap_threads_prepare(void);
/* Waits until no thread is inside the recording that was just switched off, at most `ms`. false:
 * some still are. */
bool cap_settled(unsigned ms);
/* Number of zones lost, since the last call, by threads that could not be counted in an image. */
uint64_t cap_nowhere_take(void);
/* In a forked child: there are no other threads, and this one has no chunk. */
void cap_threads_forget(void);

#endif
