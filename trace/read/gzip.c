#include "trace/read/gzip.h"

bool gz_is(const void *head, size_t n)
{
    const unsigned char *h = head;
    return n >= 2 && h[0] == 0x1f && h[1] == 0x8b;
}
