/* Messages for failed allocations */
#include <stdatomic.h>

#include "trace/base/err.h"
#include "trace/base/human.h"
#include "trace/base/mem_impl.h"

int vp_mem_explain(int rc)
{
    const vp_mem_budget *b = vp_mem_budget_here();
    char text[VP_HUMAN_BYTES];
    int why = b && rc == VP_ENOMEM ? atomic_load(&b->refused) : 0;
    if (why == VP_ELIMIT)
        return vp_fail(VP_ELIMIT,
                       "it unpacks to more than %s of memory, which no profile of its size "
                       "needs: refused; if it is one, --max-memory SIZE reads it",
                       vp_bytes_text(text, (int64_t)b->max));
    if (why == VP_ENOMEM)
        return vp_fail(VP_ENOMEM,
                       "it needs more than the %s of memory that %s: record fewer steps, or "
                       "allow more with --max-memory SIZE",
                       vp_bytes_text(text, (int64_t)vp_mem_ceiling()),
                       vp_mem_ceiling_is_set() ? "--max-memory allows" : "this machine has left");
    return rc;
}

int vp_grow_more(void *array_ptr, size_t *cap, size_t need, size_t item_size, size_t max)
{
    void **array = array_ptr;
    size_t want = *cap ? *cap : 16;
    void *p;
    if (need > max)
        return vp_fail(VP_ELIMIT, "more than %zu items", max);
    while (want < need)
        want = want > max / 2 ? max : want * 2;
    p = vp_realloc_array(*array, want, item_size);
    if (!p)
        return vp_fail(VP_ENOMEM, "out of memory: %zu bytes", want * item_size);
    *array = p;
    *cap = want;
    return 0;
}
