/* How the opaque types of view_profile.h map to ours: a vp_catalog is a catalog, a vp_session a
 * cat_session, under another name. */
#ifndef VP_API_HANDLES_H
#define VP_API_HANDLES_H

#include "include/view_profile.h"
#include "trace/base/err.h"
#include "trace/model/catalog/catalog.h"

static inline const catalog *api_catalog(const vp_catalog *c)
{
    return (const catalog *)c;
}

static inline const cat_session *api_session(const vp_session *s)
{
    return (const cat_session *)s;
}

#endif
