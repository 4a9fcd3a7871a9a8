/* Finds Google application default credentials: a token in the environment, a service account
 * file, a user file, or the metadata service. */
#ifndef VP_FETCH_GCS_CREDENTIALS_H
#define VP_FETCH_GCS_CREDENTIALS_H

#include "server/fetch/http/http_call.h"

/* Adds a bearer token to a try. VP_EREFUSED: no credentials, with advice. */
int gcs_authorize(void *ask, http_call *c);
/* Returns the source of the credentials without any request; NULL: no known source. */
const char *gcs_credentials_source(void);

#endif
