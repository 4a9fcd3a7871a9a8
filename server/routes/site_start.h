/* Starts and stops the web site. The caller that starts a site stops it. */
#ifndef VP_ROUTES_SITE_START_H
#define VP_ROUTES_SITE_START_H

#include "server/routes/site/site.h"

/* Scans the directory and serves it. VP_ENOTFOUND: no such path; VP_EBUSY: no port. */
int site_start(site **out, const site_options *opts);
void site_stop(site *s);

#endif
