/* The files of web/, embedded at build time by scripts/embed.cmake as gzip alone; what they hold is
 * filled in when somebody first asks for it. Here and not with the routes because pages that stand
 * alone contain the style sheet. The room and server/routes include this; everything is constant
 * for a build and owned by the program. */
#ifndef VP_REPORT_WEB_FILES_H
#define VP_REPORT_WEB_FILES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct web_file {
    const char *name;   /* "app.css" */
    const char *etag;   /* hex, without quotes */
    unsigned char *raw; /* raw_n bytes and a NUL, after web_files_inflate */
    size_t raw_n;
    const unsigned char *gz;
    size_t gz_n;
} web_file;

extern const web_file web_files[]; /* ends with a NULL name */

/* NULL: no such file. */
const web_file *web_file_find(const char *name);
/* Fills in every raw, once; any thread. VP_ENOMEM. */
int web_files_inflate(void);
/* What `/static/NAME?v=…` carries so that it may be kept for ever: the file's etag. NULL: no such
 * file. */
const char *web_file_version(const char *name);

#endif
