/* Handles FETCH_HEAD: one object's size and version. */
#include "server/fetch/store/fetch_store.h"
#include "trace/base/err.h"

int fetch_answer_head(fetch_ask *a)
{
    const store *s;
    store_place *p = NULL;
    entry one = {.bytes = -1};
    VP_TRY(store_find(a->url, &s));
    int rc = s->open(a, &p);
    if (rc == 0)
        rc = s->head(a, p, &one);
    if (rc == 0)
        rc = entry_put_info(a->stream, &one);
    s->close(p);
    return rc;
}
