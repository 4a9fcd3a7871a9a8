/* The TensorBoard that /tensorboard/ID leads to, as long as the site is there. */
#ifndef VP_ROUTES_PAGES_TENSORBOARD_H
#define VP_ROUTES_PAGES_TENSORBOARD_H

#include "server/routes/site/site.h"

/* For site_start; starts none yet. */
int tensorboard_open(site *s);
/* For site_stop; may take 3 s where one was started. */
void tensorboard_close(site *s);

#endif
