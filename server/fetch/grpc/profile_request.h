/* Builds the ProfileRequest for XLA's ProfilerService from the body of a FETCH_CAPTURE request. */
#ifndef VP_FETCH_PROFILE_REQUEST_H
#define VP_FETCH_PROFILE_REQUEST_H

#include <stdint.h>

#include "trace/base/buf.h"

/* A parsed body; texts point into it. Numbers that are missing have the defaults of the service. */
typedef struct profile_request {
    vp_str session, root, host, body;
    uint64_t duration_ms, start_ns; /* start_ns: Unix time; 0: immediately */
    uint64_t host_tracer, device_tracer, python_tracer;
    uint64_t patience_ms;
    uint64_t waits; /* 1: the XSpace is read after the client confirms */
} profile_request;

/* VP_EARG: malformed, or no duration. */
int profile_request_read(profile_request *r, vp_str body);
/* Appends the protobuf message. VP_EARG: an option is not KEY=VALUE. */
int profile_request_put(vp_buf *b, const profile_request *r);

#endif
