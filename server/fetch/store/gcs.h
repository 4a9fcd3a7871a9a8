/* gs://BUCKET/KEY by Google's JSON API: declarations shared by the files of this store. */
#ifndef VP_FETCH_GCS_H
#define VP_FETCH_GCS_H

#include "server/fetch/store/fetch_store.h"

typedef struct gcs_place {
    fetch_ask *ask;
    vp_str bucket, key;
    char base[512];   /* scheme and host, without '/' at its end */
    bool is_open;     /* an emulator, which wants no credentials */
    char version[32]; /* of the last head */
} gcs_place;

/* Fills base and is_open by the environment. */
void gcs_find_base(gcs_place *p);
/* A request for what the API has at PREFIX/storage/v1/b/BUCKET/o, of one object where key is not
 * empty, with a query. */
int gcs_begin(gcs_place *p, http_call *c, const char *method, const char *prefix, vp_str key,
              vp_str query);
int gcs_list(gcs_place *p, entries *e);
int gcs_write(gcs_place *p);

#endif
