/* The token of `serve`. */
#ifndef VP_CLI_SERVE_TOKEN_H
#define VP_CLI_SERVE_TOKEN_H

#include "server/cli/language/cli_options.h"

#define SERVE_TOKEN_MAX 256

/* The token of --token-file or $VIEW_PROFILE_TOKEN, which children then do not see; "" for neither.
 * token has SERVE_TOKEN_MAX + 1 bytes. */
int serve_token(char *token, const cli_options *o);

#endif
