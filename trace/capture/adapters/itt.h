/* ITT: at its first annotation, a program with Intel's ittnotify looks for a collector in the
 * environment variable INTEL_LIBITTNOTIFY64, and passes it a table of functions to fill. This
 * module fills it: tasks, regions and frames become zones whose category is their domain, markers
 * become instants. Structures are those of the ITT 3 interface on Linux; its headers are not
 * needed. Private to this module, its collector library and tests. */
#ifndef VP_CAPTURE_ITT_H
#define VP_CAPTURE_ITT_H

/* global: the argument of __itt_api_init. Another version is ignored. */
void itt_attach(void *global);

#endif
