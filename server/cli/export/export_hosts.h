/* `export` of all hosts of a run into one file. */
#ifndef VP_CLI_EXPORT_HOSTS_H
#define VP_CLI_EXPORT_HOSTS_H

#include "server/cli/language/cli_options.h"
#include "server/routes/traces/added_tracks.h"
#include "trace/export/hosts.h"

/* True if the options select all hosts. */
bool cli_all_hosts(const cat_session *s, const cli_options *o);
/* Analyzes the run to align the clocks of its hosts, and opens the stream. The caller zeroes hosts
 * and *more before, and frees both after the stream, also on failure. */
int cli_all_hosts_open(rd_stream **out, ex_hosts *hosts, added_tracks *more, catalog *c,
                       const cat_session *s, const cli_options *o);
/* Warns of missing and incomplete hosts. Fails if no host was exported. */
int cli_all_hosts_end(const ex_hosts *hosts);

#endif
