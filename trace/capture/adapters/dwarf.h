/* Source locations of functions, from the DWARF data of their files. DWARF is read by elfutils'
 * libdw, which is loaded at run time if installed, because DWARF is large and still growing. A file
 * with another build id than the loaded one is ignored. Private to this module and the doctor. */
#ifndef VP_CAPTURE_DWARF_H
#define VP_CAPTURE_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* file: the source path as the compiler knew it, truncated to cap with its NUL. false: libdw is
 * missing, the file has no data about the function, or it is not the one that was loaded (different
 * or missing build id). Not thread-safe; not async-signal-safe. */
bool dwarf_source(char *file, size_t cap, uint32_t *line, void *function);
/* Path of the libdw that would be used, or ""; loads it. */
void dwarf_find(char *out, size_t cap);

#endif
