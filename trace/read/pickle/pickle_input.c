#include "trace/read/pickle/pickle_input.h"

/* Copies the rest of the old chunk into the headroom of the next one, which belongs to the
 * reader. */
int pk_input_fill(pk_input *i, size_t n)
{
    char kept[RD_HEADROOM], *chunk;
    while ((size_t)(i->end - i->p) < n) {
        size_t left = (size_t)(i->end - i->p), got;
        if (i->ended || left > sizeof kept)
            return 0;
        if (left)
            memcpy(kept, i->p, left);
        int rc = i->in->next(i->in, &chunk, &got);
        if (rc <= 0) {
            i->ended = true;
            i->p = i->end = NULL;
            return rc;
        }
        if (left)
            memcpy(chunk - left, kept, left);
        i->p = (unsigned char *)chunk - left;
        i->end = (unsigned char *)chunk + got;
        i->before += (int64_t)got;
    }
    return 1;
}

int pk_input_skip(pk_input *i, uint64_t n)
{
    for (;;) {
        size_t left = (size_t)(i->end - i->p);
        size_t step = n < left ? (size_t)n : left;
        i->p += step;
        n -= step;
        if (!n)
            return 1;
        int rc = pk_input_fill(i, 1);
        if (rc <= 0)
            return rc;
    }
}
