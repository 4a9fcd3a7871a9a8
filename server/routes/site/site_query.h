/* Reads the parameters of a request: the run of its path; view, grouping, place and report of its
 * query. Returned catalogs and reports are references that the caller releases. */
#ifndef VP_ROUTES_SITE_QUERY_H
#define VP_ROUTES_SITE_QUERY_H

#include "server/routes/site/site.h"

/* Finds the run named by the first (the i-th) {} of the path, in a catalog reference that the
 * caller frees; VP_ENOTFOUND. Only exact ids match. */
int site_session(catalog **c, const cat_session **s, const http_req *rq);
int site_session_at(catalog **c, const cat_session **s, const http_req *rq, size_t i);
/* Finds the run of a directory below the root of the list, both absolute; NULL: not in this list.
 */
const cat_session *site_session_of(const catalog *c, const char *root, const char *run);
/* The view of the query: top (n), by, device, host. VP_EARG names the bad value. */
int site_view(vp_view *v, const http_req *rq);
/* `group` of the query; VP_EARG. */
int site_group(vp_group *g, const http_req *rq);
/* `where` of the query; VP_EARG. */
int site_where(vp_where *w, const http_req *rq);
/* The client of a request, as long as it is connected. */
store_asker site_asker(const http_req *rq);
/* Gets the report of a run, or of the one step given by `step` of the query: the full report, or
 * the tables of host zones. VP_EARG: `step` is not a number; VP_ENOTFOUND: no such step; else as
 * store_get. */
int site_report(store_report **out, const http_req *rq, catalog *c, const cat_session *s,
                vp_group group, vp_where where);

#endif
