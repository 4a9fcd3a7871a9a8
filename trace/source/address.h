/* The address of a log directory elsewhere, taken apart. */
#ifndef VP_SOURCE_ADDRESS_H
#define VP_SOURCE_ADDRESS_H

#include <stdbool.h>

#include "trace/base/limits.h"

#define ADDRESS_SECRETS "VIEW_PROFILE_ADDRESS"

typedef struct source_address {
    char *url;   /* as the user gave it, but without what follows: what may be shown */
    char *base;  /* that without slashes at its end */
    char *query; /* "?…" or "", and */
    char *user;  /* "user:password@" or NULL, which are told to nobody but who fetches */
    bool web;    /* http(s): paths are escaped, and each directory is asked for */
} source_address;

/* Whether what a user typed is such an address. */
bool source_is_address(const char *typed);
/* A web address without query and user has those of the one in ADDRESS_SECRETS (an environment
 * variable, in which they stand in no command line) at or above it. VP_EARG: it is none, or names
 * no host or bucket. *out is freed in either case. */
int source_address_read(source_address *out, const char *typed);
void source_address_free(source_address *a);
/* The address of what lies at path beneath it, as it may be shown, which is freed by the caller;
 * NULL: out of memory. */
char *source_address_beneath(const source_address *a, const char *path);

/* Where what a watch knows of an address lies on this machine: a directory below $XDG_STATE_HOME,
 * which may not be there. VP_EIO: neither that nor HOME is set; VP_ELIMIT. */
int source_address_place(char out[VP_PATH_MAX], const source_address *a);

#endif
