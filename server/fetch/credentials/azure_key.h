/* Signs Azure storage requests with an account key ("Shared Key", version 2015-02-21 and later). */
#ifndef VP_FETCH_AZURE_KEY_H
#define VP_FETCH_AZURE_KEY_H

#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

typedef struct azure_request {
    vp_str method, account;
    vp_str path;    /* encoded as sent, from '/' on */
    vp_str query;   /* encoded and sorted by name, without '?' */
    vp_str headers; /* "Name: value", each ended by a NUL */
    vp_str more;    /* the same */
    int64_t body_n; /* bytes */
} azure_request;

/* What is signed. */
int azure_key_text(const azure_request *r, vp_buf *out);
/* Writes the value of Authorization. VP_EARG: the key is not base64. */
int azure_key_sign(const azure_request *r, vp_str key, vp_buf *out);

#endif
