/* A line that the control socket hears, as a structure: a command word, then KEY=NUMBER words.
 * Pure: it looks at nothing but the line. control.c includes it; the line must outlive the request.
 */
#ifndef VP_CAPTURE_CONTROL_REQUEST_H
#define VP_CAPTURE_CONTROL_REQUEST_H

#include "include/view_profile_capture.h"
#include "trace/base/str.h"

typedef struct control_request {
    vp_str command;     /* of the line; not checked */
    uint64_t steps, ms; /* 0: not given */
    uint64_t past_ns;   /* seconds=; 0: not given, or all */
    bool has_gpu;
    vp_gpu gpu;
} control_request;

/* VP_EARG: says which word is none, or is out of bounds. */
int control_read_request(control_request *out, vp_str line);

#endif
