/* Any bytes through both backends, in any chunks: they agree on whether it is intact and on every
 * byte if it is; the good prefix of damaged data may differ by what one lookup decodes at once, but
 * never in content. The first byte chooses the chunk size. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/gzip/gzip.h"
#include "trace/read/gzip/gzip_backend.h"

typedef struct side {
    rd_stream *s;
    char *p;
    size_t n;
    int rc;
    bool any;
} side;

static side open_side(int backend, const uint8_t *data, size_t n, size_t chunk)
{
    side x = {0};
    rd_stream *in = NULL;
    if (rd_stream_memory(&in, data, n, chunk) < 0 ||
        gz_stream_backend(&x.s, in, false, backend) < 0)
        abort();
    return x;
}

static void advance(side *x)
{
    x->n = 0;
    x->rc = x->s->next(x->s, &x->p, &x->n);
    if (x->rc < 0 && (x->rc != VP_ECORRUPT || x->any))
        abort();
    x->n = x->rc > 0 ? x->n : 0;
    x->any |= x->n > 0;
}

static bool intact(const side *x)
{
    return x->rc == 0 && x->s->damage.code == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1)
        return 0;
    size_t chunk = data[0] % 32 ? data[0] : 0;
    side a = open_side(1, data + 1, n - 1, chunk);
    side b = open_side(gz_backend_isal() ? 2 : 1, data + 1, n - 1, chunk);
    do { /* all pieces but the last are of the same size */
        advance(&a);
        advance(&b);
        if (memcmp(a.n ? a.p : "", b.n ? b.p : "", a.n < b.n ? a.n : b.n) != 0)
            abort();
    } while (a.rc > 0 && b.rc > 0 && a.n == b.n);
    while (a.rc > 0)
        advance(&a);
    while (b.rc > 0)
        advance(&b);
    if (intact(&a) != intact(&b))
        abort();
    a.s->close(a.s);
    b.s->close(b.s);
    return 0;
}
