/* The program view_profile-fetch: alone speaks with object stores and profiled processes, on behalf
 * of a view_profile that started it (trace/source/fetch_wire.h). It has the credentials and the
 * network, and never looks into a profile; who asks has neither. This room may include trace/source
 * and trace/base; nobody includes it. It alone includes curl and OpenSSL.
 *
 * Here: a question and how it is answered. Each has a thread of its own, which may block. A handler
 * returns 0 after its frames, and FETCH_DONE is sent, or a failure that it recorded, and
 * FETCH_FAILED is. fetch_put on its stream fails with VP_ECANCELLED when nobody waits any more:
 * then it ends. */
#ifndef VP_FETCH_FETCH_ANSWER_H
#define VP_FETCH_FETCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/source/fetch_frames.h"

typedef struct fetch_ask {
    int stream; /* frames go there; belongs to who calls the handler */
    int files[FETCH_FILES_MAX];
    size_t file_n;
    fetch_question what;
    /* The fields of the question; they live as long as it. */
    vp_str url, etag, body, places;
    uint64_t piece;
    int64_t offset, length; /* length -1: to the end, or unknown */
    bool flat, is_unsigned;
    int64_t status; /* set by a handler that fails: of HTTP or gRPC; 0: none */
} fetch_ask;

#define FETCH_DECLARE(name, fn) int fetch_answer_##fn(fetch_ask *a);
FETCH_QUESTIONS(FETCH_DECLARE)
#undef FETCH_DECLARE

/* Whether nobody waits for the answer any more: for handlers that wait or write elsewhere. */
bool fetch_abandoned(const fetch_ask *a);
/* The failure just recorded, of a call that heard nothing of gRPC, or that dynolog listens there
 * instead, which is asked once in its own way: a second where it is silent. The call's connection
 * is closed by then, as dynolog hears one at a time. */
int fetch_fail_unheard(fetch_ask *a);

#endif
