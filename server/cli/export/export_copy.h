/* Where what `export` makes goes. */
#ifndef VP_CLI_EXPORT_COPY_H
#define VP_CLI_EXPORT_COPY_H

#include "server/net/answer/http_source.h"
#include "trace/base/buf.h"

/* Writes all of a source (taken) to b: packed where path, which may be NULL, ends in .gz or .tgz.
 */
int cli_export_copy(vp_buf *b, http_source in, const char *path);
/* Warns of events that a file has and its export lacks (ex_pick.missing_events); of ends of arrows
 * only with --verbose. */
void cli_export_missing(const char *file, uint64_t events, uint64_t flows);

#endif
