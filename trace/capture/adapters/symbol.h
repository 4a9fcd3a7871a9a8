/* Names of functions by their addresses: exported ones as the dynamic linker knows them, the others
 * from the symbol table of their file, unless that was stripped. Only this room includes it. */
#ifndef VP_CAPTURE_SYMBOL_H
#define VP_CAPTURE_SYMBOL_H

#include <dlfcn.h>
#include <stddef.h>

/* The name of a function (of C++ as its author wrote it), else "FILE+0xOFFSET" as addr2line takes
 * it, else the address; cut to cap, with its NUL. One thread at a time reads a file; not for signal
 * handlers. */
void symbol_name(char *out, size_t cap, void *function);
/* The path of the file that a function was loaded from, by what dladdr says of the function. */
const char *symbol_file(const Dl_info *info);

#endif
