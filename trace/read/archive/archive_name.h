/* Which entries of an archive become members, under which name. */
#ifndef VP_READ_ARCHIVE_NAME_H
#define VP_READ_ARCHIVE_NAME_H

#include "trace/base/buf.h"
#include "trace/read/archive/libarchive.h"

/* NULL when the entry is a plain file within the limits; else a constant reason. */
const char *ar_refuse_entry(struct archive_entry *e);

/* Puts the cleaned name (no ".", no doubled or leading "/") into out; NULL, or why it is refused.
 */
const char *ar_clean_name(vp_buf *out, vp_str raw);

#endif
