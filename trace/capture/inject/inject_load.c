/* The constructor by which a program is recorded when its environment asks for that, and the
 * functions through which adapters, which are libraries of their own, call this one, so that a
 * program has one recorder, however it came. It is in the recorder's shared library only, and so
 * neither in the viewer nor in tests. */
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
