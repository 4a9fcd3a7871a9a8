/* A private temporary directory that its process removes at the end. If the process was killed, the
 * next process that makes a tree of the same name removes it. */
#ifndef VP_BASE_TEMP_TREE_H
#define VP_BASE_TEMP_TREE_H

#include "trace/base/limits.h"

typedef struct vp_temp_tree {
    char path[VP_PATH_MAX]; /* "" when there is none */
    int lock_fd;            /* locked while the process lives; an unlocked tree was left behind */
} vp_temp_tree;
#define VP_TEMP_TREE_NONE                                                                          \
    {                                                                                              \
        .path = "", .lock_fd = -1                                                                  \
    }

/* Makes $TMPDIR/NAME_XXXXXX (default /tmp), and removes trees of that name that were left behind.
 * VP_EIO. */
int vp_temp_tree_make(vp_temp_tree *t, const char *name);
/* Removes the tree; does nothing if there is none. */
void vp_temp_tree_free(vp_temp_tree *t);
/* Removes a file or a tree without following links. */
void vp_remove_tree(const char *path);

#endif
