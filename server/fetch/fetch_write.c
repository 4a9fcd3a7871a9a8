/* Answers FETCH_WRITE: an object, or a file on a WebDAV server. */
#include "server/fetch/fetch_store.h"
#include "trace/base/err.h"

int fetch_answer_write(fetch_ask *a)
{
    const store *s;
    store_place *p = NULL;
    VP_TRY(store_find(a->url, &s));
    int rc = s->open(a, &p);
    if (rc == 0)
        rc = s->write(a, p);
    s->close(p);
    return rc;
}
