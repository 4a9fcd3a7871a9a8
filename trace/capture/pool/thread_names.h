/* Names that one thread gives to another. They are written into the image when the recording ends:
 * only a living thread itself writes to its block, and a ring may assign that block to another
 * thread later. Private to the recorder. Thread-safe. */
#ifndef VP_CAPTURE_THREAD_NAMES_H
#define VP_CAPTURE_THREAD_NAMES_H

#include <stdint.h>

#include "trace/capture/pool/pool.h"

#define THREAD_NAMES_MAX 4096u

/* Names a thread, replacing an earlier name. VP_ELIMIT beyond THREAD_NAMES_MAX threads;
 * VP_ENOMEM. */
int thread_names_give(int64_t tid, const char *name);
/* Call when the thread has named itself, which takes precedence. */
void thread_names_forget(int64_t tid);
/* Writes the names into an image that is no longer recorded into. */
void thread_names_apply(const cap_pool *p);

#endif
