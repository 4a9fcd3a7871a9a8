/* Writes local files to a remote log directory, removes remote objects, and reads small ones.
 * Failures: VP_EREMOTE, VP_EPERM, VP_EREFUSED, …. */
#ifndef VP_SOURCE_SOURCE_WRITE_H
#define VP_SOURCE_SOURCE_WRITE_H

#include "trace/source/source_ask.h"

/* Writes the file as the object `url`, atomically, replacing an existing one. Failures of the
 * remote side do not contain the url. */
int source_write_file(const source_ask *a, const char *url, const char *path);
/* Removes the object if it still has this version; on a web server, also its directory if that is
 * empty then. 0: it no longer exists; VP_EREFUSED: its version has changed. */
int source_remove(const source_ask *a, const char *url, const char *etag);
/* Reads a whole object into b, within b's maximum. */
int source_read_all(const source_ask *a, const char *url, vp_buf *b);

#endif
