/* Builds the ProfileRequest for XLA's ProfilerService from the body of a FETCH_CAPTURE request. */
#ifndef VP_FETCH_PROFILE_REQUEST_H
#define VP_FETCH_PROFILE_REQUEST_H

#include <stdint.h>

#include "trace/base/buf.h"

/* The body, read; texts point into it. Numbers that it does not have are the service's defaults. */
typedef struct profile_request {
    vp_str session, root, host, body;
    uint64_t duration_ms, start_ns; /* start_ns: Unix; 0: at once */
    uint64_t host_tracer, device_tracer, python_tracer;
    uint64_t patience_ms;
    uint64_t waits; /* 1: the XSpace is read once the asker says so */
} profile_request;

/* VP_EARG: it is none, or asks for no time. */
int profile_request_read(profile_request *r, vp_str body);
/* The protobuf message, appended. VP_EARG: an option that is no KEY=VALUE. */
int profile_request_put(vp_buf *b, const profile_request *r);

#endif
