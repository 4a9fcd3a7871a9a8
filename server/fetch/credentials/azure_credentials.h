/* Finds the account, endpoint and credentials of Azure storage as the Azure tools do: connection
 * string, SAS token or key in the environment, workload identity, managed identity. */
#ifndef VP_FETCH_AZURE_CREDENTIALS_H
#define VP_FETCH_AZURE_CREDENTIALS_H

#include "server/fetch/http/http_call.h"

typedef struct azure_account {
    char name[128];
    char endpoint[512]; /* endpoint for blobs, without trailing '/'; empty: Azure's default */
    char suffix[128];   /* "core.windows.net" */
    char key[256];      /* base64; empty: none */
    char sas[2048];     /* without '?'; empty: none */
} azure_account;

/* Reads the environment. The result contains secrets and must be wiped. VP_EARG: a value is too
 * long. */
int azure_account_find(azure_account *out);
void azure_account_wipe(azure_account *account);
/* Adds a bearer token of an identity to a try. VP_EREFUSED: no credentials, with advice. */
int azure_authorize(fetch_ask *a, http_call *c);
/* Returns the source of the credentials without any request; NULL: no known source. */
const char *azure_credentials_source(void);

#endif
