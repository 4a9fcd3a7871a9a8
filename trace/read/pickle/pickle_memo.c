#include "trace/read/pickle/pickle_memo.h"

#include <stdbool.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Picklers number memo entries consecutively, from 0 or 1 on. */
#define AHEAD_MAX (4 * PK_MEMO_CHUNK)

void pk_memo_free(pk_memo *m)
{
    for (size_t i = 0; i < m->chunk_count; i++)
        vp_free(m->chunks[i]);
    vp_free(m->chunks);
}

static int memo_make_chunk(pk_memo *m, size_t chunk)
{
    if (chunk >= m->chunk_count) {
        VP_TRY(vp_grow(&m->chunks, &m->chunk_cap, chunk + 1, sizeof *m->chunks, UINT32_MAX));
        while (m->chunk_count <= chunk)
            m->chunks[m->chunk_count++] = NULL;
    }
    if (!m->chunks[chunk])
        m->chunks[chunk] = vp_calloc(PK_MEMO_CHUNK, sizeof **m->chunks);
    VP_NEED(m->chunks[chunk]);
    return 0;
}

int pk_memo_put(pk_memo *m, uint32_t index, pk_memo_kind kind, uint32_t id)
{
    if (index > (uint64_t)m->puts + AHEAD_MAX)
        return vp_fail(VP_ECORRUPT, "invalid pickle memo entry %u after %u others", index, m->puts);
    if (id > PK_MEMO_ID_MAX)
        return vp_fail(VP_ELIMIT, "the pickle has more than %u distinct values", PK_MEMO_ID_MAX);
    VP_TRY(memo_make_chunk(m, index / PK_MEMO_CHUNK));
    pk_memo_change(m, index, kind, id);
    m->puts += m->puts < UINT32_MAX;
    return 0;
}
