/* Finds the recorder's libraries, in the directory of this program or in its library directory,
 * and calls the function of the recorder that recovers a .vpcap. The writer of profiles exists
 * only there. Fails with VP_ENOTFOUND if a library is missing. */
#ifndef VP_CLI_FIND_RECORDER_H
#define VP_CLI_FIND_RECORDER_H

#include "trace/base/limits.h"

#define CLI_RECORDER "libview_profile_capture.so"
/* The path of a library of this project, in the build tree or installed. VP_ENOTFOUND. */
int cli_find_library(char out[VP_PATH_MAX], const char *name);
/* Calls vp_recover of the recorder's library. */
struct vp_result;
int cli_recover(struct vp_result *out, const char *path, const char *dir);

#endif
