/* The past of a recording that goes on, as a session of its own takes it. Private to the recorder.
 */
#ifndef VP_CAPTURE_PAST_COPY_H
#define VP_CAPTURE_PAST_COPY_H

#include "trace/capture/session/session.h"

struct cap_past {
    cap_session *from; /* one of its readers is us */
    double seconds;    /* <= 0: all */
    vpcap_pair until; /* what ends later is left out: of that, some threads have more than others */
};

/* Fills in the image, directory and result of a session that has a past. Without the lock. 0, or
 * why not. */
int past_take(cap_session *s);

#endif
