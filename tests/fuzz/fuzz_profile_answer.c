/* Any bytes as the answer of ProfilerService, whole and in pieces: the same verdict and the same
 * XSpace, and never more of it than came. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/fetch/grpc/profile_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

typedef struct got {
    size_t n;
    uint64_t sum;
} got;

static void need(bool ok)
{
    if (!ok)
        abort();
}

static int keep(void *ctx, const void *data, size_t n)
{
    got *g = ctx;
    for (size_t i = 0; i < n; i++)
        g->sum = g->sum * 31 + ((const unsigned char *)data)[i];
    g->n += n;
    return 0;
}

static int feed(got *g, const uint8_t *data, size_t n, size_t piece)
{
    profile_answer a;
    profile_answer_init(&a, keep, g);
    for (size_t at = 0; at < n; at += piece) {
        int rc = profile_answer_push(&a, (const char *)data + at, piece < n - at ? piece : n - at);
        if (rc < 0)
            return rc;
    }
    int rc = profile_answer_end(&a);
    need(rc < 0 || a.planes > 0);
    need(a.xspace_bytes == (int64_t)g->n);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    got whole = {0}, bytes = {0}, pieces = {0};
    int rc = feed(&whole, data, n, n ? n : 1);
    need(feed(&bytes, data, n, 1) == rc && feed(&pieces, data, n, 7) == rc);
    need(whole.n <= n && bytes.n <= n);
    if (rc == 0)
        need(whole.n == bytes.n && whole.sum == bytes.sum && whole.sum == pieces.sum);
    return 0;
}
