/* Where functions stand in their sources, by the DWARF of their files. It is read by elfutils'
 * libdw, which is loaded where it is installed and never linked: DWARF is large and grows. Of a
 * file with another build id than the loaded one's nothing is told. Only this room and the doctor
 * include it. */
#ifndef VP_CAPTURE_DWARF_H
#define VP_CAPTURE_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* file: the source as the compiler knew it, cut to cap with its NUL. false: there is no libdw, or
 * the file says nothing of the function or is not the one that was loaded (the build ids differ, or
 * there is none). One thread at a time; not for signal handlers. */
bool dwarf_source(char *file, size_t cap, uint32_t *line, void *function);
/* The path of the libdw that would be used, or ""; loads it. */
void dwarf_find(char *out, size_t cap);

#endif
