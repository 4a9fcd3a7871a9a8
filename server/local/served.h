/* Which directories are served at which addresses of this machine: each server has a file in the
 * user's own directory (trace/base/system/live_dir.h), PID.serve, which it keeps locked as long as
 * it runs. */
#ifndef VP_LOCAL_SERVED_H
#define VP_LOCAL_SERVED_H

#include <stdbool.h>

#include "trace/base/limits.h"

/* Makes this process's file, before its sandbox; nothing where that cannot be. */
void served_prepare(void);
/* Says what is served where: url without a token, dir a path or an address as it may be shown. */
void served_tell(const char *url, const char *dir);
/* What is served is nowhere any more. */
void served_end(void);

/* The address at which dir (a path, or an address without a password) is served, or else one above
 * it, for which *exact is false. false: it is served nowhere. */
bool served_find(char url[VP_PATH_MAX], const char *dir, bool *exact);

#endif
