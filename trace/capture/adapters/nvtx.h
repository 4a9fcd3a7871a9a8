/* NVTX: at its first annotation, a program with NVIDIA's headers looks for a tool in the
 * environment variable NVTX_INJECTION64_PATH, and passes it a table of function pointers to fill.
 * This module fills it: ranges become zones or steps (step_name.h), marks become instants, domains
 * categories, payloads args. Structures and slot numbers are those of the NVTX 3 interface, which
 * is fixed; its headers are not needed. Private to this module, its injection library and tests.
 *
 * view_profile_nvtx_compat.h calls the same functions, so there is one implementation of NVTX.
 * roctx is not supported, because it could not be tested with ROCm. */
#ifndef VP_CAPTURE_NVTX_H
#define VP_CAPTURE_NVTX_H

#include <stdint.h>

/* Provided by NVTX: returns a table by number. */
typedef const void *nvtx_export_fn(uint32_t id);

/* Fills the tables. 1: done; 0: unknown version of NVTX. */
int nvtx_attach(nvtx_export_fn *tables);

#endif
