/* PATH and SESSION become a catalog and one of its sessions; what goes wrong is said in words. */
#ifndef VP_CLI_OPEN_H
#define VP_CLI_OPEN_H

#include <stddef.h>

#include "include/view_profile.h"
#include "server/cli/language/cli_options.h"
#include "trace/base/buf.h"
#include "trace/model/catalog/catalog.h"

/* Scans o->path or the default directory with progress; counts on stderr what was not readable.
 * A catalog without sessions is not an error here. */
/* The mirror of what the path is the address of, which is the caller's; NULL: it lies here. */
int cli_mirror(mirror **out, const char *path, const cli_options *o);
int cli_open(catalog **out, const cli_options *o);
/* A path that is not there, where no command was typed, may be a mistyped command: says so.
 * Returns rc. */
int cli_maybe_command(const cli_options *o, int rc);
/* 0, or the failure that says why nothing in the catalog can be read. */
int cli_readable(const catalog *c);
/* Says why there is no timeline to list or unpack; returns the exit code. */
int cli_no_timeline(const catalog *c);
void cli_catalog_free(catalog **c); /* for VP_CLEANUP */
/* The session of o->session, or the latest; NULL after a failure was recorded. */
const cat_session *cli_session(const catalog *c, const cli_options *o);
/* Analyses the chosen session with progress. */
int cli_analyze(vp_report **out, const catalog *c, const cli_options *o);
/* --chip, --peak-tflops, --peak-gbs, --params and --tokens; VP_EARG. */
int cli_peaks(vp_report_options *opts, const cli_options *o);
/* How o wants a report shown; top is 0 (all) or the rows. */
void cli_view(vp_view *v, const cli_options *o, size_t default_top);
/* The path of a file as the user would type it: DIR/FILE, ARCHIVE!MEMBER. */
int cli_put_path(vp_buf *b, const catalog *c, const cat_file *f);

#endif
