#include "trace/analyze/host.h"

int collectives_collect(analysis *a)
{
    (void)a;
    return 0;
}
