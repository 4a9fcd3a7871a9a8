/* Answers FETCH_WRITE: an object, or a file on a WebDAV server. */
#include "server/fetch/fetch_answer.h"
#include "trace/base/err.h"

int fetch_answer_write(fetch_ask *a)
{
    (void)a;
    return vp_fail(VP_EUNSUPPORTED, "not yet built");
}
