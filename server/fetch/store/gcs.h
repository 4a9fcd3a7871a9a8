/* gs://BUCKET/KEY by Google's JSON API: declarations shared by the files of this store. */
#ifndef VP_FETCH_GCS_H
#define VP_FETCH_GCS_H

#include "server/fetch/store/fetch_store.h"

typedef struct gcs_place {
    fetch_ask *ask;
    vp_str bucket, key;
    char base[512];   /* scheme and host, without trailing '/' */
    bool is_open;     /* an emulator, which needs no credentials */
    char version[32]; /* of the last head */
} gcs_place;

/* Sets base and is_open from the environment. */
void gcs_find_base(gcs_place *p);
/* Prepares a request to PREFIX/storage/v1/b/BUCKET/o with a query; for one object if key is not
 * empty. */
int gcs_begin(gcs_place *p, http_call *c, const char *method, const char *prefix, vp_str key,
              vp_str query);
int gcs_list(gcs_place *p, entries *e);
int gcs_write(gcs_place *p);

#endif
