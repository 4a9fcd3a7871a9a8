/* A directory with a build of the Perfetto UI: index.html and one directory per version. The data
 * that serving needs (ui_server.h) is read once; files are opened on request. Fails if the
 * directory is not a build. */
#ifndef VP_ROUTES_UI_BUILD_H
#define VP_ROUTES_UI_BUILD_H

#include "trace/base/fs.h"

typedef struct ui_build {
    int fd;            /* the directory */
    vp_file_id index;  /* identity of index.html when `policy` was made */
    char version[64];  /* "v52.0-6b9586def" */
    char policy[1024]; /* Content-Security-Policy: docs/reference/perfetto.md#serving-the-ui */
} ui_build;

/* VP_EUNSUPPORTED: not a build, or an incomplete one; the message describes a build. VP_EIO. */
int ui_build_open(ui_build **out, const char *dir);
void ui_build_close(ui_build **b); /* for VP_CLEANUP; sets *b to NULL */

#endif
