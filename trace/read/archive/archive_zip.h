/* What is asked of a zip before libarchive sees it: libarchive takes the whole directory into
 * memory, and recognises no directory without entries. */
#ifndef VP_READ_ARCHIVE_ZIP_H
#define VP_READ_ARCHIVE_ZIP_H

#include <stdbool.h>
#include <stdint.h>

/* VP_ELIMIT when the directory is too large; *empty when it stands alone; *cut when it is that of a
 * member, and the zip's own is missing. A zip without any directory passes. Source: APPNOTE.TXT
 * 4.3.14 to 4.3.16. */
int ar_zip_check(int fd, int64_t size, bool *empty, bool *cut);

#endif
