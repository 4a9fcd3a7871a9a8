/* One pass over an archive: libarchive with exactly the formats and filters of
 * docs/reference/formats.md#archives, fed with bytes that are verified (gzip) or read by offset (so
 * that readers of one descriptor do not disturb each other), under the limits of limits.h. */
#ifndef VP_READ_ARCHIVE_READER_H
#define VP_READ_ARCHIVE_READER_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/archive/libarchive.h"
#include "trace/read/detect/archive_kinds.h"

typedef struct ar_reader {
    struct archive *a;
    ar_kind kind;
    int fd;               /* ours */
    int64_t size, pos;    /* of the file, and where the callbacks stand in it */
    rd_stream *gz;        /* AR_TAR_GZ: the tar's bytes */
    char *window;         /* else: what was read last */
    vp_error below;       /* why the callbacks failed; code 0 if they did not */
    int64_t unpacked;     /* bytes of all entries so far */
    int64_t searched;     /* … read since libarchive last gave something */
    int64_t search_start; /* unpacked bytes by then */
    bool streamed_zip;    /* the zip has no directory: its entries are read one after the other */
    bool empty_zip;       /* a directory without entries, which libarchive does not recognise */
    uint32_t entries;     /* seen so far */
    int64_t entry_end;    /* unpacked bytes up to the end of the last one, of a compressed tar */
    uint32_t restarts;    /* see ar_reader_recover */
    vp_progress_fn *progress;
    void *progress_ctx;
} ar_reader;

/* fd is duplicated. VP_ECORRUPT when it is no archive. r must be zeroed; ar_reader_close frees. */
int ar_reader_open(ar_reader *r, int fd, bool threaded);
void ar_reader_close(ar_reader *r);

/* The next entry. 1; 0 at the end, verified as far as the format allows; < 0: damage (VP_ECORRUPT,
 * VP_ELIMIT) or failure. What is unread of the entry before is skipped. */
int ar_reader_next(ar_reader *r, struct archive_entry **e);

/* After damage in a zip's entry: makes the reader ready for the next entry, since the members of a
 * zip stand alone. 0, or VP_ECORRUPT when that is not possible or was needed too often. */
int ar_reader_recover(ar_reader *r);

/* A piece of the present entry's data and where it belongs. 1, 0 at its end, < 0 damage. A piece
 * may come together with damage: *n > 0 then, too. */
int ar_reader_data(ar_reader *r, const void **p, size_t *n, int64_t *offset);

/* After an entry's last byte: reads on to the checksum that covers it, where the format has it
 * behind all entries (gzip). VP_ECORRUPT when it is wrong: any entry may be damaged then. */
int ar_reader_verify_entry(ar_reader *r);

/* Bytes of the file that were consumed, for progress. */
int64_t ar_reader_raw_done(const ar_reader *r);

/* Names of archives are UTF-8 whatever the program's locale is; libarchive asks the thread's. Put
 * one at the top of every function that calls the above. */
typedef struct ar_locale {
    void *before;
} ar_locale;
ar_locale ar_locale_enter(void);
void ar_locale_leave(ar_locale *l);
#define AR_IN_UTF8                                                                                 \
    VP_CLEANUP(ar_locale_leave) __attribute__((unused)) ar_locale in_utf8_ = ar_locale_enter()

#endif
