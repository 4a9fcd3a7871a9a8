/* Azure as a store. */
#include <time.h>

#include "server/fetch/store/azure.h"
#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static int check_sas(const azure_place *p)
{
    vp_str s = vp_str_of(p->account.sas), one;
    VP_CLEANUP(vp_buf_free) vp_buf end;
    vp_buf_init(&end, 4096);
    while (s.n) {
        if (!vp_take_until(&s, '&', s.n, &one))
            one = s, s.n = 0;
        if (vp_str_starts(one, VP_STR("se=")))
            url_decode(&end, vp_str_skip(one, 3));
    }
    int64_t until = xml_time(vp_buf_view(&end));
    return until && until / 1000000000 < (int64_t)time(NULL)
               ? vp_fail(VP_EREFUSED, "the SAS token has expired; create a new one")
               : 0;
}

static int azure_open(fetch_ask *a, store_place **out)
{
    azure_place *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    *out = (store_place *)p;
    p->ask = a;
    VP_TRY(azure_account_find(&p->account));
    VP_TRY(azure_take_address(p, a->url));
    return a->is_unsigned ? 0 : check_sas(p);
}

static void azure_close(store_place *place)
{
    azure_place *p = (azure_place *)place;
    if (!p)
        return;
    if (p->has_head)
        http_end(&p->head);
    azure_account_wipe(&p->account);
    vp_free(p);
}

static int azure_head(fetch_ask *a, store_place *place, entry *out)
{
    azure_place *p = (azure_place *)place;
    (void)a;
    if (!p->key.n)
        return vp_fail(VP_ENOTFOUND, "this names a container, not an object");
    p->has_head = true;
    VP_TRY(azure_begin(p, &p->head, "HEAD", p->key, VP_STR_NONE));
    VP_TRY(http_succeed(&p->head));
    *out = store_entry(&p->head);
    return 0;
}

static int azure_get(fetch_ask *a, store_place *place, vp_str etag, http_call *c)
{
    azure_place *p = (azure_place *)place;
    (void)a;
    VP_TRY(azure_begin(p, c, "GET", p->key, VP_STR_NONE));
    return store_want_etag(c, etag);
}

static int azure_list_place(fetch_ask *a, store_place *p, entries *e)
{
    (void)a;
    return azure_list((azure_place *)p, e);
}

static int azure_remove(fetch_ask *a, store_place *place, vp_str etag, http_call *c)
{
    azure_place *p = (azure_place *)place;
    (void)a;
    VP_TRY(azure_begin(p, c, "DELETE", p->key, VP_STR_NONE));
    return p->key.n ? store_want_etag(c, etag) : vp_fail(VP_EARG, "a container cannot be removed");
}

static int azure_write_place(fetch_ask *a, store_place *p)
{
    (void)a;
    return azure_write((azure_place *)p);
}

#define AZURE(scheme)                                                                              \
    {                                                                                              \
        .prefix = VP_STR_INIT(scheme), .open = azure_open, .close = azure_close,                   \
        .list = azure_list_place, .head = azure_head, .get = azure_get, .version = store_etag,     \
        .write = azure_write_place, .remove = azure_remove                                         \
    }
const store store_azure = AZURE("az://"), store_abfs = AZURE("abfs://"),
            store_abfss = AZURE("abfss://");
