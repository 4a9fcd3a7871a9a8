/* `extract`, and --extract of `serve`: unpacks the timelines of a catalog into a directory. */
#ifndef VP_CLI_CMD_EXTRACT_H
#define VP_CLI_CMD_EXTRACT_H

#include "server/cli/language/cli_options.h"
#include "trace/model/catalog/catalog.h"

/* Extracts every timeline into `dir` (created if missing, else empty) or, if NULL, into a new
 * temporary directory, whose path is stored in out (VP_PATH_MAX bytes). Prints the texts of the
 * original viewer. Returns an exit code: CLI_UNREADABLE if a damaged file was skipped. */
int cli_extract_all(const catalog *c, const cli_options *o, const char *dir, char *out);

#endif
