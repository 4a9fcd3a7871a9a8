/* Percent-encoding of URLs, and validation of object names. */
#ifndef VP_FETCH_URL_H
#define VP_FETCH_URL_H

#include <stdbool.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

/* Appends s; all bytes except letters, digits and -._~ (and '/', if the flag is set) become %XX. */
int url_encode(vp_buf *b, vp_str s, bool keeps_slash);
/* Appends s with each %XX decoded. Invalid escapes are copied. */
int url_decode(vp_buf *b, vp_str s);
/* Returns NULL if name is valid for an entry: components between '/', none empty, "." or "..", no
 * control characters, at most VP_MEMBER_NAME_MAX bytes. Else returns the reason. */
const char *url_name_fault(vp_str name);
/* Returns the first component of s and removes it and its '/' from *s. */
vp_str url_take_part(vp_str *s);
/* Returns s without a trailing '/'. */
vp_str url_without_end(vp_str s);

#endif
