/* s3://BUCKET/KEY at AWS or at AWS_ENDPOINT_URL (MinIO, Ceph): declarations shared by the files of
 * this store. */
#ifndef VP_FETCH_S3_H
#define VP_FETCH_S3_H

#include "server/fetch/credentials/aws_credentials.h"
#include "server/fetch/store/fetch_store.h"

typedef struct s3_place {
    fetch_ask *ask;
    vp_str bucket, key; /* of the requested address */
    char region[64];
    char endpoint[512]; /* without trailing '/'; empty: the endpoint of AWS */
    aws_credentials keys;
    http_call head;
    bool has_head;
} s3_place;

/* Sets region and endpoint of the bucket. */
void s3_find_place(s3_place *p);
/* Prepares a request for a key (empty: the bucket) with a query, encoded and sorted; empty: none.
 * It is signed when it is performed. */
int s3_begin(s3_place *p, http_call *c, const char *method, vp_str key, vp_str query);
int s3_list(s3_place *p, entries *e);
int s3_write(s3_place *p);

#endif
