/* Answers FETCH_HEAD: one object's size and version. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_head(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
