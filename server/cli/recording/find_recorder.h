/* The recorder's libraries, which lie beside this program, and what is asked of one: the writer of
 * profiles is in it, and not in the viewer a second time. */
#ifndef VP_CLI_FIND_RECORDER_H
#define VP_CLI_FIND_RECORDER_H

#include "trace/base/limits.h"

#define CLI_RECORDER "libview_profile_capture.so"
/* Where a library of ours lies: beside this program, as it was built, or where it was installed.
 * VP_ENOTFOUND. */
int cli_find_library(char out[VP_PATH_MAX], const char *name);
/* vp_recover of the recorder's library. */
struct vp_result;
int cli_recover(struct vp_result *out, const char *path, const char *dir);

#endif
