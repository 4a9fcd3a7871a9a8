/* Which traces turned out to be damaged when they were sent: of a gzip file that shows at its end
 * only, when its head went out long ago. The newest are kept, by what the file was when it was
 * listed. Thread-safe. Included by routes only.
 *
 * The hand-off page asks here again when it has the trace. */
#ifndef VP_ROUTES_DAMAGE_H
#define VP_ROUTES_DAMAGE_H

#include <stdbool.h>

#include "trace/model/catalog.h"

typedef struct damage_list damage_list;

int damage_new(damage_list **out);
void damage_free(damage_list *l);
/* Why f has no more than what was sent of it; the text is copied and cut off at its room. */
void damage_note(damage_list *l, const cat_file *f, const char *why);
#define DAMAGE_TEXT 256u
/* The same again; false when nothing is known of f. why has room for DAMAGE_TEXT bytes. */
bool damage_of(damage_list *l, const cat_file *f, char *why);

#endif
