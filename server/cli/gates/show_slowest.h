/* Runs `view_profile top` as a child process, at the end of commands that produce a profile. */
#ifndef VP_CLI_SHOW_SLOWEST_H
#define VP_CLI_SHOW_SLOWEST_H

#include "server/cli/language/cli_options.h"

/* Prints the slowest ops of the run at path to the descriptor `out` with o's colors, and waits.
 * program: path of view_profile. rows: number of rows; negative: the default. quiet: no messages
 * except errors. Returns true on success. */
bool cli_show_slowest(const char *program, const cli_options *o, int64_t rows, bool quiet,
                      const char *path, int out);

#endif
