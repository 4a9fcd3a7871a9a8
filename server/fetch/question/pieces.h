/* Receives the data of a write request from the client. */
#ifndef VP_FETCH_PIECES_H
#define VP_FETCH_PIECES_H

#include <stdbool.h>

#include "server/fetch/question/fetch_answer.h"

/* Buffer for one part of a multipart upload. */
#define PIECE_BYTES (8u << 20)

/* Appends data to a buffer of n + FETCH_FRAME_MAX bytes until it has at least n bytes or the data
 * ends (*is_last; then possibly nothing was added). VP_EREMOTE: the client disconnected before the
 * end; the upload must be discarded. */
int piece_next(fetch_ask *a, size_t n, vp_buf *out, bool *is_last);

#endif
