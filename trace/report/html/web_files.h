/* Files of web/, embedded at build time by scripts/embed.cmake, plain and as gzip. They are here
 * because standalone pages contain the style sheet. All data is constant. */
#ifndef VP_REPORT_WEB_FILES_H
#define VP_REPORT_WEB_FILES_H

#include <stddef.h>

typedef struct web_file {
    const char *name;         /* "app.css" */
    const char *etag;         /* hex, without quotes */
    const unsigned char *raw; /* raw_n bytes and a NUL */
    size_t raw_n;
    const unsigned char *gz;
    size_t gz_n;
} web_file;

extern const web_file web_files[]; /* ends with a NULL name */

/* NULL: no such file. */
const web_file *web_file_find(const char *name);
/* The file's ETag, for `/static/NAME?v=ETAG`, which clients may cache forever. NULL: no such file.
 */
const char *web_file_version(const char *name);

#endif
