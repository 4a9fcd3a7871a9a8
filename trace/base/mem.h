/* Every allocation of the product goes through here, so that tests can count them and make any
 * one fail. Callers own what they get and give it back with vp_free. Everyone may include. */
#ifndef VP_BASE_MEM_H
#define VP_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *vp_malloc(size_t n);
void *vp_calloc(size_t count, size_t size); /* zeroed; NULL on overflow */
/* realloc of count*size bytes; NULL on overflow or failure, the old block then stays valid. */
void *vp_realloc_array(void *p, size_t count, size_t size);
char *vp_strdup(const char *s);
char *vp_strndup(const char *s, size_t n);
void vp_free(void *p);
/* For VP_CLEANUP: frees *(void **)p. */
void vp_free_ptr(void *p);

/* Grows an array for at least `need` items by doubling; *cap counts items. 0 or VP_ENOMEM
 * (recorded) or VP_ELIMIT when need > max. The array pointer is only changed on success. */
int vp_grow(void *array_ptr, size_t *cap, size_t need, size_t item_size, size_t max);

/* Tests: the k-th allocation from now (1 = the next) fails; `persist` makes all later ones fail
 * too; 0 switches this off. Returns the number of allocations since the previous call. */
uint64_t vp_mem_fail_at(uint64_t k, bool persist);

#endif
