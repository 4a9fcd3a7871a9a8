/* Handles FETCH_REMOVE: deletes one object or file, but not a newer one with the same name. */
#include "server/fetch/store/fetch_store.h"
#include "trace/base/err.h"

static int refuse_replaced_object(void)
{
    return vp_fail(VP_EREFUSED, "the object was replaced by another writer; it is kept");
}

static int check_version(fetch_ask *a, const store *s, store_place *p)
{
    entry now = {.bytes = -1};
    VP_TRY(s->head(a, p, &now));
    return vp_str_eq(now.etag, a->etag) ? 0 : refuse_replaced_object();
}

static int remove_it(fetch_ask *a, const store *s, store_place *p)
{
    http_call c;
    int rc = s->remove(a, p, a->etag, &c);
    if (rc == 0)
        rc = http_succeed(&c);
    if (rc < 0 && c.status == 412)
        rc = refuse_replaced_object();
    if (rc < 0 && (c.status == 405 || c.status == 501))
        rc = vp_fail(VP_EUNSUPPORTED, "the server does not allow deleting files (HTTP %ld)",
                     c.status);
    http_end(&c);
    return rc;
}

int fetch_answer_remove(fetch_ask *a)
{
    const store *s;
    store_place *p = NULL;
    VP_TRY(store_find(a->url, &s));
    int rc = s->open(a, &p);
    if (rc == 0 && a->etag.n)
        rc = check_version(a, s, p);
    if (rc == 0)
        rc = remove_it(a, s, p);
    if (rc == VP_ENOTFOUND) /* as it was to be */
        rc = 0;
    if (rc == 0 && s->tidy)
        rc = s->tidy(a, p);
    s->close(p);
    return rc;
}
