/* The pieces of detect.c: names, JSON heads. Pure functions; all results are constant. */
#ifndef VP_READ_DETECT_PARTS_H
#define VP_READ_DETECT_PARTS_H

#include "trace/read/detect/detect.h"

/* What the name promises, ".gz" included; RD_UNKNOWN when it promises nothing. */
rd_kind rd_kind_by_name(vp_str name);
/* The name without a trailing ".gz". */
vp_str rd_name_without_gz(vp_str name);
/* name contains `what`, ASCII case-insensitive; `what` in lower case. */
bool rd_name_has(vp_str name, vp_str what);

/* text: the first bytes of a document that starts with '{' or '[' (white space allowed). `promised`
 * is what its name says. */
rd_kind rd_sniff_json(vp_str name, rd_format promised, vp_str text);
/* White space and a byte order mark removed from the front. */
vp_str rd_skip_blank(vp_str text);

#endif
