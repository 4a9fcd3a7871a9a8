/* Which traces turned out to be damaged when they were sent. A gzip file shows its damage only at
 * its end, long after the head of the answer went out. The newest are kept, by what the file was
 * when it was listed. Thread-safe.
 *
 * The hand-off page asks here again when it has the trace. */
#ifndef VP_ROUTES_DAMAGE_H
#define VP_ROUTES_DAMAGE_H

#include <stdbool.h>

#include "trace/model/catalog/catalog.h"

typedef struct damage_list damage_list;

int damage_new(damage_list **out);
void damage_free(damage_list *l);
/* Notes why no more of f could be sent; the text is copied, and cut off at DAMAGE_TEXT. */
void damage_note(damage_list *l, const cat_file *f, const char *why);
#define DAMAGE_TEXT 256u
/* The same again; false when nothing is known of f. why has room for DAMAGE_TEXT bytes. */
bool damage_of(damage_list *l, const cat_file *f, char *why);

#endif
