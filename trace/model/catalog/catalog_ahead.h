/* Reads directories completely, sorted, with the kinds of their files; on several threads ahead of
 * the walk if there are many. Errors, archives, and directories with more entries than a thread may
 * hold are left to the walk. So messages and their order do not depend on the number of threads.
 * Private to the catalog. A node belongs to its parent; cat_ahead_drop releases what cat_ahead_get
 * read. */
#ifndef VP_MODEL_CATALOG_AHEAD_H
#define VP_MODEL_CATALOG_AHEAD_H

#include "trace/model/catalog/catalog_impl.h"

/* Result of examining a file. */
typedef enum cat_told {
    CAT_GONE,    /* not a regular file, or deleted */
    CAT_IGNORED, /* a cache */
    CAT_STANDBY, /* the standby ring of a living process */
    CAT_NO_STAT, /* see cat_entry.error */
    CAT_KEPT,    /* unchanged, in found */
    CAT_LOOKED   /* for cat_look, which does not open it again if peeked is set */
} cat_told;

typedef struct cat_entry {
    uint32_t name; /* offset in names, which are in disk order */
    uint32_t at;   /* index into found (files) or children (directories) */
    int error;
    unsigned char type; /* DT_…; 0: ignored */
    unsigned char told; /* cat_told of a file */
} cat_entry;

typedef enum cat_state { CAT_UNREAD, CAT_QUEUED, CAT_READING, CAT_READ } cat_state;

typedef struct cat_node {
    struct cat_node *parent, *prev, *next; /* prev, next: links of the queue */
    const char *name;                      /* for a root: its path relative to the catalog's root */
    cat_state state;
    unsigned depth;
    int fd;     /* of a root, and of a directory with subdirectories; else -1 */
    int failed; /* errno: opening failed, or, if no_stat, stat failed */
    bool no_stat;
    int cut; /* errno: reading the entries failed before the end */
    vp_file_id id;
    struct timespec changed; /* ctime */
    bool listed;             /* entries were read now; else they are those of the previous scan */
    void *block;             /* memory of the members below */
    struct cat_node *children;
    cat_found *found; /* of its regular files */
    cat_entry *entries;
    char *names;
    size_t names_n, child_count, found_count, count;
} cat_node;

typedef struct cat_ahead cat_ahead;

int cat_ahead_new(cat_ahead **out, const cat_scan *s);
/* Stops the threads. All nodes must be dropped before cat_ahead_free. */
void cat_ahead_stop(cat_ahead *a);
void cat_ahead_free(cat_ahead *a);
/* Reads n, or waits until it has been read. */
int cat_ahead_get(cat_ahead *a, cat_node *n);
/* Releases n and all nodes below it. */
void cat_ahead_drop(cat_ahead *a, cat_node *n);

/* catalog_dir: state of a thread that reads directories. */
typedef struct cat_reader cat_reader;
int cat_reader_new(cat_reader **out, const cat_scan *s);
void cat_reader_free(cat_reader *r);
/* Reads n. stop: NULL, or a flag of another thread, which causes VP_ECANCELLED. With stop, a
 * directory with more entries than may be read ahead is not read: VP_ELIMIT. */
int cat_read_dir(cat_reader *r, cat_node *n, const _Atomic bool *stop);
/* Reopens n, whose parent is open. -1 and errno on failure. */
int cat_dir_fd(cat_node *n);
void cat_node_clear(cat_node *n);

#endif
