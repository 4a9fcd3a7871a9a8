/* What a file is: by content, with the name as a hint (docs/reference/formats.md#detection). Pure
 * functions. */
#ifndef VP_READ_DETECT_H
#define VP_READ_DETECT_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/str.h"
#include "trace/read/detect/formats.h"

typedef struct rd_kind {
    rd_format format;
    bool gzip;       /* the content is gzip around `format` */
    const char *why; /* RD_UNREADABLE, RD_CACHE: a constant sentence, what it is and what next */
} rd_kind;

/* name: the file's base name. head: its first bytes (512 suffice), raw as on disk. For gzip the
 * caller passes the first inflated bytes too (inner may be empty: then the name decides). */
rd_kind rd_detect(vp_str name, vp_str head, vp_str inner);
/* From the name alone, no content: what it promises (an xplane may still be empty or an LFS
 * pointer); RD_UNKNOWN when it needs a look. */
rd_kind rd_detect_name(vp_str name);
/* The first 512 bytes of a file are a tar header with a right checksum. */
bool rd_is_tar(vp_str head);
/* It begins like a zip, whatever its content. */
bool rd_is_zip(vp_str head);
/* "xplane", "trace.json", "kineto", "chrome", "memory", "archive", …: the JSON's `kind`. */
const char *rd_format_name(rd_format f);
/* A finished timeline that we can read. */
bool rd_is_timeline(rd_format f);
/* The host of a file: "vm" of "vm.xplane.pb", "worker0" of "worker0.1623….pt.trace.json.gz", ""
 * where the name has none ("remote.trace.json.gz", "perfetto_trace.json.gz", "trace.json"). */
vp_str rd_host_of(vp_str base_name);

#endif
