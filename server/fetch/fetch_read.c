/* Answers FETCH_READ: bytes of an object. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_read(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
