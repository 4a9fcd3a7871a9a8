/* One pass over an archive: libarchive with exactly the formats and filters of
 * docs/reference/formats.md#archives, within limits.h. Its input is verified (gzip) or read by
 * offset, so that readers of one descriptor do not interfere. The reader owns its duplicate of the
 * descriptor. */
#ifndef VP_READ_ARCHIVE_READER_H
#define VP_READ_ARCHIVE_READER_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/archive/libarchive.h"
#include "trace/read/detect/archive_kinds.h"

typedef struct ar_reader {
    struct archive *a;
    ar_kind kind;
    int fd;               /* owned */
    int64_t size, pos;    /* size of the file; read position of the callbacks */
    rd_stream *gz;        /* AR_TAR_GZ: the tar's bytes */
    char *window;         /* otherwise: the bytes read last */
    vp_error below;       /* failure of the callbacks; code 0: none */
    int64_t unpacked;     /* bytes of all entries so far */
    int64_t searched;     /* bytes read since libarchive last returned something */
    int64_t search_start; /* unpacked bytes at that time */
    bool streamed_zip;    /* the zip has no directory; its entries are read in order */
    bool empty_zip;       /* a directory without entries, which libarchive does not recognize */
    uint32_t entries;     /* number of entries so far */
    int64_t entry_end;    /* compressed tar: unpacked bytes up to the end of the last entry */
    uint32_t restarts;    /* see ar_reader_recover */
    vp_progress_fn *progress;
    void *progress_ctx;
} ar_reader;

/* Opens an archive; r must be zeroed. fd is duplicated. VP_ECORRUPT: not an archive. Free with
 * ar_reader_close, also on failure. */
int ar_reader_open(ar_reader *r, int fd, bool threaded);
void ar_reader_close(ar_reader *r);

/* Reads the next entry and skips what is unread of the previous one. 1: an entry; 0: the end,
 * verified as far as the format allows; < 0: damage (VP_ECORRUPT, VP_ELIMIT) or failure. */
int ar_reader_next(ar_reader *r, struct archive_entry **e);

/* After damage in a zip's entry: prepares for the next entry, because members of a zip are
 * independent. 0, or VP_ECORRUPT if that is impossible or was needed too often. */
int ar_reader_recover(ar_reader *r);

/* Reads a block of the current entry's data and its offset. 1: a block; 0: the end; < 0: damage. A
 * block may come together with damage, so check *n > 0 then, too. */
int ar_reader_data(ar_reader *r, const void **p, size_t *n, int64_t *offset);

/* After an entry's last byte: reads up to the checksum that covers it, if the format has it after
 * all entries (gzip). VP_ECORRUPT: wrong checksum, so any entry may be damaged. */
int ar_reader_verify_entry(ar_reader *r);

/* Bytes of the file that were read, for progress. */
int64_t ar_reader_raw_done(const ar_reader *r);

/* Names in archives are UTF-8 in every locale, but libarchive uses the thread's locale. Put
 * AR_IN_UTF8 at the top of every function that calls the functions above. */
typedef struct ar_locale {
    void *before;
} ar_locale;
ar_locale ar_locale_enter(void);
void ar_locale_leave(ar_locale *l);
#define AR_IN_UTF8                                                                                 \
    VP_CLEANUP(ar_locale_leave) __attribute__((unused)) ar_locale in_utf8_ = ar_locale_enter()

#endif
