/* The constructor that records a program if its environment requests it. Also the functions through
 * which the adapters' libraries call this one, so that a program has one recorder, however it was
 * loaded. Only in the recorder's shared library, not in the viewer or in tests. */
#include "trace/capture/inject/adapters.h"

#include "trace/capture/control/control.h"

__attribute__((constructor)) static void inject_constructor(void)
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
