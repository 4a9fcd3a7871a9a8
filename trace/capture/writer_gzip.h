/* Bytes to a gzip file at level 1, which costs a quarter of level 6 (capture.md 0.8): this runs in
 * somebody else's process. Only trace/capture/writer_json.c includes this. */
#ifndef VP_CAPTURE_WRITER_GZIP_H
#define VP_CAPTURE_WRITER_GZIP_H

#include <stdint.h>
#include <zlib.h>

#define WZ_OUT (64u << 10)

typedef struct wz_file {
    int fd;
    z_stream z;
    unsigned char *out; /* WZ_OUT bytes */
    uint64_t bytes;     /* written */
} wz_file;

int wz_open(wz_file *f, int fd);
/* A vp_write_fn; ctx is a wz_file. */
int wz_write(void *ctx, const void *data, size_t n);
/* The rest and the checksum. */
int wz_finish(wz_file *f);
void wz_free(wz_file *f);

#endif
