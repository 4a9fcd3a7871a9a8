/* Casts between the opaque types of view_profile.h and the internal types: vp_catalog is catalog,
 * vp_session is cat_session. */
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
