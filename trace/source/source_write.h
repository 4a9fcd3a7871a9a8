/* A captured file on its way to where --out lies elsewhere. Included by server/cli only. */
#ifndef VP_CLI_PROFILE_UPLOAD_H
#define VP_CLI_PROFILE_UPLOAD_H

#include <stdbool.h>

#include "trace/source/fetcher.h"

/* Writes the file as the object `url`, which appears whole or not at all. */
int profile_upload(fetcher *f, const char *path, const char *url, bool is_unsigned);

#endif
