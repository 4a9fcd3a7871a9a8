/* A line that the control socket hears, as a structure: a command word, then KEY=NUMBER words. It
 * looks at nothing but the line, which must outlive the request. control.c includes it. */
#ifndef VP_CAPTURE_CONTROL_REQUEST_H
#define VP_CAPTURE_CONTROL_REQUEST_H

#include "include/view_profile_capture.h"
#include "trace/base/str.h"

typedef struct control_request {
    vp_str command;     /* a part of the line; any word */
    uint64_t steps, ms; /* 0: not given */
    uint64_t past_ns;   /* seconds= in ns; 0: not given, or all */
    bool has_gpu;
    vp_gpu gpu;
} control_request;

/* VP_EARG: a word is unknown or out of bounds, and the message says which. */
int control_read_request(control_request *out, vp_str line);

#endif
