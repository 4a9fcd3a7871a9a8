/* Answers FETCH_STORES: which credentials there are, without a value. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_stores(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
