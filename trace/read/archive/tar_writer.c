#include "trace/read/archive/tar_writer.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/archive/libarchive.h"

/* Eleven octal digits and a NUL. */
#define TAR_SIZE_MAX ((INT64_C(1) << 33) - 1)

struct ar_tar {
    struct archive *a;
    struct archive_entry *entry;
    vp_buf *b;
    bool ended; /* nothing more is written to the buffer */
};

static la_ssize_t tar_put_bytes(struct archive *a, void *ctx, const void *p, size_t n)
{
    ar_tar *t = ctx;
    (void)a;
    if (t->ended)
        return -1;
    vp_buf_put(t->b, p, n);
    return (la_ssize_t)n;
}

/* Checks the buffer's failure, too: libarchive frees what it opened only if it can close it, which
 * it does not try after a failed write. */
static int tar_check_status(const ar_tar *t, int64_t rc)
{
    if (t->b->status < 0)
        return t->b->status;
    return rc >= ARCHIVE_WARN
               ? 0
               : vp_fail(VP_EIO, "cannot write a tar: %s", archive_error_string(t->a));
}

int ar_tar_make(ar_tar **out, vp_buf *b)
{
    VP_TRY(ar_lib_load());
    ar_tar *t = vp_calloc(1, sizeof *t);
    VP_NEED(t);
    *t = (ar_tar){.a = archive_write_new(), .entry = archive_entry_new(), .b = b};
    int rc = t->a && t->entry ? 0 : vp_no_memory();
    if (rc >= 0)
        rc = tar_check_status(t, archive_write_set_format_gnutar(t->a));
    if (rc >= 0) /* the data is in the buffer when a call returns */
        rc = tar_check_status(t, archive_write_set_bytes_per_block(t->a, 0));
    if (rc >= 0)
        rc = tar_check_status(t, archive_write_open(t->a, t, NULL, tar_put_bytes, NULL));
    if (rc < 0)
        ar_tar_free(t);
    else
        *out = t;
    return rc;
}

int ar_tar_member(ar_tar *t, const char *name, int64_t size)
{
    if (size > TAR_SIZE_MAX)
        return vp_fail(VP_ELIMIT, "%s: files of 8 GiB or more do not fit in a tar", name);
    archive_entry_clear(t->entry);
    archive_entry_set_pathname(t->entry, name);
    archive_entry_set_filetype(t->entry, AE_IFREG);
    archive_entry_set_perm(t->entry, 0644);
    archive_entry_set_size(t->entry, size);
    archive_entry_set_mtime(t->entry, 0, 0);
    return tar_check_status(t, archive_write_header(t->a, t->entry));
}

int ar_tar_data(ar_tar *t, const void *p, size_t n)
{
    return tar_check_status(t, archive_write_data(t->a, p, n));
}

int ar_tar_end(ar_tar *t)
{
    return tar_check_status(t, archive_write_close(t->a));
}

void ar_tar_free(ar_tar *t)
{
    if (!t)
        return;
    archive_entry_free(t->entry);
    if (t->a) {
        t->ended = true;
        archive_write_free(t->a);
    }
    vp_free(t);
}
