/* Directories and small files that captures leave beside their runs. Files of this room include
 * this header; paths belong to the caller. */
#ifndef VP_CAPTURE_FILES_H
#define VP_CAPTURE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/limits.h"
#include "trace/base/str.h"

/* Writes <dir>/<name> through a temporary file beside it: whole, or as it was. The directory is
 * made when it is missing. VP_EIO, VP_ENOSPC, VP_EPERM with the path. */
int cap_write_file(const char *dir, const char *name, vp_str content);
/* The same with a path, whose directory must be there. */
int cap_write_path(const char *path, vp_str content);
/* Makes a directory and those above it. */
int cap_make_dirs(const char *path);
/* dir with "~" or "~/…" as the user's home; NULL or "": fallback. VP_ELIMIT: too long. */
int cap_user_dir(char out[VP_PATH_MAX], const char *dir, const char *fallback);
/* <dir>/<name>_step_<step>. What a file name must not hold is '_' in it, and of a long name 200
 * bytes are kept. VP_ELIMIT. */
int cap_step_dir(char out[VP_PATH_MAX], const char *dir, const char *name, uint64_t step);
/* <dir>/<name><suffix>, with a name as above. VP_ELIMIT. */
int cap_named_dir(char out[VP_PATH_MAX], const char *dir, const char *name, const char *suffix);

#endif
