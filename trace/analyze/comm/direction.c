#include "trace/analyze/comm/direction.h"

#include "trace/analyze/device/classify.h"
#include "trace/analyze/device/hlo_text.h"

#define HOST_MEMORY 5 /* S(5) in a layout */

typedef struct rule {
    const char *word; /* lower case */
    vp_direction way;
} rule;

static vp_direction first_rule(vp_str name, const rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vp_str_find_nocase(name, vp_str_of(rules[i].word)) < name.n)
            return rules[i].way;
    return VP_OTHER_COPY;
}

/* "HtoA" and "AtoH" are copies from and to an array (a texture) of the device. */
vp_direction direction_of_name(vp_str name)
{
    static const rule rules[] = {{"memset", VP_MEMSET},
                                 {"fillbuffer", VP_MEMSET},
                                 {"infeed", VP_INFEED},
                                 {"outfeed", VP_OUTFEED},
                                 {"htod", VP_H2D},
                                 {"h2d", VP_H2D},
                                 {"htoa", VP_H2D},
                                 {"hosttodevice", VP_H2D},
                                 {"host_to_device", VP_H2D},
                                 {"dtoh", VP_D2H},
                                 {"d2h", VP_D2H},
                                 {"atoh", VP_D2H},
                                 {"devicetohost", VP_D2H},
                                 {"device_to_host", VP_D2H},
                                 {"ptop", VP_P2P},
                                 {"p2p", VP_P2P},
                                 {"peer", VP_P2P},
                                 {"dtod", VP_D2D},
                                 {"d2d", VP_D2D},
                                 {"dtoa", VP_D2D},
                                 {"atod", VP_D2D},
                                 {"atoa", VP_D2D},
                                 {"devicetodevice", VP_D2D},
                                 {"device_to_device", VP_D2D}};
    return first_rule(name, rules, sizeof rules / sizeof *rules);
}

/* The shape of copy-start's result, (destination, source, context), which is the operand of
 * copy-done. */
static vp_str copied_tuple(vp_str text, vp_str shape)
{
    hlo_text h;
    if (!hlo_split(&h, text))
        return shape;
    return vp_str_ends(h.opcode, VP_STR("-done")) ? h.operands : h.shape;
}

vp_direction direction_of_hlo(vp_str hlo, vp_str text, vp_str shape)
{
    static const rule rules[] = {{"infeed", VP_INFEED},
                                 {"outfeed", VP_OUTFEED},
                                 {"host send", VP_D2H},
                                 {"host recv", VP_H2D}};
    vp_direction way = first_rule(hlo, rules, sizeof rules / sizeof *rules);
    vp_str tuple = copied_tuple(text, shape), from = hlo_element(tuple, 1);
    if (way != VP_OTHER_COPY)
        return way;
    bool to_host = hlo_memory_space(hlo_element(tuple, 0)) == HOST_MEMORY;
    bool from_host = hlo_memory_space(from) == HOST_MEMORY;
    if (!from.n)
        return to_host ? VP_D2H : VP_OTHER_COPY;
    return to_host && from_host ? VP_OTHER_COPY : to_host ? VP_D2H : from_host ? VP_H2D : VP_D2D;
}

vp_direction direction_of(const trace *t, const trace_kind *k)
{
    vp_str hlo = cl_hlo(t, k);
    if (hlo.n)
        return direction_of_hlo(hlo, trace_str(t, k->long_name), trace_str(t, k->shape));
    vp_direction way = direction_of_name(trace_str(t, k->name));
    return way != VP_OTHER_COPY ? way : direction_of_name(trace_str(t, k->stream_label));
}

pageable pageable_of(vp_str name, vp_str details)
{
    static const char *const fixed[] = {"Pinned", "(Device -> Device)"};
    if (vp_str_find(name, VP_STR("Pageable")) < name.n ||
        vp_str_find(details, VP_STR(":pageable")) < details.n)
        return PAGEABLE_YES;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (vp_str_find(name, vp_str_of(fixed[i])) < name.n)
            return PAGEABLE_NO;
    bool said = vp_str_find(details, VP_STR("kind_src:")) < details.n &&
                vp_str_find(details, VP_STR(":unknown")) == details.n;
    return said ? PAGEABLE_NO : PAGEABLE_UNKNOWN;
}

int64_t copy_bytes(const trace *t, const trace_kind *k)
{
    vp_str hlo = cl_hlo(t, k);
    if (!hlo.n)
        return k->bytes >= 0 ? k->bytes : VP_UNKNOWN;
    vp_str tuple = copied_tuple(trace_str(t, k->long_name), trace_str(t, k->shape));
    return hlo_bytes(hlo_element(tuple, 0));
}

/* Names of JAX on CPU and TPU. Those of blocking calls include the time of the awaited copy. */
vp_direction direction_of_host_span(vp_str name)
{
    static const rule rules[] = {{"h2d dispatch", VP_H2D},
                                 {"system::transfertodevice", VP_H2D},
                                 {"batched_device_put", VP_H2D},
                                 {"deviceput", VP_H2D},
                                 {"device_put", VP_H2D},
                                 {"bufferfromhostbuffer", VP_H2D},
                                 {"d2h dispatch", VP_D2H},
                                 {"system::transferfromdevice", VP_D2H},
                                 {"np.asarray(jax.array)", VP_D2H},
                                 {"copy_to_host_async", VP_D2H},
                                 {"device_get", VP_D2H},
                                 {"::toliteral", VP_D2H}};
    return first_rule(name, rules, sizeof rules / sizeof *rules);
}
