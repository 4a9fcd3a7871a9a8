/* Where functions stand in their sources, by the DWARF of their files: read by elfutils' libdw,
 * loaded where it is installed and never linked. Only this room and the doctor include it.
 *
 * libdw is loaded with dlopen where it is installed: DWARF is large and grows, and a build id that
 * is not the loaded one's makes it silent. */
#ifndef VP_CAPTURE_DWARF_H
#define VP_CAPTURE_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* file: as the compiler had it, cut at cap with its NUL. false: there is no libdw, the file says
 * nothing of it, or is not the one that was loaded (their build ids differ, or there is none). One
 * thread at a time; not for signal handlers. */
bool dwarf_source(char *file, size_t cap, uint32_t *line, void *function);
/* Path of the libdw that would be used, or an empty string; loads it. */
void dwarf_find(char *out, size_t cap);

#endif
