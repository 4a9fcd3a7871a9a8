/* Files on a web server, and the two ways to list its directories (WebDAV, index pages). */
#ifndef VP_FETCH_WEB_H
#define VP_FETCH_WEB_H

#include "server/fetch/store/fetch_store.h"

/* One file or directory of a listing; name: one part, of an address, percent escapes resolved. */
typedef int web_found(void *ctx, const entry *one);

/* By PROPFIND, Depth 1. *spoke: it did, so whatever failed is told; else the server speaks no
 * WebDAV. */
int web_dav_list(fetch_ask *a, vp_str url, web_found *found, void *ctx, bool *spoke);
/* By the page of links that nginx, Apache, Python and others make of a directory: its links to what
 * lies directly beneath. Sizes that the page does not tell exactly are asked for. */
int web_index_list(fetch_ask *a, vp_str url, web_found *found, void *ctx);

/* Appends the address of what lies at name beneath a directory's address. */
int web_beneath(vp_buf *b, vp_str url, vp_str name);
/* The last part of a link (an address or a path), decoded into *b, where it lies directly beneath
 * the directory's address; false: elsewhere. *is_dir: it ends with '/'. */
bool web_is_beneath(vp_str url, vp_str link, vp_buf *b, bool *is_dir);

#endif
