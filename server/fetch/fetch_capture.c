/* Answers FETCH_CAPTURE: a profile of one process through XLA's ProfilerService. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_capture(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
