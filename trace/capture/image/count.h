/* What an image holds, in numbers. Included by capture's rooms; nothing is owned. */
#ifndef VP_CAPTURE_COUNT_H
#define VP_CAPTURE_COUNT_H

#include "include/view_profile_capture.h"
#include "trace/capture/image/pool.h"
#include "trace/image/vpcap.h"

/* Of an image that nobody writes to. */
void session_count(vp_result *result, const cap_pool *p);
/* The same of what is told of a ring, or of a past: it begins where all threads have theirs. */
void session_count_view(vp_result *result, const vpcap *v);
bool session_any_open(const cap_pool *p);
/* Every thread's block in it, of those that it still has. */
void session_each_block(const cap_pool *p, void (*fn)(void *ctx, vp__block *b), void *ctx);

#endif
