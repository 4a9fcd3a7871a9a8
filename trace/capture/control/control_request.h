/* Parses a line received on the control socket: a command word, then KEY=NUMBER words. Pure; the
 * line must outlive the request. */
#ifndef VP_CAPTURE_CONTROL_REQUEST_H
#define VP_CAPTURE_CONTROL_REQUEST_H

#include "include/view_profile_capture.h"
#include "trace/base/str.h"

typedef struct control_request {
    vp_str command;     /* slice of the line; any word */
    uint64_t steps, ms; /* 0: not given */
    uint64_t past_ns;   /* seconds= in ns; 0: not given, or all */
    bool has_gpu;
    vp_gpu gpu;
} control_request;

/* VP_EARG: a word is unknown or out of range; the message names it. */
int control_read_request(control_request *out, vp_str line);

#endif
