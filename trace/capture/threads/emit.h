/* Records with items: what is recorded where the macros do not do it in line. Private to the
 * recorder and its adapters. */
#ifndef VP_CAPTURE_EMIT_H
#define VP_CAPTURE_EMIT_H

#include "include/view_profile_capture.h"

#define CAP_ARGS_MAX 15u /* further ones are not kept */

typedef struct cap_event {
    vp__site *site;
    uint32_t kind;       /* VP__… */
    uint64_t start, end; /* ticks */
    uint32_t correlation;
    uint32_t track; /* the track's number, from 1; 0: none */
    bool has_number, is_real;
    uint64_t number; /* or the bits of a double */
    const vp_arg *args;
    uint32_t arg_count;
    vp__site *const *keys; /* the sites of the args' keys; NULL: the site always has these args */
} cap_event;

/* Records an event in the calling thread; false: there is no room, which it counts. Does nothing if
 * the recording is not on any more. Signal-safe. */
bool cap_emit(uint32_t generation, const cap_event *e);
/* The same, and gives the event's place on the list of open zones back together with writing the
 * record; place 0: it has none. false: the image could not be entered, and nothing in it has
 * changed but counts. */
bool cap_emit_listed(uint32_t generation, const cap_event *e, uint32_t place);

/* The number of a site in the image that is on. It is registered on first sight, with the names of
 * its args behind it; 0: no room. To be called between cap_enter and vp__leave. */
uint32_t cap_site(vp__site *site, uint32_t generation, const vp_arg *args, uint32_t n);
/* Makes the names of the keys of the first CAP_ARGS_MAX args, for a site that does not know them.
 * Returns how many: fewer than n where there is no room for more names. */
uint32_t cap_keys_of(vp__site **keys, const vp_arg *args, size_t n);

#endif
