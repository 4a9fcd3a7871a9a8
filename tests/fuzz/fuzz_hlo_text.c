/* HLO text: no input reads beyond its end, and a tuple has what its elements have. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "trace/analyze/device/hlo_text.h"
#include "trace/analyze/device/scopes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t by_elements(vp_str shape)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < 64; i++) {
        vp_str e = hlo_element(shape, i);
        if (!e.n)
            break;
        sum += hlo_bytes(e) & 0xffffffff;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vp_str text = {(const char *)data, size};
    vp_buf folded;
    hlo_text h;
    if (hlo_split(&h, text) && (by_elements(h.shape) < 0 || hlo_operand_bytes(h.operands) < -1 ||
                                hlo_last_operand(h.operands).n > size))
        abort();
    if (hlo_bytes(text) < -1 || hlo_memory_space(text) < 0)
        abort();
    vp_buf_init(&folded, 1 << 20);
    if (scope_fold(&folded, text) == 0 && folded.n > size)
        abort();
    vp_buf_free(&folded);
    return 0;
}
