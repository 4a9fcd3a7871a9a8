/* Who records: the threads' way into the pool of the recording that is on, and out of it. Private
 * to the recorder. The rules are at the head of view_profile_capture_macros.h.
 *
 * The hot path is in the macros' header: a load and a branch when nothing records; two readings of
 * the clock and the stores that hide behind them when something does. No lock: a scope remembers
 * the generation it began in and is recorded only in that one; a thread writes only while its busy
 * is set and the generation seen then is on; who ends a recording turns it off, makes all
 * processors see that (membarrier) and takes the image when no thread is busy. A signal handler
 * that finds its own thread busy counts what it would have written.
 *
 * Open zones: a record is written when a zone ends. Until then a scope or a pair stands in a frame
 * of its thread's block; a VP_STEP's frame has its number beside its kind. What begins some
 * thousand times a second at most (steps of a profiler, contexts, ranges of NVTX and ITT) stands on
 * one list of the image (open_zone.c), since it may end on another thread and in no order. The
 * place is given back in the same breath as the record is written, so that no zone is there twice.
 * Only what was cut off has its open zones in its files, marked "unfinished": by exit, by
 * vp_profiler_free in a capture, by a crash; and, when something was open, by a time limit, a full
 * pool or from outside. What its owner stops ends as he meant it to: a zone that is open then is
 * none of it. Open zones end with the recording; where a crash left no end, at the last time that
 * any thread knew, since all of them were in their zones until then. Functions (record --functions)
 * are too many for the list: those that are open are left out. */
#ifndef VP_CAPTURE_RECORDING_THREAD_H
#define VP_CAPTURE_RECORDING_THREAD_H

#include "include/view_profile_capture.h"
#include "trace/capture/pool/pool.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/threads/step_marks.h"

#define CAP_CORRELATIONS 16 /* that are nested; deeper ones get the number of the outer one */

/* The pool of the recording that is on; only between cap_enter and vp__leave. */
extern cap_pool cap_pool_now;

/* What the recorder knows of the calling thread; NULL: there are too many threads. */
vp__thread *cap_me(void);
uint32_t *cap_correlations(vp__thread *t);
/* What other files of this room keep for each thread. It is here because thread-local memory is
 * scarce in libraries that are loaded late: the recorder takes only 64 bytes of it. */
typedef struct cap_own {
    /* own_time.c: not counted yet, while depth > 0; ns */
    int64_t since, total, paused;
    unsigned depth;
    /* step_pair.c */
    bool in_step;
    uint64_t step_number;
    cap_begun step;
    step_marks marks;
} cap_own;
/* The calling thread's; NULL: there are too many. */
cap_own *cap_own_now(void);

/* Marks the calling thread as busy in the recording `generation`, with a chunk to write into. NULL:
 * that recording is not on any more; or a signal found the thread busy, or there is no room, both
 * of which are counted. Signal-safe. */
vp__thread *cap_enter(uint32_t generation);
/* The same, without counting what it cannot do. */
vp__thread *cap_try_enter(uint32_t generation);
/* Slots for a record (at most VP__EVENT_SLOTS) in the thread's chunk or in a new one; NULL: there
 * are none, and that was counted. now: ticks. */
vp__record *cap_reserve(vp__thread *t, uint32_t slots, uint64_t now);
/* To be called when what was reserved is complete. */
void cap_publish(vp__thread *t, uint32_t slots, bool is_event);

/* The zone is not open any more; false: it was not. */
static inline bool cap_frame_close(vp__frame *f)
{
    bool was_open = VP__LOAD(f->start) != 0;
    if (was_open)
        __atomic_store_n(&f->start, 0, __ATOMIC_RELEASE);
    return was_open;
}

/* To be called before the first recording. */
void cap_threads_prepare(void);
/* Waits until no thread is inside the recording that was just switched off, but not longer than
 * `ms`. false: some still are. */
bool cap_settled(unsigned ms);
/* How many zones were lost, since the last call, by threads that could not even be counted in an
 * image. */
uint64_t cap_nowhere_take(void);
/* In a forked child: there are no other threads, and this one has no chunk. */
void cap_threads_forget(void);

#endif
