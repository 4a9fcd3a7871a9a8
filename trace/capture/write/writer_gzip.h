/* Writes bytes to a gzip file at level 1, which costs a quarter of level 6
 * (docs/reference/recording.md#compression): this runs in somebody else's process. By ISA-L where
 * there is one (writer_isal.h), else by zlib. trace/capture/write/writer_json.c and writer_isal.c
 * include this. */
#ifndef VP_CAPTURE_WRITER_GZIP_H
#define VP_CAPTURE_WRITER_GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#define WZ_OUT (64u << 10)

/* What is left to read, and room to write. */
typedef struct wz_io {
    const unsigned char *in;
    size_t in_n;
    unsigned char *out;
    size_t out_n;
} wz_io;

typedef struct wz_file {
    int fd;
    void *isal; /* NULL: z is used instead */
    z_stream z;
    unsigned char *out; /* WZ_OUT bytes */
    uint64_t bytes;     /* written */
} wz_file;

/* The descriptor stays the caller's. try_isal: false only in tests. */
int wz_open(wz_file *f, int fd, bool try_isal);
/* A vp_write_fn; ctx is a wz_file. */
int wz_write(void *ctx, const void *data, size_t n);
/* The rest and the checksum. */
int wz_finish(wz_file *f);
void wz_free(wz_file *f);

#endif
