/* Directories and small files that captures leave beside their runs. Files of this room include
 * this header; paths belong to the caller. */
#ifndef VP_CAPTURE_SMALL_FILES_H
#define VP_CAPTURE_SMALL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/limits.h"
#include "trace/base/str.h"

/* Writes <dir>/<name> through a temporary file beside it: whole, or as it was. The directory is
 * made when it is missing. VP_EIO, VP_ENOSPC, VP_EPERM with the path. */
int cap_write_file(const char *dir, const char *name, vp_str content);
/* The same with a path, whose directory must be there. */
int cap_write_path(const char *path, vp_str content);
/* Makes a directory and those above it; what is there may be read only. */
int cap_make_dirs(const char *path);
/* Makes a directory for the caller alone: path as it is, or with _1, _2, … behind it. path has room
 * for VP_PATH_MAX bytes and is where it was made. VP_EBUSY: all 10,000 are there. */
int cap_make_alone(char path[VP_PATH_MAX]);
/* The code for an errno of making files. */
int cap_file_code(int err);
/* Fails with the code, the text and the path of such an errno. */
int cap_file_fail(const char *what, const char *path, int err);
/* dir with "~" or "~/…" as the user's home; NULL or "": fallback. VP_ELIMIT: too long. */
int cap_user_dir(char out[VP_PATH_MAX], const char *dir, const char *fallback);
/* dir, from the working directory of now, so that a later chdir does not move it: in full, or as it
 * is where it is so already, or where the full one would be too long or cannot be reached. */
const char *cap_full_dir(char full[VP_PATH_MAX], const char *dir);
/* <dir>/<name>_step_<step>. What a file name must not hold is '_' in it, and of a long name 200
 * bytes are kept. VP_ELIMIT. */
int cap_step_dir(char out[VP_PATH_MAX], const char *dir, const char *name, uint64_t step);
/* <dir>/<name><suffix>, with a name as above. VP_ELIMIT. */
int cap_named_dir(char out[VP_PATH_MAX], const char *dir, const char *name, const char *suffix);

#endif
