/* Directories and small files that captures create. Paths belong to the caller. Failures: VP_EIO,
 * VP_ENOSPC, VP_EPERM, VP_ELIMIT, VP_EBUSY. */
#ifndef VP_CAPTURE_SMALL_FILES_H
#define VP_CAPTURE_SMALL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/limits.h"
#include "trace/base/str.h"

/* Writes <dir>/<name> through a temporary file, so that it is complete or unchanged. Creates the
 * directory if it is missing. VP_EIO, VP_ENOSPC, VP_EPERM with the path. */
int cap_write_file(const char *dir, const char *name, vp_str content);
/* The same for a path whose directory exists. */
int cap_write_path(const char *path, vp_str content);
/* Creates a directory and its parents. Existing ones need not be writable. */
int cap_make_dirs(const char *path);
/* Creates a new directory: path, or path with _1, _2, … appended, which is then written to path
 * (VP_PATH_MAX bytes). VP_EBUSY: all 10,000 exist. */
int cap_make_alone(char path[VP_PATH_MAX]);
/* The VP_E… code for an errno of file creation. */
int cap_file_code(int err);
/* Records a failure with the code and the text of such an errno, and the path. */
int cap_file_fail(const char *what, const char *path, int err);
/* Expands "~" or "~/…" to the user's home; NULL or "": fallback. VP_ELIMIT: too long. */
int cap_user_dir(char out[VP_PATH_MAX], const char *dir, const char *fallback);
/* Makes dir absolute, so that it is independent of a later chdir. Returns dir unchanged if it is
 * absolute, if the result would be too long, or if the working directory is unknown. */
const char *cap_full_dir(char full[VP_PATH_MAX], const char *dir);
/* <dir>/<name>_step_<step>. Characters that are invalid in file names become '_', and names are
 * truncated to 200 bytes. VP_ELIMIT. */
int cap_step_dir(char out[VP_PATH_MAX], const char *dir, const char *name, uint64_t step);
/* <dir>/<name><suffix>, with the name converted as above. VP_ELIMIT. */
int cap_named_dir(char out[VP_PATH_MAX], const char *dir, const char *name, const char *suffix);

#endif
