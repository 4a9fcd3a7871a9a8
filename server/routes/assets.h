/* The files of web/, embedded at build time by scripts/embed.cmake. Only routes include this. */
#ifndef VP_ROUTES_ASSETS_H
#define VP_ROUTES_ASSETS_H

#include <stddef.h>

typedef struct web_asset {
    const char *name;   /* "app.css" */
    const char *etag;   /* hex, without quotes */
    unsigned char *raw; /* raw_n bytes, once assets.c has filled them in from gz */
    size_t raw_n;
    const unsigned char *gz;
    size_t gz_n;
} web_asset;

extern const web_asset web_assets[]; /* ends with a NULL name */

/* assets.c: what `/static/NAME?v=…` carries so that it may be kept for ever: the asset's etag.
 * NULL: no such file. report.css, which the writer of reports owns, is one of them. */
const char *asset_version(const char *name);

#endif
