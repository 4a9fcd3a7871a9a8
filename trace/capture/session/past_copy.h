/* The past of a recording that goes on, as a session of its own takes it. Private to the recorder.
 *
 * In a ring a busy thread goes round sooner than a quiet one, so what is left of each begins
 * somewhere else. What is given up notes when the last of it ended (lost_until), before anybody
 * writes over it; whoever reads the image, finished, copied or left by a crash, begins with that
 * time in every thread, and counts what lies before as overwritten. A copy finds all chunks first
 * and copies the newest first, while the threads make room by the oldest: what was recorded when it
 * was asked for is in it, as far as they did not come round. */
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
