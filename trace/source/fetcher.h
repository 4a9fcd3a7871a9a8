/* view_profile-fetch as a child process: started once, used for many concurrent requests
 * (fetch_wire.h). It ends with this process. Thread-safe except for start and end. The caller owns
 * the fetcher and the streams. */
#ifndef VP_SOURCE_FETCHER_H
#define VP_SOURCE_FETCHER_H

#include <stddef.h>

#include "trace/base/str.h"

/* Found by vp_own_program. */
#define FETCHER_PROGRAM "view_profile-fetch"

typedef struct fetcher fetcher;

/* Starts the process with our environment. Call before entering a sandbox, because it reads
 * credentials and certificates. VP_EUNSUPPORTED: not installed, with what is missing; VP_EIO. */
int fetcher_start(fetcher **out);
void fetcher_end(fetcher *f); /* NULL is allowed; open requests fail */

/* Sends a request, a message of FETCH_ASK_* of at most FETCH_ASK_MAX bytes. The caller keeps the
 * files, and closes *stream, which delivers the response. VP_EIO. */
int fetcher_ask(fetcher *f, vp_str question, const int *files, size_t n, int *stream);
/* The same with the signature of source_ask.ask; ctx is a fetcher. */
int fetcher_source(void *ctx, vp_str question, const int *files, size_t n, int *stream);

#endif
