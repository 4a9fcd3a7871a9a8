/* The program view_profile-fetch. It alone talks to object stores and profiled processes, on
 * behalf of the view_profile that started it (trace/source/fetch_wire.h). It has the credentials
 * and the network access and never parses a profile; its client has neither. server/fetch may
 * depend on trace/source and trace/base, no module depends on it, and it alone includes curl and
 * OpenSSL.
 *
 * This header declares a request and its handlers. Each request has its own thread, which may
 * block. A handler sends its frames and returns 0 (FETCH_DONE is sent) or a recorded error
 * (FETCH_FAILED is sent). fetch_put fails with VP_ECANCELLED if the client is gone; the handler
 * then returns. */
#ifndef VP_FETCH_FETCH_ANSWER_H
#define VP_FETCH_FETCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/source/fetch_frames.h"

typedef struct fetch_ask {
    int stream; /* socket for frames; owned by the caller of the handler */
    int files[FETCH_FILES_MAX];
    size_t file_n;
    fetch_question what;
    /* The fields of the request; they live as long as it. */
    vp_str url, etag, body, places;
    uint64_t piece;
    int64_t offset, length; /* length -1: to the end, or unknown */
    bool flat, is_unsigned;
    int64_t status; /* status of HTTP or gRPC, set by a handler that fails; 0: none */
} fetch_ask;

#define FETCH_DECLARE(name, fn) int fetch_answer_##fn(fetch_ask *a);
FETCH_QUESTIONS(FETCH_DECLARE)
#undef FETCH_DECLARE

/* Returns whether the client is gone; for handlers that wait or write to other files. */
bool fetch_abandoned(const fetch_ask *a);
/* Extends the error of a call that received no gRPC response: asks once, for at most a second,
 * whether dynolog listens at this port. The connection of the call must be closed before, because
 * dynolog accepts one client at a time. */
int fetch_fail_unheard(fetch_ask *a);

#endif
