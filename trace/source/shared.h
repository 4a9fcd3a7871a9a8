/* Memory of this process that another one fills through a descriptor, so that what it sends is
 * copied once less and it need not wait until somebody takes it. */
#ifndef VP_SOURCE_SHARED_H
#define VP_SOURCE_SHARED_H

#include <stddef.h>

typedef struct shared {
    int fd;  /* what is written there stands at p; -1: the kernel has no such files */
    char *p; /* zeros that cost nothing until they are touched; NULL: not open */
    size_t n;
} shared;

/* All zero before. Nobody who has the descriptor can make it smaller. VP_ENOMEM. */
int shared_open(shared *s, size_t n);
void shared_close(shared *s);

#endif
