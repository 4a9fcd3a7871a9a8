/* Handles FETCH_WRITE: writes an object, or a file on a WebDAV server. */
#include "server/fetch/store/fetch_store.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

int fetch_answer_write(fetch_ask *a)
{
    const store *s;
    store_place *p = NULL;
    VP_TRY(store_find(a->url, &s));
    /* Names that servers would change. */
    vp_str path = vp_str_skip(a->url, vp_str_find(a->url, VP_STR("://")) + 3);
    const char *fault = url_name_fault(path);
    if (fault)
        return vp_fail(VP_EARG, "cannot write to an address with %s", fault);
    int rc = s->open(a, &p);
    if (rc == 0)
        rc = s->write(a, p);
    s->close(p);
    return rc;
}
