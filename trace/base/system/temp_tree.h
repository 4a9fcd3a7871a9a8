/* A private temporary directory that is removed when the process ends. Where the process was
 * killed, the next one that makes a tree of the same name removes it. Everyone may include. */
#ifndef VP_BASE_TEMP_TREE_H
#define VP_BASE_TEMP_TREE_H

#include "trace/base/limits.h"

typedef struct vp_temp_tree {
    char path[VP_PATH_MAX]; /* "" when there is none */
    int lock_fd;            /* held as long as we live: what nobody holds was left behind */
} vp_temp_tree;
#define VP_TEMP_TREE_NONE                                                                          \
    {                                                                                              \
        .path = "", .lock_fd = -1                                                                  \
    }

/* Makes $TMPDIR/NAME_XXXXXX (or in /tmp) and removes trees of that name that were left behind. */
int vp_temp_tree_make(vp_temp_tree *t, const char *name);
/* Removes it and all that is in it; does nothing where there is none. */
void vp_temp_tree_free(vp_temp_tree *t);
/* Removes a file or a tree, never following a link. */
void vp_remove_tree(const char *path);

#endif
