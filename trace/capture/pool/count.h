/* Counts of an image: events, threads, losses. Nothing is allocated and nothing fails. */
#ifndef VP_CAPTURE_COUNT_H
#define VP_CAPTURE_COUNT_H

#include "include/view_profile_capture.h"
#include "trace/capture/pool/pool.h"
#include "trace/vpcap/vpcap.h"

/* Counts an image that is no longer written to. */
void session_count(vp_result *result, const cap_pool *p);
/* The same for a ring, or for vp_capture_past: counts only the range in which all threads still
 * have their events (vpcap_info.begin_ps). */
void session_count_view(vp_result *result, const vpcap *v);
bool session_any_open(const cap_pool *p);
/* Calls fn for the block of every thread in the image. */
void session_each_block(const cap_pool *p, void (*fn)(void *ctx, vp__block *b), void *ctx);

#endif
