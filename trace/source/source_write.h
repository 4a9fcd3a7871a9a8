/* Files of this machine on their way to where a log directory lies elsewhere, and away from
 * there. */
#ifndef VP_SOURCE_SOURCE_WRITE_H
#define VP_SOURCE_SOURCE_WRITE_H

#include "trace/source/source_ask.h"

/* Writes the file as the object `url`, which appears whole or not at all, in the place of one that
 * was there. Failures of the other side do not name it. */
int source_write_file(const source_ask *a, const char *url, const char *path);
/* Removes the object if it still is this version, and of a web server its directory if that is
 * empty then. 0: it is no longer there; VP_EREFUSED: it is another by now. */
int source_remove(const source_ask *a, const char *url, const char *etag);
/* Reads all of an object into b, whose ceiling it may not exceed. */
int source_read_all(const source_ask *a, const char *url, vp_buf *b);

#endif
