/* Every allocation of the product goes through here, so that tests can count them and make any
 * one fail. Callers own what they get and give it back with vp_free. Everyone may include.
 *
 * What is allocated is counted as malloc rounds it: an analysis may take 250 times its file's size
 * (250 MB at least), the process nine tenths of what the machine and its control groups have left
 * (mem_room) or --max-memory. Beyond that an allocation fails where it is asked for, and
 * vp_mem_explain says why in place of "out of memory". */
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
/* Gives the whole pages of `bytes` at p, a part of a block, back to the machine: what they held is
 * lost, the block stays the owner's to free. */
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

/* What a piece of work may take. The threads that work on it enter it (vp_mem_enter); what one of
 * them takes and another gives back evens out. A new one is all zero but for max. */
typedef struct vp_mem_budget {
    _Atomic int64_t used; /* bytes, as malloc rounds them */
    int64_t max;          /* 0: no bound of its own */
    _Atomic int refused;  /* VP_ELIMIT or VP_ENOMEM: why one allocation failed; 0: none did */
} vp_mem_budget;

/* From now on this thread's allocations count on b (NULL: on none). Returns the one before, which
 * the caller enters again at the end. */
vp_mem_budget *vp_mem_enter(vp_mem_budget *b);
/* The bytes that all of the process may have in use; 0: nine tenths of what the machine has left
 * (vp_mem_room), looked at once 16 MiB more are in use. Beyond it allocations fail. */
void vp_mem_set_ceiling(int64_t bytes);
/* Has the machine asked anew, unless the user set the bound. Whoever begins something large calls
 * it. */
void vp_mem_renew_ceiling(void);
/* True when the user set the bound. */
bool vp_mem_ceiling_is_set(void);
/* Returns rc. If that is VP_ENOMEM because of a bound, it returns VP_ELIMIT (this thread's budget)
 * or VP_ENOMEM (the ceiling) instead, with a sentence that says which bound it was and what to do.
 */
int vp_mem_explain(int rc);

/* Tests: the k-th allocation from now (1 = the next) fails; `persist` makes all later ones fail
 * too; 0 switches this off. Returns the number of allocations since the previous call. */
uint64_t vp_mem_fail_at(uint64_t k, bool persist);

#endif
