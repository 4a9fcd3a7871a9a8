/* Builds archives byte by byte, including those that no tool would write: tar headers with any
 * type, zip entries with any flag, and compression. */
#ifndef ARCHIVE_MAKER_H
#define ARCHIVE_MAKER_H

#include <archive.h>
#include <archive_entry.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "trace/base/fs.h"

typedef struct bytes {
    unsigned char *p;
    size_t n;
} bytes;

static inline void put(bytes *b, const void *p, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static inline void put_zeros(bytes *b, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    memset(b->p + b->n, 0, n);
    b->n += n;
}

static inline void put_le(bytes *b, uint64_t v, unsigned n)
{
    for (; n; n--, v >>= 8)
        put(b, &(unsigned char){(unsigned char)v}, 1);
}

/* A descriptor of an unlinked file with these bytes. */
static inline int file_with(bytes b)
{
    int fd = -1;
    if (vp_fs_temp(&fd) < 0 || vp_fs_write_all(fd, b.p, b.n) < 0)
        abort();
    return fd;
}

/* ---- tar (POSIX ustar) ---- */

typedef struct tar_entry {
    const char *name, *link, *data;
    char type;    /* '0' file, '1' hard link, '2' symlink, '3' char, '4' block, '5' dir, '6' FIFO */
    int64_t size; /* -1: of data */
} tar_entry;

static inline void tar_checksum(char *h)
{
    unsigned sum = 0;
    memset(h + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
}

static inline void tar_header(char *h, const tar_entry *e, int64_t size)
{
    memset(h, 0, 512);
    memcpy(h, e->name, strlen(e->name) < 100 ? strlen(e->name) : 100);
    memcpy(h + 100, "0000644\0000000000\0000000000", 24);
    snprintf(h + 124, 12, "%011llo", (unsigned long long)size & 077777777777);
    if (size < 0 || size > 077777777777) { /* base 256 */
        h[124] = (char)(size < 0 ? 0xff : 0x80);
        memset(h + 125, size < 0 ? 0xff : 0, 3);
        for (int i = 0; i < 8; i++)
            h[135 - i] = (char)((uint64_t)size >> (8 * i));
    }
    memcpy(h + 136, "14750643250", 12);
    h[156] = e->type;
    if (e->link)
        memcpy(h + 157, e->link, strlen(e->link));
    memcpy(h + 257, "ustar\00000", 8);
    tar_checksum(h);
}

static inline void tar_add_bytes(bytes *b, const tar_entry *e, const void *data, size_t n)
{
    char h[512];
    tar_header(h, e, e->size ? e->size : (int64_t)n);
    put(b, h, sizeof h);
    put(b, data, n);
    put_zeros(b, (512 - n % 512) % 512);
}

static inline void tar_add(bytes *b, tar_entry e)
{
    e.type = e.type ? e.type : '0';
    tar_add_bytes(b, &e, e.data, e.data ? strlen(e.data) : 0);
}

/* A file whose name does not fit a header (GNU's long link). */
static inline void tar_add_long(bytes *b, const char *name, const char *data)
{
    tar_entry l = {.name = "././@LongLink", .type = 'L'};
    tar_add_bytes(b, &l, name, strlen(name) + 1);
    tar_add(b, (tar_entry){.name = "short", .data = data});
}

static inline void tar_end(bytes *b)
{
    put_zeros(b, 1024);
}

/* ---- zip ---- */

typedef struct zip_entry {
    const char *name;
    const void *data;
    size_t n;
    int method;          /* 0 stored, 8 deflated */
    unsigned flags;      /* 1 encrypted, 8 sizes after the data, 0x800 UTF-8 */
    uint32_t claim_size; /* the size in the headers if not n; 0: n */
} zip_entry;

typedef struct zip_maker {
    bytes out, directory;
    unsigned count;
} zip_maker;

static inline bytes raw_deflate(const void *p, size_t n)
{
    z_stream z = {.next_in = (unsigned char *)p, .avail_in = (unsigned)n};
    bytes out = {0};
    deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    size_t cap = deflateBound(&z, n);
    out.p = malloc(cap);
    z.next_out = out.p;
    z.avail_out = (unsigned)cap;
    deflate(&z, Z_FINISH);
    out.n = cap - z.avail_out;
    deflateEnd(&z);
    return out;
}

static inline void zip_fields(bytes *b, const zip_entry *e, uint32_t crc, size_t packed)
{
    bool behind = e->flags & 8;
    put_le(b, 20, 2);
    put_le(b, e->flags, 2);
    put_le(b, (unsigned)e->method, 2);
    put_le(b, 0x50b02000, 4); /* a date */
    put_le(b, behind ? 0 : crc, 4);
    put_le(b, behind ? 0 : packed, 4);
    put_le(b, behind ? 0 : e->claim_size ? e->claim_size : e->n, 4);
    put_le(b, strlen(e->name), 2);
    put_le(b, 0, 2);
}

static inline void zip_add(zip_maker *z, zip_entry e)
{
    bytes packed = {0};
    uint32_t crc = (uint32_t)crc32(0, e.data, (unsigned)e.n);
    uint32_t at = (uint32_t)z->out.n;
    if (e.method == 8)
        packed = raw_deflate(e.data, e.n);
    else
        put(&packed, e.data, e.n);
    put(&z->out, "PK\3\4", 4);
    zip_fields(&z->out, &e, crc, packed.n);
    put(&z->out, e.name, strlen(e.name));
    put(&z->out, packed.p, packed.n);
    if (e.flags & 8) {
        put(&z->out, "PK\7\10", 4);
        put_le(&z->out, crc, 4);
        put_le(&z->out, packed.n, 4);
        put_le(&z->out, e.n, 4);
    }
    unsigned flags = e.flags;
    e.flags &= ~8u; /* the central directory has the sizes */
    size_t start = z->directory.n;
    put(&z->directory, "PK\1\2", 4);
    put_le(&z->directory, 0x0314, 2); /* made on Unix */
    zip_fields(&z->directory, &e, crc, packed.n);
    z->directory.p[start + 8] = (unsigned char)flags;
    put_le(&z->directory, 0, 6);              /* comment, disk, internal */
    put_le(&z->directory, 0100644u << 16, 4); /* a regular file */
    put_le(&z->directory, at, 4);
    put(&z->directory, e.name, strlen(e.name));
    z->count++;
    free(packed.p);
}

static inline bytes zip_end(zip_maker *z)
{
    uint32_t at = (uint32_t)z->out.n;
    put(&z->out, z->directory.p, z->directory.n);
    put(&z->out, "PK\5\6", 4);
    put_le(&z->out, 0, 4);
    put_le(&z->out, z->count, 2);
    put_le(&z->out, z->count, 2);
    put_le(&z->out, z->directory.n, 4);
    put_le(&z->out, at, 4);
    put_le(&z->out, 0, 2);
    free(z->directory.p);
    return z->out;
}

/* ---- compression around ---- */

static inline bytes gzip_of(bytes in)
{
    z_stream z = {.next_in = in.p, .avail_in = (unsigned)in.n};
    bytes out = {0};
    deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
    size_t cap = deflateBound(&z, in.n) + 100;
    out.p = malloc(cap);
    z.next_out = out.p;
    z.avail_out = (unsigned)cap;
    deflate(&z, Z_FINISH);
    out.n = cap - z.avail_out;
    deflateEnd(&z);
    return out;
}

static inline bytes zstd_of(bytes in)
{
    size_t cap = in.n + in.n / 8 + 65536;
    bytes out = {malloc(cap), 0};
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    archive_write_add_filter_zstd(a);
    archive_write_set_format_raw(a);
    archive_write_set_bytes_in_last_block(a, 1);
    archive_entry_set_pathname(e, "data");
    archive_entry_set_filetype(e, AE_IFREG);
    if (archive_write_open_memory(a, out.p, cap, &out.n) != ARCHIVE_OK ||
        archive_write_header(a, e) != ARCHIVE_OK ||
        archive_write_data(a, in.p, in.n) != (la_ssize_t)in.n ||
        archive_write_close(a) != ARCHIVE_OK)
        abort();
    archive_entry_free(e);
    archive_write_free(a);
    return out;
}

#endif
