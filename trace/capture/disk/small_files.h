/* Directories and small files that captures leave beside their runs. Files of this room include
 * this header; paths belong to the caller. */
#ifndef VP_CAPTURE_SMALL_FILES_H
#define VP_CAPTURE_SMALL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/limits.h"
#include "trace/base/str.h"

/* Writes <dir>/<name> through a temporary file beside it, so that the file is complete or as it was
 * before. Makes the directory if it is missing. VP_EIO, VP_ENOSPC, VP_EPERM with the path. */
int cap_write_file(const char *dir, const char *name, vp_str content);
/* The same for a path whose directory exists. */
int cap_write_path(const char *path, vp_str content);
/* Makes a directory and those above it. Those that exist need not be writable. */
int cap_make_dirs(const char *path);
/* Makes a directory that did not exist: path, or path with _1, _2, … behind it, which is then
 * written to path (VP_PATH_MAX bytes). VP_EBUSY: all 10,000 exist. */
int cap_make_alone(char path[VP_PATH_MAX]);
/* The VP_E… code for an errno from making files. */
int cap_file_code(int err);
/* Records a failure with the code and the text of such an errno, and with the path. */
int cap_file_fail(const char *what, const char *path, int err);
/* dir with "~" or "~/…" as the user's home; NULL or "": fallback. VP_ELIMIT: too long. */
int cap_user_dir(char out[VP_PATH_MAX], const char *dir, const char *fallback);
/* dir as an absolute path, so that a later chdir does not move it. dir itself if it is absolute
 * already, or if the absolute path would be too long or the working directory cannot be reached. */
const char *cap_full_dir(char full[VP_PATH_MAX], const char *dir);
/* <dir>/<name>_step_<step>. Characters that a file name must not hold become '_', and of a long
 * name 200 bytes are kept. VP_ELIMIT. */
int cap_step_dir(char out[VP_PATH_MAX], const char *dir, const char *name, uint64_t step);
/* <dir>/<name><suffix>, with a name as above. VP_ELIMIT. */
int cap_named_dir(char out[VP_PATH_MAX], const char *dir, const char *name, const char *suffix);

#endif
