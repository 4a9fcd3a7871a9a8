/* Parts of detect.c: names, and the first bytes of JSON. Pure functions; all results are
 * constant. */
#ifndef VP_READ_DETECT_PARTS_H
#define VP_READ_DETECT_PARTS_H

#include "trace/read/detect/detect.h"

/* The format expected by the name, with or without ".gz"; RD_UNKNOWN if it gives none. */
rd_kind rd_kind_by_name(vp_str name);
/* Removes a trailing ".gz". */
vp_str rd_name_without_gz(vp_str name);
/* True if name contains `what`, ASCII case-insensitive; `what` is in lower case. */
bool rd_name_has(vp_str name, vp_str what);

/* text: first bytes of a document that starts with '{' or '[', after optional white space.
 * promised: the format expected by its name. */
rd_kind rd_sniff_json(vp_str name, rd_format promised, vp_str text);
/* Removes leading white space and a byte order mark. */
vp_str rd_skip_blank(vp_str text);

#endif
