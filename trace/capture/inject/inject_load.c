/* Only in the recorder's shared library, and so neither in the viewer nor in tests: a program that
 * has it is recorded when its environment asks for that; and the way in for the adapters, which are
 * libraries of their own, so that a program has the recorder once, however it came. */
#include "trace/capture/inject/adapters.h"

#include "trace/capture/control/control.h"

__attribute__((constructor)) static void load(void)
{
    control_load();
}

#define INT_DEFINED(name, parameters, arguments)                                                   \
    int vp__##name parameters                                                                      \
    {                                                                                              \
        return name arguments;                                                                     \
    }
#define VOID_DEFINED(name, parameters, arguments)                                                  \
    void vp__##name parameters                                                                     \
    {                                                                                              \
        name arguments;                                                                            \
    }
VP_ADAPTER_CALLS(INT_DEFINED, VOID_DEFINED)
