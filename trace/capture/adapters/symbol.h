/* Names of functions by address: exported ones from the dynamic linker, others from the symbol
 * table of their file, unless it is stripped. Private to this module. Nothing fails. */
#ifndef VP_CAPTURE_SYMBOL_H
#define VP_CAPTURE_SYMBOL_H

#include <dlfcn.h>
#include <stddef.h>

/* The name of a function (demangled for C++), else "FILE+0xOFFSET" for addr2line, else the address;
 * truncated to cap, with its NUL. One thread at a time reads a file; not async-signal-safe. */
void symbol_name(char *out, size_t cap, void *function);
/* Path of the file that contains a function, from dladdr's result. */
const char *symbol_file(const Dl_info *info);

#endif
