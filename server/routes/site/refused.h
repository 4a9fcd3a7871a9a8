/* What a person sees whose request was refused before any handler: a page that says what next. It
 * is given to whoever asks, so it holds nothing but what is the same for all of them. */
#ifndef VP_ROUTES_REFUSED_H
#define VP_ROUTES_REFUSED_H

#include "server/net/http.h"

/* http_config.refused. */
int page_refused(http_req *rq, int status, const char *why);

#endif
