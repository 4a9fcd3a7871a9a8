/* A directory that holds a build of the Perfetto UI: index.html, and beside it a directory for each
 * version that it can load. What is needed to serve it (ui_server.h) is read once; the files are
 * opened when they are asked for. */
#ifndef VP_ROUTES_UI_BUILD_H
#define VP_ROUTES_UI_BUILD_H

#include "trace/base/fs.h"

typedef struct ui_build {
    int fd;            /* the directory */
    vp_file_id index;  /* of index.html, when `policy` was made */
    char version[64];  /* "v52.0-6b9586def" */
    char policy[1024]; /* Content-Security-Policy: docs/reference/perfetto.md#serving-the-ui */
} ui_build;

/* VP_EUNSUPPORTED: it is no build, or an unfinished one; the failure says what a build is. VP_EIO.
 */
int ui_build_open(ui_build **out, const char *dir);
void ui_build_close(ui_build **b); /* for VP_CLEANUP; sets *b to NULL */

#endif
