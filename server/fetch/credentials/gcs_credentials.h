/* Finds Google application default credentials: a token in the environment, a service account
 * file, a user file, or the metadata service. */
#ifndef VP_FETCH_GCS_CREDENTIALS_H
#define VP_FETCH_GCS_CREDENTIALS_H

#include "server/fetch/http/http_call.h"

/* Adds a bearer token to a try. VP_EREFUSED: there are no credentials, and what to do. */
int gcs_authorize(void *ask, http_call *c);
/* Where credentials would come from, without asking anybody; NULL: nowhere that is known. */
const char *gcs_credentials_source(void);

#endif
