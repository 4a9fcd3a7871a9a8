/* `--list-only` of `serve`. */
#ifndef VP_CLI_CMD_LIST_H
#define VP_CLI_CMD_LIST_H

#include "trace/model/catalog/catalog.h"

/* `--list-only`: the original viewer's texts. Returns an exit code. */
int cli_list_only(const catalog *c);

#endif
