/* Writes an exported stream to the output of `export`, compressed if the name ends in .gz or .tgz,
 * and warns about events that were not exported. */
#ifndef VP_CLI_EXPORT_COPY_H
#define VP_CLI_EXPORT_COPY_H

#include "server/net/answer/http_source.h"
#include "trace/base/buf.h"

/* Writes a source to b and closes it; compresses if path (can be NULL) ends in .gz or .tgz. */
int cli_export_copy(vp_buf *b, http_source in, const char *path);
/* Warns of events that were not exported (ex_pick.missing_events), and with --verbose of flow ends.
 */
void cli_export_missing(const char *file, uint64_t events, uint64_t flows);

#endif
