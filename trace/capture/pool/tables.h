/* What is known for the life of the process and goes into every recording: devices, tracks, metas.
 * Private to the recorder. */
#ifndef VP_CAPTURE_TABLES_H
#define VP_CAPTURE_TABLES_H

#include "trace/capture/pool/pool.h"

/* Writes all of it into the pool of a recording that starts. Until cap_tables_leave, what is added
 * later is written there too. */
void cap_tables_enter(cap_pool *p);
void cap_tables_leave(void);
/* The clock of a track's device; 0: that of the recording; VPCAP_NONE: there is no such track. */
uint32_t cap_tables_clock(uint32_t track);
/* With the lock held. VP_EARG: there is no such device. */
int cap_tables_set_clock(uint32_t device, uint32_t clock);
/* Held around fork, and around other data of devices (device_clock.c). */
void cap_tables_lock(void);
void cap_tables_unlock(void);

/* Names of vp_name live as long as the process; their lock is held around fork, too. */
void cap_names_lock(void);
void cap_names_unlock(void);

#endif
