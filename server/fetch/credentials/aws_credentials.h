/* Finds AWS credentials in the places and the order of the AWS tools: environment, shared files
 * with profiles, web identity token, container endpoint, instance metadata service. The caller
 * owns the result. Fails with VP_EREFUSED if no credentials are found. */
#ifndef VP_FETCH_AWS_CREDENTIALS_H
#define VP_FETCH_AWS_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/fetch/question/fetch_answer.h"

typedef struct aws_credentials {
    char id[256], secret[512], token[4096];
    int64_t until_s;  /* Unix time; 0: no expiry known */
    const char *from; /* a literal that names the source; NULL: no source */
} aws_credentials;

/* Returns the credentials of this process, found once and refreshed before they expire.
 * VP_EREFUSED: no credentials, with advice; VP_EREMOTE: the service that issues them failed.
 * Thread-safe. */
int aws_credentials_get(fetch_ask *a, aws_credentials *out);
/* Returns the source of the credentials without any request; NULL: no known source. *other: an
 * unsupported method that the profile requires; or NULL. */
const char *aws_credentials_source(const char **other);
void aws_credentials_wipe(aws_credentials *c);
/* A setting of the profile in the config file ("region", "endpoint_url"); false: none. */
bool aws_setting(const char *name, char *out, size_t cap);
/* The region: the environment, the profile, us-east-1. */
void aws_region(char *out, size_t cap);

#endif
