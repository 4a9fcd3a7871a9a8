#include "trace/analyze/host.h"

int transfers_collect(analysis *a)
{
    (void)a;
    return 0;
}
