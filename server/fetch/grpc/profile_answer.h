/* Parses the response of XLA's ProfilerService as a stream: the gRPC frame, and in it the
 * ProfileResponse, whose field 8, the XSpace, is passed on unbuffered. Only its outline is checked
 * (planes and fields within their lengths). The input can be split anywhere. The caller owns the
 * parser; nothing has to be freed. Fails with VP_ECORRUPT on a malformed response. */
#ifndef VP_FETCH_PROFILE_ANSWER_H
#define VP_FETCH_PROFILE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"

/* The longest answer: gRPC's length has 32 bits, and what claims nearly all of them is no
 * profile. */
#define PROFILE_ANSWER_MAX UINT32_C(0xf0000000)
/* The messages around a byte: ProfileResponse, XSpace, XPlane. */
#define PROFILE_ANSWER_DEPTH 3u

typedef struct profile_answer {
    vp_write_fn *write; /* bytes of the XSpace, in order; its failure is passed on */
    void *ctx;
    int64_t xspace_bytes; /* passed on so far */
    uint64_t planes;
    bool has_xspace, has_data; /* field 8, or tool_data, which old servers send, is there */
    bool empty_trace;          /* nothing was to be recorded */
    /* Where it stands. */
    unsigned char head[5];
    unsigned head_n, depth, shift;
    int phase;
    uint64_t left[PROFILE_ANSWER_DEPTH]; /* bytes of each open message */
    uint64_t tag, value, skip;
} profile_answer;

void profile_answer_init(profile_answer *a, vp_write_fn *write, void *ctx);
/* The next bytes of the body. VP_ECORRUPT: it is no such answer, and why; what write returned. */
int profile_answer_push(profile_answer *a, const char *p, size_t n);
/* The body ended. VP_ECORRUPT: in the middle; VP_EEMPTY: there was nothing to record;
 * VP_EUNSUPPORTED: the server does not send profiles, but writes them itself. */
int profile_answer_end(const profile_answer *a);

#endif
