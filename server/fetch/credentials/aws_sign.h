/* AWS Signature Version 4 for the headers of one request. The implementation of libcurl 7.88
 * neither sorts the query nor encodes keys as S3 does. */
#ifndef VP_FETCH_AWS_SIGN_H
#define VP_FETCH_AWS_SIGN_H

#include "trace/base/buf.h"
#include "trace/base/str.h"

typedef struct aws_signed_header {
    vp_str name, value; /* name in lower case */
} aws_signed_header;

typedef struct aws_request {
    vp_str key_id, secret, region, service;
    vp_str time; /* "20130524T000000Z", also sent as x-amz-date */
    vp_str method;
    vp_str path;  /* encoded as sent, from '/' on */
    vp_str query; /* encoded and sorted, name=value with & between; without '?' */
    const aws_signed_header *headers; /* sorted by name */
    size_t header_n;
    const char *payload; /* SHA-256 of the body in hexadecimal digits, or a placeholder for it */
} aws_request;

/* Appends the value of Authorization. VP_EIO: OpenSSL failed. */
int aws_sign(const aws_request *r, vp_buf *out);

#endif
