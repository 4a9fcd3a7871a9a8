/* Trace files out of archives and .gz into a directory: `extract`, and --extract of `serve`. */
#ifndef VP_CLI_CMD_EXTRACT_H
#define VP_CLI_CMD_EXTRACT_H

#include "server/cli/language/cli_options.h"
#include "trace/model/catalog/catalog.h"

/* Extracts every timeline into `dir` (made when missing, else empty) or, when NULL, into a fresh
 * temporary directory whose path goes to out (VP_PATH_MAX). Prints the original's texts.
 * Returns an exit code: CLI_UNREADABLE when a damaged file was left out. */
int cli_extract_all(const catalog *c, const cli_options *o, const char *dir, char *out);

#endif
