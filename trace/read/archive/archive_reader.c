#include "trace/read/archive/archive_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>

#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/archive/archive_zip.h"
#include "trace/read/detect/detect.h"
#include "trace/read/gzip/gzip.h"

/* Small enough that reading a zip member's first bytes does not read its neighbors. */
#define WINDOW (64u << 10)
#define TAR_BLOCK 512
/* Every restart reads the previous entries again. */
#define RESTARTS_MAX 100

static locale_t utf8;

static void make_utf8(void)
{
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

ar_locale ar_locale_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_utf8);
    return (ar_locale){utf8 ? uselocale(utf8) : NULL};
}

void ar_locale_leave(ar_locale *l)
{
    if (l->before)
        uselocale(l->before);
}

static bool all_zero(vp_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i])
            return false;
    return true;
}

static int duplicate_descriptor(int fd, int *copy)
{
    *copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return *copy < 0 ? vp_fail(VP_EIO, "too many open files") : 0;
}

/* Reads the first block inside gzip; less if it is damaged. */
static int gzip_head(int fd, char *block, size_t *n)
{
    VP_CLEANUP(rd_stream_close) rd_stream *gz = NULL;
    rd_stream *file;
    char *p;
    size_t got;
    int copy, rc;
    *n = 0;
    VP_TRY(duplicate_descriptor(fd, &copy));
    VP_TRY(rd_stream_fd(&file, copy));
    VP_TRY(gz_stream(&gz, file, false));
    while (*n < TAR_BLOCK && (rc = gz->next(gz, &p, &got)) != 0) {
        if (rc < 0)
            return rc == VP_ECORRUPT ? 0 : rc;
        got = got < TAR_BLOCK - *n ? got : TAR_BLOCK - *n;
        memcpy(block + *n, p, got);
        *n += got;
    }
    return 0;
}

/* An empty tar consists of zeros. */
static ar_kind kind_of_plain(vp_str head)
{
    if (rd_is_zip(head))
        return AR_ZIP;
    if (rd_is_tar(head) || (head.n == TAR_BLOCK && all_zero(head)))
        return AR_TAR;
    return ar_kind_by_magic(head);
}

/* AR_NONE also for damaged files. VP_EIO, VP_ENOMEM. */
static int archive_kind_of_fd(ar_kind *out, int fd)
{
    char block[TAR_BLOCK];
    size_t n;
    VP_TRY(vp_fs_pread(fd, block, sizeof block, 0, &n));
    if (gz_is(block, n)) {
        VP_TRY(gzip_head(fd, block, &n));
        *out = rd_is_tar((vp_str){block, n}) ? AR_TAR_GZ : AR_NONE;
    } else {
        *out = kind_of_plain((vp_str){block, n});
    }
    return 0;
}

static la_ssize_t input_failed(ar_reader *r, const vp_error *e)
{
    r->below = *e;
    archive_set_error(r->a, EIO, "unexpected end of input");
    return -1;
}

/* libarchive searches the next entry, or the end of one, through all of the input. A file without
 * entries may be a hole of terabytes, or compressed zeros; these limits end the search. */
#define SEARCH_MAX (INT64_C(64) << 20)
#define SEARCH_UNPACKED_MAX (INT64_C(1) << 30)

/* libarchive's filter for the tar's compression; NULL: none. */
typedef int filter_fn(struct archive *);
static filter_fn *filter_of(ar_kind k)
{
#define FILTER(kind, name, short_suffix, packer, magic, filter) [AR_##kind] = filter,
    filter_fn *const filters[AR_KIND_COUNT] = {AR_KINDS(FILTER)};
    return filters[k];
}

