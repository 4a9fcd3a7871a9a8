/* Directories as they are read: whole, sorted, and with what their files are, on several threads
 * before the walk comes to them where there are many. What a thread could not do in passing
 * (errors, archives, more than it may hold) it leaves undone, and the walk does it: so all that is
 * said, and the order of it, is the same with any number of threads. Only the catalog includes
 * this. A node is its parent's; what cat_ahead_get fetched is given up by cat_ahead_drop. */
#ifndef VP_MODEL_CATALOG_AHEAD_H
#define VP_MODEL_CATALOG_AHEAD_H

#include "trace/model/catalog/catalog_impl.h"

/* What a look at a file told. */
typedef enum cat_told {
    CAT_GONE,    /* nothing: no regular file, or not there any more */
    CAT_IGNORED, /* a cache */
    CAT_STANDBY, /* the ring of a process that lives */
    CAT_NO_STAT, /* see cat_entry.error */
    CAT_KEPT,    /* found as it is */
    CAT_LOOKED   /* for cat_look, which need not open it again where it was peeked at */
} cat_told;

typedef struct cat_entry {
    uint32_t name; /* offset in names, which are in the order of the disk */
    uint32_t at;   /* index: of a file in found, of a directory in children */
    int error;
    unsigned char type; /* DT_…; 0: nothing of ours */
    unsigned char told; /* of a file */
} cat_entry;

typedef enum cat_state { CAT_UNREAD, CAT_QUEUED, CAT_READING, CAT_READ } cat_state;

typedef struct cat_node {
    struct cat_node *parent, *prev, *next; /* prev, next: in the queue */
    const char *name;                      /* of a root: its path below the catalog's root */
    cat_state state;
    unsigned depth;
    int fd;     /* of a root, and of a directory with others in it; else -1 */
    int failed; /* errno: it could not be opened, or, if no_stat, looked at */
    bool no_stat;
    int cut; /* errno: the list of its entries could not be read to its end */
    vp_file_id id;
    struct timespec changed; /* its ctime */
    bool listed;             /* read now: else its entries are those of the previous scan */
    void *block;             /* that the following lie in */
    struct cat_node *children;
    cat_found *found; /* of its regular files */
    cat_entry *entries;
    char *names;
    size_t names_n, child_count, found_count, count;
} cat_node;

typedef struct cat_ahead cat_ahead;

int cat_ahead_new(cat_ahead **out, const cat_scan *s);
/* Stops the threads. All nodes have to be dropped afterwards, and only then is it freed. */
void cat_ahead_stop(cat_ahead *a);
void cat_ahead_free(cat_ahead *a);
/* Reads n, or waits until it has been read. */
int cat_ahead_get(cat_ahead *a, cat_node *n);
/* Forgets n and all below it. */
void cat_ahead_drop(cat_ahead *a, cat_node *n);

/* catalog_dir: what a thread needs to read directories. */
typedef struct cat_reader cat_reader;
int cat_reader_new(cat_reader **out, const cat_scan *s);
void cat_reader_free(cat_reader *r);
/* Reads n. stop: NULL, or set by another thread: VP_ECANCELLED soon; and what holds more entries
 * than may be read ahead is left, VP_ELIMIT. */
int cat_read_dir(cat_reader *r, cat_node *n, const _Atomic bool *stop);
/* Opens n again, whose parent is open: -1 and errno. */
int cat_dir_fd(cat_node *n);
void cat_node_clear(cat_node *n);

#endif
