/* Which files belong to the user's program, for every format that names files: the only list of
 * libraries. Definitions: docs/reference/links.md#frames-of-the-user. */
#ifndef VP_READ_USER_FILES_H
#define VP_READ_USER_FILES_H

#include <stdbool.h>

#include "trace/base/str.h"

/* True if the file is neither in a Python installation or package directory (site-packages,
 * dist-packages, lib/pythonX), nor generated ("<frozen …>", "<string>"), nor IPython's own, nor a
 * path relative to a package directory that profilers cut ("torch/…", "jax/…"). A '\' counts as a
 * '/'. O(length). */
bool rd_is_user_file(vp_str path);

#endif
