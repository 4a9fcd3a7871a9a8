/* az://[ACCOUNT/]CONTAINER/BLOB and abfs[s]://CONTAINER@ACCOUNT.dfs.core.windows.net/BLOB:
 * declarations shared by the files of this store. */
#ifndef VP_FETCH_AZURE_H
#define VP_FETCH_AZURE_H

#include "server/fetch/credentials/azure_credentials.h"
#include "server/fetch/store/fetch_store.h"

typedef struct azure_place {
    fetch_ask *ask;
    vp_str container, key;
    azure_account account;
    http_call head;
    bool has_head;
} azure_place;

/* Parses account, container and key of an address. VP_EARG: malformed. */
int azure_take_address(azure_place *p, vp_str url);
/* Prepares a request for a blob (empty: the container) with a query, encoded and sorted by name;
 * empty: none. */
int azure_begin(azure_place *p, http_call *c, const char *method, vp_str key, vp_str query);
int azure_list(azure_place *p, entries *e);
int azure_write(azure_place *p);

#endif
