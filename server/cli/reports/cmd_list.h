/* `--list-only` of `serve`. */
#ifndef VP_CLI_CMD_LIST_H
#define VP_CLI_CMD_LIST_H

#include "trace/model/catalog/catalog.h"

/* `--list-only`: prints the texts of the original viewer. Returns an exit code. */
int cli_list_only(const catalog *c);

#endif
