#include "server/net/request/libmicrohttpd.h"

#include "trace/base/system/library.h"

struct http_lib http_lib;
static vp_library library = VP_LIBRARY("libmicrohttpd.so.12"); /* of 0.9.50 to 1.0 */

#define SYMBOL(name) {&name, #name, false},
static const vp_symbol symbols[] = {HTTP_LIB_CALLS(SYMBOL)};

int http_lib_load(void)
{
    return vp_library_load(&library, symbols, sizeof symbols / sizeof *symbols);
}
