#include "server/local/tb_cause.h"

#include <stddef.h>
#include <string.h>

const tb_cause tb_not_installed = {"TensorBoard is not installed.", TB_INSTALL, false};
const tb_cause tb_no_plugin = {"TensorBoard is installed without the profile plugin.",
                               "pip install xprof", false};

/* TensorBoard 2.21 no longer uses imghdr and pkg_resources, but 2.20 was the newest version for a
 * year. It works with setuptools below 82, which has pkg_resources (tensorboard#6964, #7064,
 * #7107). */
static const struct {
    const char *sign;
    tb_cause cause;
} known[] = {
    {"could not bind to port", {"The port of TensorBoard is already in use.", NULL, true}},
    {"Address already in use", {"The port of XProf is already in use.", NULL, true}},
    {"No module named 'pkg_resources'",
     {"This TensorBoard needs pkg_resources, which setuptools 82 removed.",
      "pip install \"setuptools<81\"", false}},
    {"No module named 'imghdr'",
     {"This TensorBoard needs imghdr, which Python 3.13 removed.",
      "pip install --upgrade \"tensorboard>=2.21\"", false}},
    /* The generated code is from a newer protoc than the runtime (xprof#609 and similar). */
    {"Detected incompatible Protobuf Gencode/Runtime versions",
     {"The installed protobuf is too old for TensorBoard or its profile plugin.",
      "pip install --upgrade protobuf", false}},
    {"cannot import name 'runtime_version' from 'google.protobuf'",
     {"The installed protobuf is too old for TensorBoard or its profile plugin.",
      "pip install --upgrade protobuf", false}},
    {"cannot import name 'builder' from 'google.protobuf",
     {"The installed protobuf is too old for TensorBoard or its profile plugin.",
      "pip install --upgrade protobuf", false}},
    /* The generated code is from an old protoc, and the runtime is too new. Older versions of the
     * message have "not" twice. */
    {"Descriptors cannot not be created directly",
     {"TensorBoard or its profile plugin is too old for the installed protobuf.",
      "pip install --upgrade tensorboard xprof", false}},
    {"Descriptors cannot be created directly",
     {"TensorBoard or its profile plugin is too old for the installed protobuf.",
      "pip install --upgrade tensorboard xprof", false}},
    {"'MessageFactory' object has no attribute 'GetPrototype'",
     {"TensorBoard or its profile plugin is too old for the installed protobuf.",
      "pip install --upgrade tensorboard xprof", false}},
    {"Duplicate plugins for name",
     {"Two versions of TensorBoard or of its profile plugin are installed together.",
      "pip uninstall --yes tb-nightly tbp-nightly tensorboard-plugin-profile && "
      "pip install --force-reinstall tensorboard xprof",
      false}},
    {"Unable to load profiler plugin",
     {"The native library of TensorBoard's profile plugin cannot be loaded.",
      "pip install --force-reinstall xprof", false}},
    {"No module named 'xprof", {"XProf is not installed.", "pip install xprof", false}},
    {"No module named tensorboard", {"TensorBoard is not installed.", TB_INSTALL, false}},
    {"No module named 'tensorboard'", {"TensorBoard is not installed.", TB_INSTALL, false}},
};

const tb_cause *tb_cause_of(const char *log)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(log, known[i].sign))
            return &known[i].cause;
    return NULL;
}
