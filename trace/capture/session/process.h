/* What happens to recordings at fork and at exit. Private to the recorder. */
#ifndef VP_CAPTURE_PROCESS_H
#define VP_CAPTURE_PROCESS_H

/* Before the first recording, with the lock held; idempotent. VP_ENOMEM. */
int session_install(void);

#endif
