/* Removes secrets from URLs in texts that are shown or logged: user names and passwords, and
 * queries, which contain signatures and tokens. */
#ifndef VP_BASE_SECRET_H
#define VP_BASE_SECRET_H

/* Removes "user:password@" from http(s) URLs in the text, and the query from URLs of every scheme.
 * A query becomes "?…" if the text, of `size` bytes, has space for that, else "?". */
void vp_hide_secrets(char *text, unsigned long size);

#endif
