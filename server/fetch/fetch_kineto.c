/* Answers FETCH_KINETO: a profile of PyTorch processes through a dynolog daemon. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_kineto(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
