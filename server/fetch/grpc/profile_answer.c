#include "server/fetch/grpc/profile_answer.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/pb.h"

enum { FRAME_HEAD, TAG, NUMBER, LENGTH, SKIP };
enum { RESPONSE, XSPACE, XPLANE };
#define EMPTY_TRACE 7
#define XSPACE_FIELD 8
#define TOOL_DATA 6

void profile_answer_init(profile_answer *a, vp_write_fn *write, void *ctx)
{
    *a = (profile_answer){.write = write, .ctx = ctx};
}

static int no_xspace(const profile_answer *a, const char *why)
{
    if (a->depth == RESPONSE)
        return vp_fail(VP_ECORRUPT, "the response is not a ProfileResponse: %s", why);
    return vp_fail(VP_ECORRUPT, "the response contains no valid XSpace: %s", why);
}

/* ---- The frame ------------------------------------------------------------------------------- */

static int take_frame_head(profile_answer *a, char c)
{
    if (a->head_n == sizeof a->head)
        return vp_fail(VP_ECORRUPT, "the response has more than one message");
    a->head[a->head_n++] = (unsigned char)c;
    if (a->head_n == 1 && a->head[0])
        return vp_fail(VP_ECORRUPT, a->head[0] == 1
                                        ? "the response is compressed, which was not requested"
                                        : "the response is not a gRPC message");
    if (a->head_n < sizeof a->head)
        return 0;
    uint32_t n = 0;
    for (size_t i = 1; i < sizeof a->head; i++)
        n = n << 8 | a->head[i];
    if (n > PROFILE_ANSWER_MAX)
        return vp_fail(VP_ECORRUPT, "response too large: %u bytes", n);
    a->left[RESPONSE] = n;
    a->phase = n ? TAG : FRAME_HEAD;
    return 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The wire types of fields that identify an XSpace; 9: any. */
static uint32_t wire_of(unsigned depth, uint64_t field)
{
    if (depth == RESPONSE)
        return field == XSPACE_FIELD || field == TOOL_DATA ? VP_PB_LEN
               : field == EMPTY_TRACE                      ? VP_PB_VARINT
                                                           : 9;
    if (depth == XSPACE)
        return field <= 4 ? VP_PB_LEN : 9;
    return field == 1 ? VP_PB_VARINT : field <= 6 ? VP_PB_LEN : 9;
}

/* Adds one byte to a varint: 1 when it is complete, in *out. */
static int take_varint(profile_answer *a, char c, uint64_t *out)
{
    unsigned char u = (unsigned char)c;
    if (a->shift > 63 || (a->shift == 63 && u > 1))
        return no_xspace(a, "varint too long");
    *out |= (uint64_t)(u & 0x7f) << a->shift;
    a->shift += 7;
    if (u & 0x80)
        return 0;
    a->shift = 0;
    return 1;
}

static int begin_skip(profile_answer *a, uint64_t n)
{
    if (n > a->left[a->depth])
        return no_xspace(a, "a field is longer than its message");
    a->skip = n;
    a->phase = n ? SKIP : TAG;
    return 0;
}

static int take_tag(profile_answer *a, char c)
{
    int rc = take_varint(a, c, &a->tag);
    if (rc != 1)
        return rc;
    uint64_t field = a->tag >> 3, wire = a->tag & 7;
    a->value = 0;
    if (!field || field > 0x1fffffff ||
        (wire_of(a->depth, field) != 9 && wire_of(a->depth, field) != wire))
        return no_xspace(a, "unknown field");
    switch (wire) {
    case VP_PB_VARINT:
        a->phase = NUMBER;
        return 0;
    case VP_PB_LEN:
        a->phase = LENGTH;
        return 0;
    case VP_PB_FIXED64:
        return begin_skip(a, 8);
    case VP_PB_FIXED32:
        return begin_skip(a, 4);
    default:
        return no_xspace(a, "unknown field");
    }
}

static int answer_take_length(profile_answer *a, char c)
{
    int rc = take_varint(a, c, &a->value);
    if (rc != 1)
        return rc;
    uint64_t field = a->tag >> 3;
    a->has_data |= a->depth == RESPONSE && field == TOOL_DATA;
    a->has_xspace |= a->depth == RESPONSE && field == XSPACE_FIELD;
    a->planes += a->depth == XSPACE && field == 1;
    VP_TRY(begin_skip(a, a->value));
    if ((a->depth == RESPONSE && field == XSPACE_FIELD) || (a->depth == XSPACE && field == 1)) {
        a->left[a->depth] -= a->value;
        a->left[++a->depth] = a->value;
        a->phase = TAG;
    }
    return 0;
}

static int answer_take_number(profile_answer *a, char c)
{
    int rc = take_varint(a, c, &a->value);
    if (rc != 1)
        return rc;
    if (a->depth == RESPONSE && a->tag >> 3 == EMPTY_TRACE)
        a->empty_trace = a->value != 0;
    a->phase = TAG;
    return 0;
}

/* Closes the complete messages. */
static int close_messages(profile_answer *a)
{
    while (!a->left[a->depth]) {
        if (a->phase != TAG || a->shift)
            return no_xspace(a, "a field is longer than its message");
        if (a->depth == RESPONSE) {
            a->phase = FRAME_HEAD;
            return 0;
        }
        a->depth--;
    }
    if (a->phase == TAG && !a->shift)
        a->tag = 0;
    return 0;
}

static int answer_take_byte(profile_answer *a, char c)
{
    if (a->phase == FRAME_HEAD) {
        VP_TRY(take_frame_head(a, c));
        return a->phase == TAG ? close_messages(a) : 0;
    }
    a->left[a->depth]--;
    VP_TRY(a->phase == TAG      ? take_tag(a, c)
           : a->phase == LENGTH ? answer_take_length(a, c)
                                : answer_take_number(a, c));
    return close_messages(a);
}

/* Processes bytes of one field. */
static int take_many(profile_answer *a, size_t n, size_t *taken)
{
    *taken = a->skip < n ? (size_t)a->skip : n;
    a->skip -= *taken;
    a->left[a->depth] -= *taken;
    a->phase = a->skip ? SKIP : TAG;
    return close_messages(a);
}

static int write_xspace_bytes(profile_answer *a, const char *p, size_t n)
{
    a->xspace_bytes += (int64_t)n;
    return n ? a->write(a->ctx, p, n) : 0;
}

int profile_answer_push(profile_answer *a, const char *p, size_t n)
{
    const char *from = a->depth > RESPONSE ? p : NULL; /* bytes to pass on */
    for (size_t at = 0; at < n;) {
        size_t taken = 1;
        VP_TRY(a->phase == SKIP ? take_many(a, n - at, &taken) : answer_take_byte(a, p[at]));
        at += taken;
        if (a->depth > RESPONSE && !from) {
            from = p + at;
        } else if (a->depth == RESPONSE && from) {
            VP_TRY(write_xspace_bytes(a, from, (size_t)(p + at - from)));
            from = NULL;
        }
    }
    return from ? write_xspace_bytes(a, from, (size_t)(p + n - from)) : 0;
}

int profile_answer_end(const profile_answer *a)
{
    if (!a->head_n)
        return vp_fail(VP_ECORRUPT, "the response is empty");
    if (a->head_n < sizeof a->head || a->phase != FRAME_HEAD)
        return vp_fail(VP_ECORRUPT, "the response is cut off after %lld bytes of the profile",
                       (long long)a->xspace_bytes);
    if (!a->has_xspace && !a->has_data && !a->empty_trace)
        return vp_fail(VP_EUNSUPPORTED,
                       "this profiler is too old to return a profile; it writes the profile to its "
                       "own disk, below the given log directory");
    if (!a->has_xspace && a->has_data)
        return vp_fail(VP_EUNSUPPORTED,
                       "this profiler is too old to return an XSpace; it returned other files");
    if (!a->planes)
        return vp_fail(VP_EEMPTY,
                       "the profile is empty: the program ran nothing that can be recorded");
    return 0;
}
