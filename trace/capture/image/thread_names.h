/* Names that threads are given by others, by their numbers: a thread writes its own block of a
 * recording, and nobody else does while it lives, so these are written when the recording ends.
 * Private to the recorder.
 *
 * Names that threads give others are written into the image when the recording ends: a thread's
 * block is its own while it lives, and a ring gives it to somebody else afterwards. */
#ifndef VP_CAPTURE_THREAD_NAMES_H
#define VP_CAPTURE_THREAD_NAMES_H

#include <stdint.h>

#include "trace/capture/image/pool.h"

#define THREAD_NAMES_MAX 4096u

/* The last name counts. Beyond THREAD_NAMES_MAX threads: VP_ELIMIT. */
int thread_names_give(int64_t tid, const char *name);
/* It has named itself since. */
void thread_names_forget(int64_t tid);
/* Writes them into an image that nobody records into any more. */
void thread_names_apply(const cap_pool *p);

#endif
