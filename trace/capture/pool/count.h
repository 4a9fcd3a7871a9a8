/* What an image holds, in numbers. Nothing is owned. */
#ifndef VP_CAPTURE_COUNT_H
#define VP_CAPTURE_COUNT_H

#include "include/view_profile_capture.h"
#include "trace/capture/pool/pool.h"
#include "trace/vpcap/vpcap.h"

/* Counts an image that nobody writes to any more. */
void session_count(vp_result *result, const cap_pool *p);
/* The same of a ring, or of a past: only what lies where all threads have their events
 * (vpcap_info.begin_ps). */
void session_count_view(vp_result *result, const vpcap *v);
bool session_any_open(const cap_pool *p);
/* Calls fn for the block of every thread that the image still has. */
void session_each_block(const cap_pool *p, void (*fn)(void *ctx, vp__block *b), void *ctx);

#endif
