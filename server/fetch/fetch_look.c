/* Answers FETCH_LOOK: one look at a process through Monitor. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_look(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
