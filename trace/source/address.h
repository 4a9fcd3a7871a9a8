/* Parses the address of a remote log directory. Secrets (user, password, query) are separated from
 * the part that may be shown. The caller frees a source_address. */
#ifndef VP_SOURCE_ADDRESS_H
#define VP_SOURCE_ADDRESS_H

#include <stdbool.h>

#include "trace/base/limits.h"

#define ADDRESS_SECRETS "VIEW_PROFILE_ADDRESS"

typedef struct source_address {
    char *url;   /* as given by the user, without secrets; may be shown */
    char *base;  /* the url without trailing slashes */
    char *query; /* "?…" or ""; secret */
    char *user;  /* "user:password@" or NULL; secret, passed only to the fetcher */
    bool web;    /* http(s): paths are percent-encoded, and each directory is listed separately */
} source_address;

/* True if the user's text is a remote address. */
bool source_is_address(const char *typed);
/* Parses an address. If a web address has no query and user, those of the address at or above it in
 * the environment variable ADDRESS_SECRETS are used. So secrets appear in no command line. VP_EARG:
 * not an address, or without host or bucket. *out must be freed in either case. */
int source_address_read(source_address *out, const char *typed);
void source_address_free(source_address *a);
/* The displayable address of a path beneath it, freed by the caller; NULL: out of memory. */
char *source_address_beneath(const source_address *a, const char *path);

/* The local directory for what a watch stores about an address, below $XDG_STATE_HOME; it may not
 * exist. VP_EIO: neither that nor HOME is set; VP_ELIMIT. */
int source_address_place(char out[VP_PATH_MAX], const source_address *a);

#endif
