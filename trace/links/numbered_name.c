#include "trace/links/numbered_name.h"

vp_str links_without_step_number(vp_str name)
{
    size_t n = vp_str_without_digits(name).n;
    if (n == name.n || n < 2 || (name.p[n - 1] != '#' && name.p[n - 1] != ' '))
        return name;
    return vp_str_head(name, n - 1);
}
