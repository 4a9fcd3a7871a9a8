/* The timelines of a catalog as plain files in a directory: out of archives, without .gz. What an
 * earlier run made whole is left as it is. The command line and the server include this.
 *
 * The server's copies lie in a temporary directory of its own; catalog_stream and catalog_source
 * read them instead of what is packed, while the archive is the one that was listed. */
#ifndef VP_MODEL_EXTRACT_H
#define VP_MODEL_EXTRACT_H

#include "trace/model/catalog/catalog.h"
#include "trace/model/unpack/unpack.h"

typedef struct extract_counts {
    size_t found;        /* files that are to be there in the end */
    size_t made, kept;   /* written now; whole already */
    size_t left_out;     /* damaged or refused */
    int64_t done, total; /* bytes of the files as they lie packed */
} extract_counts;

typedef struct extract_options {
    const cat_session *only; /* NULL: all sessions */
    bool packed_only;        /* leave plain files on disk where they are */
    /* After every piece and every file; nonzero stops with VP_ECANCELLED. May be NULL. */
    int (*progress)(void *ctx, const extract_counts *c);
    /* A file was left out: the thread's last failure says why. May be NULL. */
    void (*left_out)(void *ctx, const cat_file *f);
    void *ctx;
} extract_options;

/* A timeline that can be read. */
bool extract_is_timeline(const cat_file *f);
/* It lies in an archive or is gzip. */
bool extract_is_packed(const cat_file *f);
/* What identifies its content in a directory of unpacked files. */
unpack_source extract_source(const cat_file *f);
/* Counts what there is to do. */
void extract_count(extract_counts *out, const catalog *c, const extract_options *o);
/* Does it. A damaged file is left out and counted; a target that takes no more and a stop are
 * failures, with what was made so far in *out. */
int extract_run(extract_counts *out, unpack *to, const catalog *c, const extract_options *o);

#endif