static int check_search(ar_reader *r, size_t n)
{
    /* Without a filter this counts file positions, and seeking to a zip's directory is not a
     * search. */
    int64_t unpacked = filter_of(r->kind) ? archive_filter_bytes(r->a, 0) : 0;
    if (r->progress && r->progress(r->progress_ctx, r->pos, r->size))
        return vp_fail(VP_ECANCELLED, "stopped");
    if (!r->searched)
        r->search_start = unpacked;
    r->searched += (int64_t)n;
    if (r->searched > SEARCH_MAX || unpacked - r->search_start > SEARCH_UNPACKED_MAX)
        return vp_fail(VP_ECORRUPT, "no further entry found: the archive is damaged or cut off");
    return 0;
}

static la_ssize_t read_gz(ar_reader *r, const void **p)
{
    char *chunk;
    size_t n;
    int rc = r->gz->next(r->gz, &chunk, &n);
    if (rc < 0)
        return input_failed(r, vp_error_last());
    if (rc == 0 && r->gz->damage.code)
        return input_failed(r, &r->gz->damage);
    if (check_search(r, rc ? n : 0) < 0)
        return input_failed(r, vp_error_last());
    *p = chunk;
    return rc ? (la_ssize_t)n : 0;
}

static la_ssize_t on_read(struct archive *a, void *ctx, const void **p)
{
    ar_reader *r = ctx;
    size_t n;
    (void)a;
    if (r->gz)
        return read_gz(r, p);
    if (vp_fs_pread(r->fd, r->window, WINDOW, r->pos, &n) < 0)
        return input_failed(r, vp_error_last());
    r->pos += (int64_t)n;
    if (check_search(r, n) < 0)
        return input_failed(r, vp_error_last());
    *p = r->window;
    return (la_ssize_t)n;
}

static la_int64_t on_skip(struct archive *a, void *ctx, la_int64_t request)
{
    ar_reader *r = ctx;
    int64_t left = r->pos < r->size ? r->size - r->pos : 0;
    int64_t step = request < left ? request : left;
    (void)a;
    r->pos += step;
    return step;
}

static la_int64_t on_seek(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
    ar_reader *r = ctx;
    int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? r->pos : r->size, to;
    (void)a;
    if (__builtin_add_overflow(from, offset, &to) || to < 0)
        return ARCHIVE_FATAL;
    return r->pos = to;
}

/* libarchive's message, if any, as one line of ASCII, because it may quote the archive. */
static const char *libarchive_reason(struct archive *a, char *buf, size_t cap)
{
    const char *why = archive_error_string(a);
    size_t n = 0;
    for (; why && why[n] && n + 1 < cap; n++)
        buf[n] = why[n] >= 0x20 && why[n] < 0x7f ? why[n] : '?';
    buf[n] = 0;
    return n ? buf : "unknown error";
}

static int archive_damaged(ar_reader *r)
{
    char why[200];
    if (r->below.code)
        return vp_fail_copy(&r->below);
    vp_fail(VP_ECORRUPT, "the archive is damaged or cut off: %s",
            libarchive_reason(r->a, why, sizeof why));
    return vp_fail_at(VP_ECORRUPT, NULL, -1, ar_reader_raw_done(r));
}

static int enable_formats(const ar_reader *r)
{
    if (r->kind != AR_ZIP) {
        filter_fn *filter = filter_of(r->kind);
        if (filter && filter(r->a) != ARCHIVE_OK)
            return vp_fail(VP_EUNSUPPORTED, "this libarchive cannot read %s",
                           ar_kinds[r->kind].packer);
        archive_read_support_format_tar(r->a);
        /* Continues after an end mark: to concatenated archives, and to the last checksum. */
        return archive_read_set_format_option(r->a, "tar", "read_concatenated_archives", "1");
    }
    return r->streamed_zip ? archive_read_support_format_zip_streamable(r->a)
                           : archive_read_support_format_zip_seekable(r->a);
}

