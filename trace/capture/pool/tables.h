/* Tables of devices, tracks and metadata, which live as long as the process and are written to
 * every recording. Private to the recorder. Thread-safe; functions of the public API report
 * VP_EARG, VP_ELIMIT or VP_ENOMEM. */
#ifndef VP_CAPTURE_TABLES_H
#define VP_CAPTURE_TABLES_H

#include "trace/capture/pool/pool.h"

/* Writes all tables into the pool of a starting recording. Until cap_tables_leave, later additions
 * are written there, too. */
void cap_tables_enter(cap_pool *p);
void cap_tables_leave(void);
/* The clock of a track's device; 0: that of the recording; VPCAP_NONE: unknown track. */
uint32_t cap_tables_clock(uint32_t track);
/* The caller holds the lock. VP_EARG: unknown device. */
int cap_tables_set_clock(uint32_t device, uint32_t clock);
/* Held around fork, and for other data of devices (device_clock.c). */
void cap_tables_lock(void);
void cap_tables_unlock(void);

/* The lock of vp_name's table, whose names live as long as the process; held around fork, too. */
void cap_names_lock(void);
void cap_names_unlock(void);

#endif
