/* The operations of a store, by URL scheme. A store builds and signs the URLs of its objects;
 * reading and writing goes through http_call.h in the same way for all stores (store_bytes.h). */
#ifndef VP_FETCH_FETCH_STORE_H
#define VP_FETCH_FETCH_STORE_H

#include "server/fetch/http/http_call.h"
#include "server/fetch/question/entries.h"
#include "server/fetch/question/fetch_answer.h"

/* A parsed address and the state that a store keeps for a request: one block, freed by the store's
 * `close`. */
typedef struct store_place store_place;

typedef struct store {
    vp_str prefix; /* prefix of its addresses: "s3://" */
    /* Parses the address without reading credentials. *p is freed by close, even after a failure.
     */
    int (*open)(fetch_ask *a, store_place **p);
    void (*close)(store_place *p);
    /* Lists everything beneath, or one level, into e. */
    int (*list)(fetch_ask *a, store_place *p, entries *e);
    /* Size and version of the object; text lives in p. */
    int (*head)(fetch_ask *a, store_place *p, entry *out);
    /* Prepares a GET of the object; the caller adds Range and write. etag: the required version,
     * sent in headers or in the address; empty: any. */
    int (*get)(fetch_ask *a, store_place *p, vp_str etag, http_call *c);
    /* The version in the response of a GET. */
    vp_str (*version)(const http_call *c);
    int (*write)(fetch_ask *a, store_place *p);
    /* Prepares a DELETE of the object; etag as for get, if the store supports it. */
    int (*remove)(fetch_ask *a, store_place *p, vp_str etag, http_call *c);
    /* Removes what remains of a directory after its last file was removed; NULL: nothing remains.
     */
    int (*tidy)(fetch_ask *a, store_place *p);
} store;

extern const store store_web, store_web_tls, store_s3, store_gcs, store_azure, store_abfs,
    store_abfss;

/* The store for an address. VP_EARG: no store has such addresses. */
int store_find(vp_str url, const store **out);

/* The version by the header ETag, which most stores send. */
vp_str store_etag(const http_call *c);
/* Adds If-Match if a version is required. */
int store_want_etag(http_call *c, vp_str etag);
/* Fills an entry without a name from the response of a HEAD or GET. */
entry store_entry(const http_call *c);

#endif
