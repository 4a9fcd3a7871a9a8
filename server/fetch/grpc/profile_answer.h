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

/* The longest response. The length of a gRPC frame has 32 bits; a value near the maximum is not a
 * profile. */
#define PROFILE_ANSWER_MAX UINT32_C(0xf0000000)
/* The nested messages at a byte: ProfileResponse, XSpace, XPlane. */
#define PROFILE_ANSWER_DEPTH 3u

typedef struct profile_answer {
    vp_write_fn *write; /* callback for bytes of the XSpace, in order; its failure is returned */
    void *ctx;
    int64_t xspace_bytes; /* passed on so far */
    uint64_t planes;
    bool has_xspace, has_data; /* field 8 was present, or tool_data of old servers */
    bool empty_trace;          /* the server recorded nothing */
    /* Where it stands. */
    unsigned char head[5];
    unsigned head_n, depth, shift;
    int phase;
    uint64_t left[PROFILE_ANSWER_DEPTH]; /* bytes left of each open message */
    uint64_t tag, value, skip;
} profile_answer;

void profile_answer_init(profile_answer *a, vp_write_fn *write, void *ctx);
/* Parses the next bytes of the body. VP_ECORRUPT: not a ProfileResponse, with the reason; or the
 * failure of `write`. */
int profile_answer_push(profile_answer *a, const char *p, size_t n);
/* Ends parsing. VP_ECORRUPT: truncated; VP_EEMPTY: nothing was recorded; VP_EUNSUPPORTED: the
 * server does not send profiles, but writes them itself. */
int profile_answer_end(const profile_answer *a);

#endif
