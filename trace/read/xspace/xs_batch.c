/* Events are passed to the sink in batches. */
#include "trace/read/xspace/xs_read.h"

int xs_flush(xs_reader *r)
{
    size_t n = r->batch_n;
    r->batch_n = 0;
    return n ? r->out->events(r->out, r->batch, n) : 0;
}
