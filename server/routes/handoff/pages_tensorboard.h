/* The TensorBoard of /tensorboard/ID, for the lifetime of the site. */
#ifndef VP_ROUTES_PAGES_TENSORBOARD_H
#define VP_ROUTES_PAGES_TENSORBOARD_H

#include "server/routes/site/site.h"

/* Called by site_start; does not start TensorBoard yet. */
int tensorboard_open(site *s);
/* Called by site_stop; can take 3 s if one was started. */
void tensorboard_close(site *s);

#endif
