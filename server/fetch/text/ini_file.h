/* Reads files of name = value lines under [sections], as the AWS tools write them. */
#ifndef VP_FETCH_INI_FILE_H
#define VP_FETCH_INI_FILE_H

#include <stdbool.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

/* Reads a small file of the user's tools, at most 1 MiB, into an empty buffer. VP_ENOTFOUND: no
 * such file; VP_EIO. The content may be secret: free it with digest_wipe. */
int ini_read(const char *path, vp_buf *out);
/* Finds a value in text as a view; false: not found. */
bool ini_find(vp_str text, vp_str section, vp_str name, vp_str *out);
/* Expands $name, else ~/rest; false: neither is set, or the path is too long. */
bool ini_path(const char *name, const char *rest, char *out, size_t cap);
/* Returns a variable that is set and not empty, or NULL. */
const char *ini_env(const char *name);

#endif
