/* Prints the URL at which the page of a captured run can be opened. */
#ifndef VP_CLI_PROFILE_PAGE_H
#define VP_CLI_PROFILE_PAGE_H

#include "trace/base/buf.h"

/* Appends one line: the URL of the page if a server runs for `out` (a directory, or an address
 * without secrets), else the command that serves it and the resulting URL. */
void profile_page_put(vp_buf *b, const char *out, const char *run);

#endif
