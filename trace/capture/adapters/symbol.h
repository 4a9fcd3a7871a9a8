/* Names of functions by their addresses: exported ones as the dynamic linker knows them, the others
 * from the symbol table of their file, unless that was stripped. Only this room includes it. */
#ifndef VP_CAPTURE_SYMBOL_H
#define VP_CAPTURE_SYMBOL_H

#include <dlfcn.h>
#include <stddef.h>

/* The name, of C++ as its author wrote it, or "FILE+0xOFFSET" as addr2line takes it, or the
 * address; cut at cap, with its NUL. One thread at a time reads a file; not for signal handlers. */
void symbol_name(char *out, size_t cap, void *function);
/* The file that a function was loaded from, by what dladdr says of it. */
const char *symbol_file(const Dl_info *info);

#endif
