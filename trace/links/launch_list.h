/* Launch calls by correlation id. Profilers reuse ids (several processes in one file, wrapped
 * counters), so a lookup also takes the time of the device op: of several launches the latest
 * before it counts. The owner frees the list. */
#ifndef VP_LINKS_LAUNCH_LIST_H
#define VP_LINKS_LAUNCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct launch_entry {
    int64_t id, start_ps;
    uint32_t value; /* the caller's */
} launch_entry;

typedef struct launch_list {
    launch_entry *v; /* sorted by id and start once the list is finished */
    size_t n, cap;
    bool is_unsorted;
    /* Profilers number calls as they come, so ids are usually dense: `first` then has the index of
     * the first entry of each id from `least` on, and one more for the end. NULL: ids are sparse.
     */
    uint32_t *first;
    int64_t least;
    uint64_t range; /* ids in `first` */
} launch_list;

void launch_list_init(launch_list *l);
void launch_list_free(launch_list *l);
int launch_list_add(launch_list *l, int64_t id, int64_t start_ps, uint32_t value); /* VP_ENOMEM */
/* Before the first lookup. VP_ENOMEM. */
int launch_list_finish(launch_list *l);
/* The latest entry of this id that starts at start_ps or before, else its first; NULL: none. */
const launch_entry *launch_list_find(const launch_list *l, int64_t id, int64_t start_ps);

#endif
