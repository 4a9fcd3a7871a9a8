/* Gets bearer tokens from Google's and Microsoft's services. A token is cached for this process
 * until shortly before it expires. */
#ifndef VP_FETCH_OAUTH_TOKEN_H
#define VP_FETCH_OAUTH_TOKEN_H

#include <pthread.h>
#include <stdint.h>

#include "server/fetch/http/http_call.h"

typedef struct oauth_token {
    char text[8192];
    int64_t until_s;  /* Unix time; 0: no expiry known */
    const char *from; /* a literal */
} oauth_token;

typedef struct oauth_kept {
    pthread_mutex_t lock;
    oauth_token token;
} oauth_kept;

/* Adds the cached token, or one that `find` gets, as the Authorization header of one try. Returns 0
 * or the failure of `find`. */
int oauth_authorize(oauth_kept *kept, int (*find)(fetch_ask *a, oauth_token *out), fetch_ask *a,
                    http_call *c);
/* Parses access_token, and expires_in or expires_on, of a response. VP_EREMOTE: no token. */
int oauth_take(const http_call *c, oauth_token *out);
/* Posts a form and returns the token of the response. */
int oauth_post(fetch_ask *a, const char *url, vp_str form, oauth_token *out);

#endif
