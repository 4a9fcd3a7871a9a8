/* Reads the token of `serve` from --token-file or the environment. */
#ifndef VP_CLI_SERVE_TOKEN_H
#define VP_CLI_SERVE_TOKEN_H

#include "server/cli/language/cli_options.h"

#define SERVE_TOKEN_MAX 256

/* The token of --token-file or $VIEW_PROFILE_TOKEN, which is removed from the environment; "" for
 * neither. token has SERVE_TOKEN_MAX + 1 bytes. */
int serve_token(char *token, const cli_options *o);

#endif
