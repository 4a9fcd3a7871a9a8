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
    int64_t until_s;  /* Unix; 0: no end is known */
    const char *from; /* what they were found in, a literal; NULL: none were */
} aws_credentials;

/* Those of this process, found once and asked for anew before they end. VP_EREFUSED: there are
 * none, and what to do; VP_EREMOTE: who gives them out does not. Thread-safe. */
int aws_credentials_get(fetch_ask *a, aws_credentials *out);
/* The same without asking anybody: where they would come from; NULL: nowhere that is known. *other:
 * what the profile wants instead, which is not done here; or NULL. */
const char *aws_credentials_source(const char **other);
void aws_credentials_wipe(aws_credentials *c);
/* A setting of the profile in the config file ("region", "endpoint_url"); false: none. */
bool aws_setting(const char *name, char *out, size_t cap);
/* The region: the environment, the profile, us-east-1. */
void aws_region(char *out, size_t cap);

#endif
