/* Selects the entries of an archive that become members, and normalizes their names. */
#ifndef VP_READ_ARCHIVE_NAME_H
#define VP_READ_ARCHIVE_NAME_H

#include "trace/base/buf.h"
#include "trace/read/archive/libarchive.h"

/* NULL if the entry is a regular file within the limits; else the reason, a constant text. */
const char *ar_refuse_entry(struct archive_entry *e);

/* Writes the normalized name (no ".", no repeated or leading "/") to out. Returns NULL, or the
 * reason why it is refused. */
const char *ar_clean_name(vp_buf *out, vp_str raw);

#endif
