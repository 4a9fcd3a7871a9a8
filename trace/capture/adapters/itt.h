/* ITT: a program that Intel's ittnotify is compiled into looks for a collector at its first
 * annotation, by the environment variable INTEL_LIBITTNOTIFY64, and hands it the table of its
 * functions to fill. This fills it with ours: tasks, regions and frames become zones whose category
 * is their domain, markers instants. Structures are those of the ITT 3 interface on Linux; its
 * headers are not needed. Only this room, its collector library and tests include it. */
#ifndef VP_CAPTURE_ITT_H
#define VP_CAPTURE_ITT_H

/* global: what ittnotify hands to __itt_api_init. Left alone when it is of another version. */
void itt_attach(void *global);

#endif
