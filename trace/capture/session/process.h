/* Handles fork and exit for recordings. Private to the recorder. */
#ifndef VP_CAPTURE_PROCESS_H
#define VP_CAPTURE_PROCESS_H

/* Installs the handlers before the first recording, with the lock held; idempotent. VP_ENOMEM. */
int session_install(void);

#endif
