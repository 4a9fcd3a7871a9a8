#include "trace/links/numbered_name.h"

vp_str links_without_step_number(vp_str name)
{
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
        n--;
    if (n == name.n || n < 2 || (name.p[n - 1] != '#' && name.p[n - 1] != ' '))
        return name;
    return vp_str_head(name, n - 1);
}
