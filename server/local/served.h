/* Registers which directories are served at which URLs of this machine: each server keeps a locked
 * file PID.serve in the user's runtime directory (trace/base/system/live_dir.h) while it runs. */
#ifndef VP_LOCAL_SERVED_H
#define VP_LOCAL_SERVED_H

#include <stdbool.h>

#include "trace/base/limits.h"

/* Creates the file of this process, before the sandbox is enabled; errors are ignored. */
void served_prepare(void);
/* Writes the entry: url without token; dir is a path, or an address without secrets. */
void served_tell(const char *url, const char *dir);
/* Removes the entry. */
void served_end(void);

/* Finds the URL at which dir (a path, or an address without password) or a directory above it is
 * served; *exact is false for the latter. Returns false if it is not served. */
bool served_find(char url[VP_PATH_MAX], const char *dir, bool *exact);

#endif
