/* Receives the data of a write request from the client. */
#ifndef VP_FETCH_PIECES_H
#define VP_FETCH_PIECES_H

#include <stdbool.h>

#include "server/fetch/question/fetch_answer.h"

/* Memory of an upload in parts. */
#define PIECE_BYTES (8u << 20)

/* Appends to a buffer, which holds n + FETCH_FRAME_MAX, until at least n bytes are in it, or all
 * that is left: *is_last, and maybe none. VP_EREMOTE: who asked went away before the end, and
 * nothing may be left behind. */
int piece_next(fetch_ask *a, size_t n, vp_buf *out, bool *is_last);

#endif
