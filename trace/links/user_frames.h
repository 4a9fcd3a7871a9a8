/* Which stack frames belong to the user's program, for every format that names files. A library's
 * frame is never the answer while a frame of the user is on the stack. */
#ifndef VP_LINKS_USER_FRAMES_H
#define VP_LINKS_USER_FRAMES_H

#include <stdbool.h>

#include "trace/base/str.h"

/* True if the file is neither in a Python installation or package directory (site-packages,
 * dist-packages, lib/pythonX), nor generated ("<frozen …>", "<string>"), nor IPython, nor a path
 * relative to a package directory that profilers cut ("torch/…", "jax/…"). A '\' counts as a '/'.
 */
bool links_is_user_file(vp_str path);

/* Splits Kineto's "path/file.py(12): name" and JAX's "$file.py:12 name" into file, line and
 * function. Returns false if the text has neither form. */
bool links_parse_frame(vp_str text, vp_str *file, vp_str *line, vp_str *function);

#endif
