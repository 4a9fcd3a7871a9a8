/* Any bytes as an XSpace: read both ways, sealed and analysed. Identities hold whatever came in. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"
#include "trace/read/xspace/xspace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void one(const uint8_t *data, size_t n, bool device_only)
{
    rd_source *in;
    trace *t;
    host_result h;
    rd_options opts = {.device_only = device_only};
    if (rd_source_memory(&in, data, n) < 0 || trace_new(&t) < 0)
        abort();
    if (xs_read(&t->sink, in, &opts) == 0 && trace_seal(t) == 0) {
        host_result_init(&h);
        if (host_analyze(&h, t, VP_GROUP_NAME, VP_DEPTH_FULL) == 0)
            for (size_t i = 0; i < h.device_count; i++) {
                const vp_breakdown *b = &h.devices[i].breakdown;
                if (b->compute_ps + b->exposed_comm_ps + b->exposed_copy_ps + b->idle_ps !=
                    b->window_ps)
                    abort();
            }
        host_result_free(&h);
    }
    trace_free(t);
    rd_source_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    one(data, n, true);
    one(data, n, false);
    return 0;
}
