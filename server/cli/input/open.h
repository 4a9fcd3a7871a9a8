/* Opens the catalog of PATH, finds the run of the command line in it, and analyzes it. Errors are
 * recorded with vp_fail; cli_fail prints them. */
#ifndef VP_CLI_OPEN_H
#define VP_CLI_OPEN_H

#include <stddef.h>

#include "include/view_profile.h"
#include "server/cli/language/cli_options.h"
#include "trace/base/buf.h"
#include "trace/model/catalog/catalog.h"

/* Scans o->path or the default directory with progress, and reports the number of unreadable files
 * on stderr. A catalog without runs is not an error here. */
/* The mirror of a remote path, owned by the caller; NULL for a local path. */
int cli_mirror(mirror **out, const char *path, const cli_options *o);
int cli_open(catalog **out, const cli_options *o);
/* If a path does not exist and no command was given, suggests the nearest command. Returns rc. */
int cli_maybe_command(const cli_options *o, int rc);
/* 0, or the error why nothing in the catalog can be read. */
int cli_readable(const catalog *c);
/* Prints why there is no timeline to list or unpack; returns the exit code. */
int cli_no_timeline(const catalog *c);
void cli_catalog_free(catalog **c); /* for VP_CLEANUP */
/* The run of o->session, or the latest; NULL after recording an error. */
const cat_session *cli_session(const catalog *c, const cli_options *o);
/* Analyzes the selected run with progress. */
int cli_analyze(vp_report **out, const catalog *c, const cli_options *o);
/* --chip, --peak-tflops, --peak-gbs, --params and --tokens; VP_EARG. */
int cli_peaks(vp_report_options *opts, const cli_options *o);
/* The view of a report from o; top is 0 (all) or a number of rows. */
void cli_view(vp_view *v, const cli_options *o, size_t default_top);
/* The path of a file as the user would type it: DIR/FILE, ARCHIVE!MEMBER. */
int cli_put_path(vp_buf *b, const catalog *c, const cat_file *f);

#endif
