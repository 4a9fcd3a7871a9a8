/* Files on a web server, and the two ways to list its directories (WebDAV, index pages). */
#ifndef VP_FETCH_WEB_H
#define VP_FETCH_WEB_H

#include "server/fetch/store/fetch_store.h"

/* One file or directory of a listing. name: one path component with percent escapes decoded. */
typedef int web_found(void *ctx, const entry *one);

/* Lists by PROPFIND with Depth 1. *spoke: the server supports WebDAV, so a failure is reported;
 * else the other method is tried. */
int web_dav_list(fetch_ask *a, vp_str url, web_found *found, void *ctx, bool *spoke);
/* Lists by the page of links that nginx, Apache, Python and other servers make for a directory;
 * only links to direct children count. A HEAD request gets each size that the page does not state
 * exactly. */
int web_index_list(fetch_ask *a, vp_str url, web_found *found, void *ctx);

/* Appends the address of the child `name` of a directory's address. */
int web_beneath(vp_buf *b, vp_str url, vp_str name);
/* Decodes the last component of a link (an address or a path) into *b if it is a direct child of
 * the directory's address; else false. *is_dir: it ends with '/'. */
bool web_is_beneath(vp_str url, vp_str link, vp_buf *b, bool *is_dir);

#endif
