/* Only in the recorder's shared library, and so neither in the viewer nor in tests: a program that
 * has it is recorded when its environment asks for that; and the way in for the adapters, which are
 * libraries of their own, so that a program has the recorder once, however it came. */
#include "trace/capture/inject/adapters.h"

#include "trace/capture/adapters/itt.h"
#include "trace/capture/control/control.h"

__attribute__((constructor)) static void load(void)
{
    control_load();
}

void vp__function_enter(void *function, instrument_place at)
{
    instrument_enter(function, at);
}

void vp__function_exit(void *function)
{
    instrument_exit(function);
}

void vp__itt_attach(void *global)
{
    itt_attach(global);
}

int vp__nvtx_attach(nvtx_export_fn *tables)
{
    return nvtx_attach(tables);
}
