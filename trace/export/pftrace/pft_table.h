/* Interned strings of a .pftrace, used if all events are read before the first is written: each
 * text has one number. It takes at most 64 MiB; texts that do not fit are written inline. The
 * creator frees it. */
#ifndef VP_EXPORT_PFTRACE_PFT_TABLE_H
#define VP_EXPORT_PFTRACE_PFT_TABLE_H

#include "trace/base/arena.h"
#include "trace/export/pftrace/pft_writer.h"

/* Events of a kind have the same arguments in the same order, so most names need no look-up. */
#define PFT_EXPECTED 32u

typedef struct pft_table {
    vp_arena arena;
    vp_intern texts;      /* raw JSON text without quotes */
    unsigned char *kinds; /* by text: its uses, as bits */
    size_t cap;
    vp_sid expected[PFT_EXPECTED]; /* names of arguments, by position in the last event */
} pft_table;

int pft_table_init(pft_table *t);
void pft_table_free(pft_table *t);
/* The id of a JSON text without quotes. 1; 0: not stored; VP_ENOMEM. */
int pft_table_put(pft_table *t, pft_name_kind kind, vp_str json, uint64_t *number);
/* The same for the name of an event's argument at that position. */
int pft_table_put_arg(pft_table *t, unsigned place, vp_str json, uint64_t *number);
/* The text as UTF-8; in `scratch` if it has escapes, valid until the next use. */
vp_str pft_plain(vp_buf *scratch, vp_str json);
/* Writes the texts from *next on to w until its output is full; 1 if all are written. */
int pft_table_tell(const pft_table *t, pft_writer *w, vp_buf *scratch, size_t *next);

#endif
