/* Writes a gzip file at level 1, which costs a quarter of level 6
 * (docs/reference/recording.md#compression), because this runs in the user's process. Uses ISA-L if
 * available (writer_isal.h), else zlib. The caller owns the descriptor and frees the wz_file.
 * Failures: VP_EIO, VP_ENOSPC, VP_ENOMEM. */
#ifndef VP_CAPTURE_WRITER_GZIP_H
#define VP_CAPTURE_WRITER_GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#define WZ_OUT (64u << 10)

/* Remaining input, and space for output. */
typedef struct wz_io {
    const unsigned char *in;
    size_t in_n;
    unsigned char *out;
    size_t out_n;
} wz_io;

typedef struct wz_file {
    int fd;
    void *isal; /* NULL: z is used */
    z_stream z;
    unsigned char *out; /* WZ_OUT bytes */
    uint64_t bytes;     /* bytes written */
} wz_file;

/* The caller keeps the descriptor. try_isal: false only in tests. */
int wz_open(wz_file *f, int fd, bool try_isal);
/* A vp_write_fn that compresses data; ctx is a wz_file. */
int wz_write(void *ctx, const void *data, size_t n);
/* Writes the rest and the checksum. */
int wz_finish(wz_file *f);
void wz_free(wz_file *f);

#endif
