/* Where the page of a captured run is. */
#ifndef VP_CLI_PROFILE_PAGE_H
#define VP_CLI_PROFILE_PAGE_H

#include "trace/base/buf.h"

/* A line: its address, where a server runs over `out` (a directory, or an address that may be
 * shown), else the command that serves it and the address that the page has then. */
void profile_page_put(vp_buf *b, const char *out, const char *run);

#endif
