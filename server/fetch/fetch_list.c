/* Answers FETCH_LIST: what lies beneath an address. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_list(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
