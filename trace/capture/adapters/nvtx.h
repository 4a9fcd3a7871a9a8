/* NVTX: a program that NVIDIA's headers annotated looks for a tool at its first annotation, by the
 * environment variable NVTX_INJECTION64_PATH, and hands it a table of function pointers to fill.
 * This fills it with ours: ranges become zones, ranges that are steps become steps
 * (step_name.h), marks instants, domains categories, payloads args. Structures and slot numbers are
 * those of the NVTX 3 interface, which is fixed; its headers are not needed.
 * Only this room, its injection library and tests include it.
 *
 * The injection library fills NVTX's tables with the functions that view_profile_nvtx_compat.h
 * calls: NVTX has one implementation here. roctx is not built: nobody here could run it against
 * ROCm. */
#ifndef VP_CAPTURE_NVTX_H
#define VP_CAPTURE_NVTX_H

#include <stdint.h>

/* What NVTX hands over: tables by their number. */
typedef const void *nvtx_export_fn(uint32_t id);

/* Fills the tables. 1: done; 0: this NVTX is not one that
 * we know. */
int nvtx_attach(nvtx_export_fn *tables);

#endif
