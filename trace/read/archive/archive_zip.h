/* Checks of a zip before libarchive opens it, because libarchive loads the whole directory into
 * memory and does not recognize a directory without entries. */
#ifndef VP_READ_ARCHIVE_ZIP_H
#define VP_READ_ARCHIVE_ZIP_H

#include <stdbool.h>
#include <stdint.h>

/* VP_ELIMIT: the directory is too large. *empty: the zip has a directory without entries. *cut: the
 * directory belongs to a member, and the zip's own is missing. A zip without any directory passes.
 * Source: APPNOTE.TXT 4.3.14 to 4.3.16. */
int ar_zip_check(int fd, int64_t size, bool *empty, bool *cut);

#endif
