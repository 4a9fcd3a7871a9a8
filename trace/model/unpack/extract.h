/* Writes the timelines of a catalog as plain files to a directory: out of archives, without .gz.
 * Complete files of an earlier run are kept. The caller owns catalog and target.
 *
 * The server's copies are in its own temporary directory. catalog_stream and catalog_source read
 * them instead of packed files, while the archive is the one that was listed. */
#ifndef VP_MODEL_EXTRACT_H
#define VP_MODEL_EXTRACT_H

#include "trace/model/catalog/catalog.h"
#include "trace/model/unpack/unpack.h"

typedef struct extract_counts {
    size_t found;        /* files that should exist in the end */
    size_t made, kept;   /* written now; already complete */
    size_t left_out;     /* damaged or refused */
    int64_t done, total; /* bytes of the packed files */
} extract_counts;

typedef struct extract_options {
    const cat_session *only; /* NULL: all runs */
    bool packed_only;        /* skip plain files on disk */
    /* Called after every block and every file; a nonzero result stops with VP_ECANCELLED. May be
     * NULL. */
    int (*progress)(void *ctx, const extract_counts *c);
    /* Called for a skipped file; vp_error_last has the reason. May be NULL. */
    void (*left_out)(void *ctx, const cat_file *f);
    void *ctx;
} extract_options;

/* True for a readable timeline. */
bool extract_is_timeline(const cat_file *f);
/* True for a member of an archive, or gzip. */
bool extract_is_packed(const cat_file *f);
/* Identifies its content in a directory of unpacked files. */
unpack_source extract_source(const cat_file *f);
/* Counts the work without doing it. */
void extract_count(extract_counts *out, const catalog *c, const extract_options *o);
/* Extracts. A damaged file is skipped and counted. A full target and a stop are failures; *out has
 * the counts so far. */
int extract_run(extract_counts *out, unpack *to, const catalog *c, const extract_options *o);

#endif
