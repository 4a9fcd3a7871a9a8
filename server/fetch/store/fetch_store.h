/* The operations of a store, by URL scheme. A store builds and signs the URLs of its objects;
 * reading and writing goes through http_call.h in the same way for all stores (store_bytes.h). */
#ifndef VP_FETCH_FETCH_STORE_H
#define VP_FETCH_FETCH_STORE_H

#include "server/fetch/http/http_call.h"
#include "server/fetch/question/entries.h"
#include "server/fetch/question/fetch_answer.h"

/* An address that was taken apart, and whatever the store remembers of a question: one block,
 * freed by the store's close. */
typedef struct store_place store_place;

typedef struct store {
    vp_str prefix; /* of its addresses: "s3://" */
    /* Reads the address and no credentials yet; *p is freed by close, after a failure too. */
    int (*open)(fetch_ask *a, store_place **p);
    void (*close)(store_place *p);
    /* Everything beneath, or one level, into e. */
    int (*list)(fetch_ask *a, store_place *p, entries *e);
    /* Size and version of the object; text lives in p. */
    int (*head)(fetch_ask *a, store_place *p, entry *out);
    /* A GET of the object, ready to be performed but for Range and write. etag: it must have this
     * version, empty: any; by headers or in the address. */
    int (*get)(fetch_ask *a, store_place *p, vp_str etag, http_call *c);
    /* The version of what a GET answered. */
    vp_str (*version)(const http_call *c);
    int (*write)(fetch_ask *a, store_place *p);
    /* A DELETE of the object, ready to be performed; etag as of get, where the store minds it. */
    int (*remove)(fetch_ask *a, store_place *p, vp_str etag, http_call *c);
    /* What was left of a directory when its last file was removed; NULL: nothing is. */
    int (*tidy)(fetch_ask *a, store_place *p);
} store;

extern const store store_web, store_web_tls, store_s3, store_gcs, store_azure, store_abfs,
    store_abfss;

/* The one for an address. VP_EARG: none has such addresses. */
int store_find(vp_str url, const store **out);

/* The version that most stores tell: the header ETag. */
vp_str store_etag(const http_call *c);
/* If-Match, where a version is wanted. */
int store_want_etag(http_call *c, vp_str etag);
/* What a HEAD or GET answered, as an entry without a name. */
entry store_entry(const http_call *c);

#endif
