/* view_profile-fetch as a child of this process: started once, asked many things at once
 * (fetch_wire.h). It ends with us. Thread-safe but for start and end. */
#ifndef VP_SOURCE_FETCHER_H
#define VP_SOURCE_FETCHER_H

#include <stddef.h>

#include "trace/base/str.h"

/* vp_own_program finds it. */
#define FETCHER_PROGRAM "view_profile-fetch"

typedef struct fetcher fetcher;

/* Starts it: before the sandbox, since it reads credentials and certificates. It gets our
 * environment. VP_EUNSUPPORTED: it is not installed, and what is then missing; VP_EIO. */
int fetcher_start(fetcher **out);
void fetcher_end(fetcher *f); /* NULL is fine; questions that are open fail */

/* Asks: question is a message of FETCH_ASK_* of at most FETCH_ASK_MAX bytes; files stay the
 * caller's. *stream, on which the answer comes, is the caller's to close. VP_EIO. */
int fetcher_ask(fetcher *f, vp_str question, const int *files, size_t n, int *stream);
/* The same as source_ask.ask with a fetcher as ctx. */
int fetcher_source(void *ctx, vp_str question, const int *files, size_t n, int *stream);

#endif
