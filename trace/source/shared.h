/* Memory that another process fills through a descriptor: its data is copied once less, and it does
 * not wait for the reader. The caller closes it. */
#ifndef VP_SOURCE_SHARED_H
#define VP_SOURCE_SHARED_H

#include <stddef.h>

typedef struct shared {
    int fd;  /* its content is the memory at p; -1: the kernel does not support it */
    char *p; /* zero pages, allocated on first access; NULL: not open */
    size_t n;
} shared;

/* Initialize to zero. No holder of the descriptor can shrink it. VP_ENOMEM. */
int shared_open(shared *s, size_t n);
void shared_close(shared *s);

#endif
