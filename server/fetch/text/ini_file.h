/* Reads files of name = value lines under [sections], as the AWS tools write them. */
#ifndef VP_FETCH_INI_FILE_H
#define VP_FETCH_INI_FILE_H

#include <stdbool.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

/* All of a small file that the user's tools keep, at most 1 MiB, into an empty buffer.
 * VP_ENOTFOUND: it is not there; VP_EIO. The content may be secret: digest_wipe. */
int ini_read(const char *path, vp_buf *out);
/* The value in text, a view; false: there is none. */
bool ini_find(vp_str text, vp_str section, vp_str name, vp_str *out);
/* $name, or ~/rest; false: neither is known, or it is too long. */
bool ini_path(const char *name, const char *rest, char *out, size_t cap);
/* A variable that is set and not empty, or NULL. */
const char *ini_env(const char *name);

#endif
