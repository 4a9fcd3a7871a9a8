/* What web addresses hold that nobody is to read: a name and password, and the query, in which
 * signatures and tokens stand. */
#ifndef VP_BASE_SECRET_H
#define VP_BASE_SECRET_H

/* In any text, whoever put addresses in: takes "user:password@" out of those of http(s), and the
 * query of every scheme's, of which "?…" is left where the text of `room` bytes can hold it. */
void vp_hide_secrets(char *text, unsigned long room);

#endif
