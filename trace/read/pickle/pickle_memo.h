/* The memo of a pickle, four bytes per entry: of most entries, only their existence. A snapshot of
 * 1 GB has twenty million. pickle_machine.c owns it. */
#ifndef VP_READ_PICKLE_MEMO_H
#define VP_READ_PICKLE_MEMO_H

#include <stddef.h>
#include <stdint.h>

typedef enum pk_memo_kind {
    PK_MEMO_NOTHING, /* not set */
    PK_MEMO_TEXT,    /* the id of a string */
    PK_MEMO_RECORD,  /* the client's id of a dict */
    PK_MEMO_FOLDED,  /* the client's id of a list */
    PK_MEMO_OPEN,    /* a container that is still being filled: its position on the stack */
    PK_MEMO_OTHER,   /* an unused value */
} pk_memo_kind;

#define PK_MEMO_BITS 29
#define PK_MEMO_ID_MAX ((1u << PK_MEMO_BITS) - 1)

#define PK_MEMO_CHUNK (1u << 14)

typedef struct pk_memo {
    uint32_t **chunks; /* NULL: no entries yet */
    size_t chunk_count, chunk_cap;
    uint32_t puts;
} pk_memo;

void pk_memo_free(pk_memo *m);
/* VP_ECORRUPT: index far beyond the entries so far; VP_ELIMIT: id too large; VP_ENOMEM. */
int pk_memo_put(pk_memo *m, uint32_t index, pk_memo_kind kind, uint32_t id);
/* Changes an existing entry. */
static inline void pk_memo_change(pk_memo *m, uint32_t index, pk_memo_kind kind, uint32_t id)
{
    m->chunks[index / PK_MEMO_CHUNK][index % PK_MEMO_CHUNK] =
        (uint32_t)kind << PK_MEMO_BITS | (id & PK_MEMO_ID_MAX);
}
static inline pk_memo_kind pk_memo_get(const pk_memo *m, uint32_t index, uint32_t *id)
{
    size_t chunk = index / PK_MEMO_CHUNK;
    uint32_t entry = 0;
    if (chunk < m->chunk_count && m->chunks[chunk])
        entry = m->chunks[chunk][index % PK_MEMO_CHUNK];
    *id = entry & PK_MEMO_ID_MAX;
    return (pk_memo_kind)(entry >> PK_MEMO_BITS);
}

#endif
