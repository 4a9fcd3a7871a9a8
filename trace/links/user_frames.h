/* Stack frames in the names of events, and which of them belong to the user's program. A library's
 * frame is never the answer while a frame of the user is on the stack. */
#ifndef VP_LINKS_USER_FRAMES_H
#define VP_LINKS_USER_FRAMES_H

#include <stdbool.h>

#include "trace/read/semantics/user_files.h"

/* Splits Kineto's "path/file.py(12): name" and JAX's "$file.py:12 name" into file, line and
 * function. Returns false if the text has neither form. */
bool links_parse_frame(vp_str text, vp_str *file, vp_str *line, vp_str *function);

/* True if a frame of either form is in a file of the user. JAX's names have no directories: only
 * files that are known to be JAX's are excluded. */
bool links_is_user_frame(vp_str text);

#endif
