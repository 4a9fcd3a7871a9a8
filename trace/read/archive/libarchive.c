#include "trace/read/archive/libarchive.h"

#include "trace/base/system/library.h"

struct ar_lib ar_lib;
static vp_library library = VP_LIBRARY("libarchive.so.13"); /* of all 3.x versions */

#define SYMBOL(name) {&name, #name, false},
static const vp_symbol symbols[] = {AR_LIB_CALLS(SYMBOL)};

int ar_lib_load(void)
{
    return vp_library_load(&library, symbols, sizeof symbols / sizeof *symbols);
}