static int start_archive_read(ar_reader *r)
{
    r->a = archive_read_new();
    if (!r->a)
        return vp_fail(VP_ENOMEM, "out of memory for an archive");
    r->pos = r->searched = 0;
    VP_TRY(enable_formats(r));
    archive_read_set_callback_data(r->a, r);
    archive_read_set_read_callback(r->a, on_read);
    if (!r->gz) {
        archive_read_set_skip_callback(r->a, on_skip);
        archive_read_set_seek_callback(r->a, on_seek);
    }
    return archive_read_open1(r->a) == ARCHIVE_OK ? 0 : archive_damaged(r);
}

static int open_input(ar_reader *r, bool threaded)
{
    vp_file_id id;
    rd_stream *file;
    VP_TRY(duplicate_descriptor(r->fd, &r->fd));
    VP_TRY(vp_fs_identity(r->fd, &id));
    r->size = id.size;
    if (r->kind == AR_TAR_GZ) {
        VP_TRY(rd_stream_text(&file, vp_fs_take(&r->fd)));
        return gz_stream(&r->gz, file, threaded);
    }
    if (r->kind == AR_ZIP)
        VP_TRY(ar_zip_check(r->fd, r->size, &r->empty_zip, &r->streamed_zip));
    r->window = vp_malloc(WINDOW);
    return r->window ? 0 : vp_fail(VP_ENOMEM, "out of memory for an archive");
}

/* A zip with a missing or damaged directory (at its end) can still be read from its start. */
static int restart_without_directory(ar_reader *r)
{
    if (r->below.code || r->streamed_zip)
        return archive_damaged(r);
    archive_read_free(r->a);
    r->a = NULL;
    r->streamed_zip = true;
    return start_archive_read(r);
}

int ar_reader_open(ar_reader *r, int fd, bool threaded)
{
    r->fd = -1;
    VP_TRY(ar_lib_load());
    VP_TRY(archive_kind_of_fd(&r->kind, fd));
    if (r->kind == AR_NONE)
        return vp_fail(VP_ECORRUPT, "not an archive, or damaged at the start");
    r->fd = fd;
    VP_TRY(open_input(r, threaded));
    if (r->empty_zip)
        return 0;
    int rc = start_archive_read(r);
    return rc == VP_ECORRUPT && r->kind == AR_ZIP ? restart_without_directory(r) : rc;
}

void ar_reader_close(ar_reader *r)
{
    if (r->a)
        archive_read_free(r->a);
    rd_stream_close(&r->gz);
    vp_fs_close(&r->fd);
    vp_free(r->window);
    *r = (ar_reader){.fd = -1};
}

int64_t ar_reader_raw_done(const ar_reader *r)
{
    return r->gz ? r->gz->raw_done : r->pos < r->size ? r->pos : r->size;
}

/* Detects archive bombs. A zip is read at any position, so its whole size counts. */
static int check_growth(ar_reader *r)
{
    int64_t raw = r->kind == AR_ZIP ? r->size : ar_reader_raw_done(r);
    if (r->unpacked > VP_ARCHIVE_TOTAL_MAX)
        return vp_fail(VP_ELIMIT, "the archive contains more than %lld GiB",
                       (long long)(VP_ARCHIVE_TOTAL_MAX >> 30));
    if (r->unpacked > VP_ARCHIVE_RATIO_FREE && r->unpacked / VP_ARCHIVE_RATIO_MAX > raw)
        return vp_fail(VP_ELIMIT, "the archive grows more than %d times when unpacked",
                       VP_ARCHIVE_RATIO_MAX);
    if (r->progress && r->progress(r->progress_ctx, ar_reader_raw_done(r), r->size))
        return vp_fail(VP_ECANCELLED, "stopped");
    return 0;
}

/* libarchive warns if data and checksum disagree (docs/reference/formats.md#archives): that counts
 * as damage. */
