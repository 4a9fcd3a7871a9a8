#include "trace/read/archive/archive_zip.h"

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/str.h"

#define END_RECORD 22
#define LOCATOR 20
#define END_RECORD_64 56
/* libarchive searches the end record in the last 16 KiB. */
#define TAIL (16u << 10)
/* 46 bytes and the name and extra fields: 300 per entry are generous. */
#define DIRECTORY_MAX ((int64_t)VP_ARCHIVE_ENTRIES_MAX * 300)

static uint64_t load_le(const char *p, unsigned n)
{
    uint64_t v = 0;
    while (n--)
        v = v << 8 | (unsigned char)p[n];
    return v;
}

static int64_t smaller_offset(int64_t a, uint64_t b)
{
    return b < (uint64_t)a ? (int64_t)b : a;
}

/* Reads the zip64 end record, to which the locator before the end record points. */
static int start_64(int fd, int64_t size, const char *locator, int64_t *start)
{
    char r[END_RECORD_64];
    size_t n;
    uint64_t at = load_le(locator + 8, 8);
    if (!VP_SAME(locator, "PK\6\7") || at >= (uint64_t)size)
        return 0;
    VP_TRY(vp_fs_pread(fd, r, sizeof r, (int64_t)at, &n));
    if (n == sizeof r)
        *start = smaller_offset(*start, load_le(r + 48, 8));
    return 0;
}

/* A zip that was truncated after a member that is itself a zip ends with that member's directory,
 * whose position is relative to the member's start. */
static bool is_of_member(const char *record, int64_t end, bool has_64)
{
    uint64_t start = load_le(record + 16, 4), bytes = load_le(record + 12, 4);
    return !has_64 && (uint32_t)(start + bytes) != (uint32_t)end;
}

int ar_zip_check(int fd, int64_t size, bool *empty, bool *cut)
{
    char tail[LOCATOR + TAIL];
    size_t n, i;
    int64_t base = size > (int64_t)sizeof tail ? size - (int64_t)sizeof tail : 0;
    VP_TRY(vp_fs_pread(fd, tail, sizeof tail, base, &n));
    if (n < END_RECORD)
        return 0;
    for (i = n - END_RECORD; i && !VP_SAME(tail + i, "PK\5\6"); i--)
        ;
    if (!VP_SAME(tail + i, "PK\5\6"))
        return 0;
    int64_t end = base + (int64_t)i, start = end;
    *empty = end == 0;
    bool has_64 = i >= LOCATOR && VP_SAME(tail + i - LOCATOR, "PK\6\7");
    *cut = is_of_member(tail + i, end, has_64);
    start = smaller_offset(start, load_le(tail + i + 16, 4));                 /* stated start */
    start = smaller_offset(start, (uint64_t)end - load_le(tail + i + 12, 4)); /* or by its length */
    if (i >= LOCATOR)
        VP_TRY(start_64(fd, size, tail + i - LOCATOR, &start));
    if (end - start > DIRECTORY_MAX)
        return vp_fail(VP_ELIMIT,
                       "the central directory of the zip is larger than that of %u files",
                       VP_ARCHIVE_ENTRIES_MAX);
    return 0;
}
