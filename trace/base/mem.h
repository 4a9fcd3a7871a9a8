/* All allocations of the project go through this module, so that tests can count them and make any
 * one fail. Callers own the blocks and free them with vp_free.
 *
 * Bytes are counted as malloc rounds them. An analysis may take 250 times the size of its file (at
 * least 250 MB). The process may take nine tenths of what the machine and its control groups have
 * left (mem_available), or --max-memory. Beyond that an allocation returns NULL, and vp_mem_explain
 * replaces "out of memory" by the limit that was reached. */
#ifndef VP_BASE_MEM_H
#define VP_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *vp_malloc(size_t n);
void *vp_calloc(size_t count, size_t size); /* zeroed; NULL on overflow */
/* realloc of count*size bytes; NULL on overflow or failure, and the old block stays valid. */
void *vp_realloc_array(void *p, size_t count, size_t size);
char *vp_strdup(const char *s);
char *vp_strndup(const char *s, size_t n);
void vp_free(void *p);
/* Returns the whole pages of `bytes` at p, a part of a block, to the system. Their content is lost;
 * the caller still owns the block. */
void vp_mem_forget(const void *p, size_t bytes);
/* For VP_CLEANUP: frees *(void **)p. */
void vp_free_ptr(void *p);

/* Grows an array for at least `need` items by doubling; *cap counts items. 0 or VP_ENOMEM
 * (recorded) or VP_ELIMIT when need > max. The array pointer is only changed on success. */
int vp_grow_more(void *array_ptr, size_t *cap, size_t need, size_t item_size, size_t max);
static inline int vp_grow(void *array_ptr, size_t *cap, size_t need, size_t item_size, size_t max)
{
    return need <= *cap ? 0 : vp_grow_more(array_ptr, cap, need, item_size, max);
}

/* Memory budget of one piece of work. Every thread that works on it calls vp_mem_enter; a block may
 * be allocated by one and freed by another. Initialize to zero except for max. */
typedef struct vp_mem_budget {
    _Atomic int64_t used; /* bytes, as malloc rounds them */
    int64_t max;          /* 0: no limit */
    _Atomic int refused; /* reason of a failed allocation: VP_ELIMIT or VP_ENOMEM; 0: none failed */
} vp_mem_budget;

/* Charges this thread's allocations to b from now on (NULL: to no budget). Returns the previous
 * budget, which the caller restores at the end. */
vp_mem_budget *vp_mem_enter(vp_mem_budget *b);
/* Sets the maximum number of bytes in use by the process. 0: nine tenths of what the machine has
 * left (vp_mem_available), read again after 16 MiB more are in use. Allocations beyond it fail. */
void vp_mem_set_ceiling(int64_t bytes);
/* Reads the available memory of the machine again, unless the user set the limit. To be called
 * before large work. */
void vp_mem_renew_ceiling(void);
/* True if the user set the limit. */
bool vp_mem_ceiling_is_set(void);
/* Returns rc. If rc is VP_ENOMEM because of a limit, returns VP_ELIMIT (this thread's budget) or
 * VP_ENOMEM (the process) instead, with a message that names the limit and the remedy. */
int vp_mem_explain(int rc);

/* For tests: the k-th allocation from now (1 = the next) fails, and with `persist` all later ones
 * too; k = 0 disables this. Returns the number of allocations since the previous call. */
uint64_t vp_mem_fail_at(uint64_t k, bool persist);

#endif
