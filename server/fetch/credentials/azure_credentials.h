/* Finds the account, endpoint and credentials of Azure storage as the Azure tools do: connection
 * string, SAS token or key in the environment, workload identity, managed identity. */
#ifndef VP_FETCH_AZURE_CREDENTIALS_H
#define VP_FETCH_AZURE_CREDENTIALS_H

#include "server/fetch/http/http_call.h"

typedef struct azure_account {
    char name[128];
    char endpoint[512]; /* of its blobs, without '/' at its end; empty: Azure's own */
    char suffix[128];   /* "core.windows.net" */
    char key[256];      /* base64; empty: none */
    char sas[2048];     /* without '?'; empty: none */
} azure_account;

/* What the environment says; secrets are in it, so it is wiped. VP_EARG: it is too long. */
int azure_account_find(azure_account *out);
void azure_account_wipe(azure_account *account);
/* Adds a bearer token of an identity to a try. VP_EREFUSED: there are no credentials, and what to
 * do. */
int azure_authorize(fetch_ask *a, http_call *c);
/* Where credentials would come from, without asking anybody; NULL: nowhere that is known. */
const char *azure_credentials_source(void);

#endif
