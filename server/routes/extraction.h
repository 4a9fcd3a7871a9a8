/* What POST /api/v1/extract unpacks, into a temporary directory that goes when the site stops. */
#ifndef VP_ROUTES_EXTRACTION_H
#define VP_ROUTES_EXTRACTION_H

#include "server/routes/site/site.h"

/* Before the store is opened, which reads the copies. */
int extraction_open(site *s, cat_copies *copies);
/* What is being unpacked is given up. */
void extraction_cancel(site *s);
/* After the store is closed. */
void extraction_close(site *s);

#endif
