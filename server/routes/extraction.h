/* POST /api/v1/extract: unpacks runs into a temporary directory that is removed when the site
 * stops. */
#ifndef VP_ROUTES_EXTRACTION_H
#define VP_ROUTES_EXTRACTION_H

#include "server/routes/site/site.h"

/* Must be called before the store is opened, which reads the copies. */
int extraction_open(site *s, cat_copies *copies);
/* Cancels a running extraction. */
void extraction_cancel(site *s);
/* Must be called after the store is closed. */
void extraction_close(site *s);

#endif
