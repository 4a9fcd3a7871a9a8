/* Names that threads are given by others. They are written into the image when the recording ends:
 * while a thread lives, nobody but itself writes its block, and in a ring that block may belong to
 * another thread afterwards. Private to the recorder. */
#ifndef VP_CAPTURE_THREAD_NAMES_H
#define VP_CAPTURE_THREAD_NAMES_H

#include <stdint.h>

#include "trace/capture/pool/pool.h"

#define THREAD_NAMES_MAX 4096u

/* Gives the thread a name, in place of any earlier one. VP_ELIMIT beyond THREAD_NAMES_MAX threads.
 */
int thread_names_give(int64_t tid, const char *name);
/* To be called when the thread has named itself: that name counts. */
void thread_names_forget(int64_t tid);
/* Writes them into an image that nobody records into any more. */
void thread_names_apply(const cap_pool *p);

#endif
