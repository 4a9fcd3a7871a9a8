/* Percent-encoding of URLs, and validation of object names. */
#ifndef VP_FETCH_URL_H
#define VP_FETCH_URL_H

#include <stdbool.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

/* Appends s with everything but letters, digits and -._~ (and '/', where told) as %XX. */
int url_encode(vp_buf *b, vp_str s, bool keeps_slash);
/* Appends s with its %XX as bytes; what is no escape stays as it is. */
int url_decode(vp_buf *b, vp_str s);
/* NULL: a name of an entry that may be told on: parts between '/', none empty, "." or "..", no
 * control characters, at most VP_MEMBER_NAME_MAX bytes. Else what is wrong with it. */
const char *url_name_fault(vp_str name);
/* The first part of s up to '/', which is dropped from *s. */
vp_str url_take_part(vp_str *s);
/* Without the '/' at its end. */
vp_str url_without_end(vp_str s);

#endif
