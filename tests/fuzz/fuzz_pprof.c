/* Any bytes as a pprof profile: what is read is sorted, and its parts add up to its totals. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/read/pprof/pprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    rd_stream *in = NULL;
    pp_profile *p = NULL;
    int64_t holders = 0, devices = 0;
    need(rd_stream_memory(&in, data, n, 0) == 0);
    int rc = pp_read(&p, in);
    rd_stream_close(&in);
    if (rc < 0)
        return 0;
    for (size_t i = 0; i < p->holder_count; i++) {
        need(i == 0 || p->holders[i - 1].bytes >= p->holders[i].bytes);
        holders = plus(holders, p->holders[i].bytes);
    }
    for (size_t i = 0; i < p->device_count; i++)
        devices = plus(devices, p->devices[i].bytes);
    need(holders == p->total_bytes && devices == p->total_bytes);
    need((int64_t)p->holder_count <= p->samples);
    pp_free(p);
    return 0;
}
