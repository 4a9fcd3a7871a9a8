/* Remembers which traces were found damaged while they were sent. A gzip file shows damage only at
 * its end, after the response head was sent. The newest entries are kept, keyed by the identity of
 * the file when it was listed. Thread-safe.
 *
 * The hand-off page queries this again after it has received the trace. */
#ifndef VP_ROUTES_DAMAGE_H
#define VP_ROUTES_DAMAGE_H

#include <stdbool.h>

#include "trace/model/catalog/catalog.h"

typedef struct damage_list damage_list;

int damage_new(damage_list **out);
void damage_free(damage_list *l);
/* Stores why f could not be sent to its end. The text is copied, truncated to DAMAGE_TEXT. */
void damage_note(damage_list *l, const cat_file *f, const char *why);
#define DAMAGE_TEXT 256u
/* Gets the stored text; false if f has none. why has space for DAMAGE_TEXT bytes. */
bool damage_of(damage_list *l, const cat_file *f, char *why);

#endif
