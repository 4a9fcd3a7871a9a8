/* Parses argv by the option table and suggests the nearest option or command for a typing error. */
#ifndef VP_CLI_ARGUMENTS_H
#define VP_CLI_ARGUMENTS_H

#include <stddef.h>

#include "server/cli/language/cli_options.h"
#include "trace/base/str.h"

/* Parses argv. 0, or CLI_USAGE after printing an error that names the option. */
int cli_parse(cli_options *o, int argc, char **argv);
/* The number of words in "a|b|c", and the i-th. */
size_t cli_word_count(const char *words);
vp_str cli_word(const char *words, size_t i);
/* The candidate nearest to a mistyped word, or NULL if none is near. */
const char *cli_nearest(vp_str word, const char *(*candidate)(void *ctx, size_t i), void *ctx);

#endif
