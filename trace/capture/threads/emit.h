/* Records events with items, for all cases that macros do not record inline. Private to the
 * recorder and its adapters. Losses are counted. */
#ifndef VP_CAPTURE_EMIT_H
#define VP_CAPTURE_EMIT_H

#include "include/view_profile_capture.h"

#define CAP_ARGS_MAX 15u /* further ones are dropped */

typedef struct cap_event {
    vp__site *site;
    uint32_t kind;       /* VP__… */
    uint64_t start, end; /* ticks */
    uint32_t correlation;
    uint32_t track; /* number of the track, from 1; 0: none */
    bool has_number, is_real;
    uint64_t number; /* or the bits of a double, if is_real */
    const vp_arg *args;
    uint32_t arg_count;
    vp__site *const *keys; /* sites of the args' keys; NULL: the site always has these args */
} cap_event;

/* Records an event in the calling thread. false: no space, which is counted. Does nothing if the
 * recording is not active any more. Async-signal-safe. */
bool cap_emit(uint32_t generation, const cap_event *e);
/* The same, and frees the event's entry in the list of open zones together with writing the record;
 * place 0: none. false: the image could not be entered, and only counts have changed. */
bool cap_emit_listed(uint32_t generation, const cap_event *e, uint32_t place);

/* The number of a site in the active image. It is registered on first use, followed by the names of
 * its args; 0: no space. Call between cap_enter and vp__leave. */
uint32_t cap_site(vp__site *site, uint32_t generation, const vp_arg *args, uint32_t n);
/* Makes the names of the keys of the first CAP_ARGS_MAX args, for sites without arg names. Returns
 * their number: fewer than n if there is no space for more names. */
uint32_t cap_keys_of(vp__site **keys, const vp_arg *args, size_t n);

#endif
