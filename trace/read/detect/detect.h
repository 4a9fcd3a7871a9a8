/* Detection of file formats by content, with the name as a hint
 * (docs/reference/formats.md#detection). Pure functions; nothing is allocated and nothing fails. */
#ifndef VP_READ_DETECT_H
#define VP_READ_DETECT_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/str.h"
#include "trace/read/detect/formats.h"

typedef struct rd_kind {
    rd_format format;
    bool gzip;       /* the content is gzip of `format` */
    const char *why; /* RD_UNREADABLE, RD_CACHE: a constant sentence with description and advice */
} rd_kind;

/* name: base name of the file. head: its first bytes on disk, 512 suffice. For gzip the caller also
 * passes the first inflated bytes in inner; if empty, the name decides. */
rd_kind rd_detect(vp_str name, vp_str head, vp_str inner);
/* By the name alone: the expected format, although the file may be empty or an LFS pointer.
 * RD_UNKNOWN: the content decides. */
rd_kind rd_detect_name(vp_str name);
/* True if the first 512 bytes are a tar header with a correct checksum. */
bool rd_is_tar(vp_str head);
/* True if it begins like a zip, whatever its content. */
bool rd_is_zip(vp_str head);
/* "xplane", "trace.json", "kineto", "chrome", "memory", "archive", …: `kind` in JSON output. */
const char *rd_format_name(rd_format f);
/* True for a finished timeline with a reader. */
bool rd_is_timeline(rd_format f);
/* The host in a file's name: "vm" in "vm.xplane.pb", "worker0" in "worker0.1623….pt.trace.json.gz";
 * "" if there is none ("remote.trace.json.gz", "perfetto_trace.json.gz", "trace.json"). */
vp_str rd_host_of(vp_str base_name);

#endif
