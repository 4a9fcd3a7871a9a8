/* `view_profile top` as a process of its own: how the commands that make a profile end. */
#ifndef VP_CLI_SHOW_SLOWEST_H
#define VP_CLI_SHOW_SLOWEST_H

#include "server/cli/language/cli_options.h"

/* Shows the slowest ops of the run at path on the descriptor `out`, in o's colours, and waits for
 * that. program: the path of view_profile. rows: how many; negative: as many as by default. quiet:
 * only errors beside them. Whether it said what it had to say. */
bool cli_show_slowest(const char *program, const cli_options *o, int64_t rows, bool quiet,
                      const char *path, int out);

#endif
