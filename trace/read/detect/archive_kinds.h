/* The kinds of archives, one row each. Only the archive reader compiles the filters that the rows
 * name. */
#ifndef VP_READ_ARCHIVE_KINDS_H
#define VP_READ_ARCHIVE_KINDS_H

#include "trace/base/str.h"

/* X(kind, name and suffix, second suffix, compression of its tar, magic of the compression,
 * libarchive's filter for it) NULL: none. gzip has its own verifying reader, and no magic here: tar
 * and zip are recognized by rd_is_tar and rd_is_zip. */
#define AR_KINDS(X)                                                                                \
    X(NONE, "", "", "", "", NULL)                                                                  \
    X(TAR, "tar", "", "", "", NULL)                                                                \
    X(TAR_GZ, "tar.gz", ".tgz", "gzip", "", NULL)                                                  \
    X(TAR_ZST, "tar.zst", ".tzst", "zstd", "\x28\xb5\x2f\xfd", archive_read_support_filter_zstd)   \
    X(ZIP, "zip", "", "", "", NULL)

#define AR_KIND_VALUE(kind, ...) AR_##kind,
typedef enum ar_kind { AR_KINDS(AR_KIND_VALUE) AR_KIND_COUNT } ar_kind;

typedef struct ar_kind_row {
    char suffix[12], short_suffix[8], packer[8], magic[8]; /* "": none; suffix: "." and the name */
} ar_kind_row;

extern const ar_kind_row ar_kinds[AR_KIND_COUNT];

/* By the magic of the compression; AR_NONE if no row matches. */
ar_kind ar_kind_by_magic(vp_str head);
/* By the suffix of a name, ASCII case-insensitive; *n is the suffix's length. A name that equals a
 * suffix without its dot matches, too. AR_NONE, with *n = 0, if no row matches. */
ar_kind ar_kind_by_name(vp_str name, size_t *n);

#endif
