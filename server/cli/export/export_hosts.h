/* `export` of all hosts of a run into one file. */
#ifndef VP_CLI_EXPORT_HOSTS_H
#define VP_CLI_EXPORT_HOSTS_H

#include "server/cli/language/cli_options.h"
#include "server/routes/traces/added_tracks.h"
#include "trace/export/hosts.h"

/* Whether the words ask for that. */
bool cli_all_hosts(const cat_session *s, const cli_options *o);
/* Analyses the run for how the clocks of its hosts relate, and opens the stream; out->hosts is
 * freed after it, and so is *more, also on failure (both zeroed before). */
int cli_all_hosts_open(rd_stream **out, ex_hosts *hosts, added_tracks *more, catalog *c,
                       const cat_session *s, const cli_options *o);
/* Warns of hosts that are not there, or not as a whole. 0; or, if none is there, why. */
int cli_all_hosts_end(const ex_hosts *hosts);

#endif