int ar_reader_data(ar_reader *r, const void **p, size_t *n, int64_t *offset)
{
    la_int64_t at = 0;
    *p = NULL;
    *n = 0;
    r->searched = 0;
    int rc = archive_read_data_block(r->a, p, n, &at);
    *offset = at;
    if (rc == ARCHIVE_EOF)
        return 0;
    r->unpacked += (int64_t)*n;
    if (rc != ARCHIVE_OK)
        return archive_damaged(r);
    VP_TRY(check_growth(r));
    return 1;
}

int ar_reader_verify_entry(ar_reader *r)
{
    char *p;
    size_t n;
    int rc = 1;
    while (r->gz && rc > 0)
        rc = r->gz->next(r->gz, &p, &n);
    return r->gz && gz_checksum_failed(r->gz) ? vp_fail_copy(&r->gz->damage) : 0;
}

/* Skips the rest of an entry. Compressed archives are read, so that the limits apply; so is a zip
 * without a directory, so that damage ends it at the same entry in every case; others seek. */
static int skip_rest(ar_reader *r)
{
    const void *p;
    size_t n;
    int64_t offset;
    int rc = 1;
    if (r->kind == AR_TAR || (r->kind == AR_ZIP && !r->streamed_zip))
        return check_growth(r);
    while (rc > 0)
        rc = ar_reader_data(r, &p, &n, &offset);
    return rc;
}

static int has_end_mark(ar_reader *r, bool *has)
{
    char last[TAR_BLOCK];
    size_t n;
    *has = archive_filter_bytes(r->a, 0) - r->entry_end >= TAR_BLOCK;
    if (r->kind != AR_TAR)
        return 0;
    *has = r->size < TAR_BLOCK || archive_filter_bytes(r->a, 0) < r->size;
    if (*has)
        return 0;
    VP_TRY(vp_fs_pread(r->fd, last, sizeof last, r->size - TAR_BLOCK, &n));
    *has = n == TAR_BLOCK && all_zero((vp_str){last, n});
    return 0;
}

/* A tar without its final block of zeros was truncated between two members. This may also happen to
 * a compressed one, if its compressor made self-contained parts. */
static int verify_end_of_tar(ar_reader *r)
{
    bool has;
    VP_TRY(has_end_mark(r, &has));
    if (has)
        return 0;
    vp_fail(VP_ECORRUPT, "the archive has no end mark: it is cut off");
    return vp_fail_at(VP_ECORRUPT, NULL, -1, r->size);
}

int ar_reader_recover(ar_reader *r)
{
    struct archive_entry *e;
    if (r->kind != AR_ZIP || r->streamed_zip || r->below.code || ++r->restarts > RESTARTS_MAX)
        return VP_ECORRUPT;
    archive_read_free(r->a);
    r->a = NULL;
    VP_TRY(start_archive_read(r));
    for (uint32_t i = 0; i < r->entries; i++) {
        int rc = archive_read_next_header(r->a, &e);
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
            return archive_damaged(r);
    }
    return 0;
}

int ar_reader_next(ar_reader *r, struct archive_entry **e)
{
    if (r->empty_zip)
        return 0;
    if (r->entries)
        VP_TRY(skip_rest(r));
    r->entry_end = archive_filter_bytes(r->a, 0);
    r->searched = 0;
    int rc = archive_read_next_header(r->a, e);
    if (rc == ARCHIVE_EOF) {
        if (r->kind != AR_ZIP)
            VP_TRY(verify_end_of_tar(r));
        if (!r->streamed_zip)
            return 0;
        vp_fail(VP_ECORRUPT, "the zip has no central directory: it is cut off");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, r->size);
    }
    if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN) {
        if (r->kind != AR_ZIP || r->entries)
            return archive_damaged(r);
        VP_TRY(restart_without_directory(r));
        return ar_reader_next(r, e);
    }
    if (r->entries >= VP_ARCHIVE_ENTRIES_MAX)
        return vp_fail(VP_ELIMIT, "the archive has more than %u entries; the rest is not listed",
                       VP_ARCHIVE_ENTRIES_MAX);
    r->entries++;
    return 1;
}
