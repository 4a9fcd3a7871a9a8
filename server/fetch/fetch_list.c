/* Handles FETCH_LIST: the objects below an address. */
#include "server/fetch/store/fetch_store.h"
#include "trace/base/err.h"

int fetch_answer_list(fetch_ask *a)
{
    const store *s;
    store_place *p = NULL;
    entries e;
    VP_TRY(store_find(a->url, &s));
    entries_begin(&e, a->stream);
    int rc = s->open(a, &p);
    if (rc == 0)
        rc = s->list(a, p, &e);
    if (rc == 0)
        rc = entries_end(&e);
    entries_free(&e);
    s->close(p);
    return rc;
}
