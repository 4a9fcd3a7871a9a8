#include "trace/read/semantics/user_files.h"

#include <string.h>

/* Directories of installed packages, of IPython and of code that torch.compile generates, from the
 * beginning of a component on. */
static const vp_str library_parts[] = {
    VP_STR_INIT("site-packages/"), VP_STR_INIT("dist-packages/"), VP_STR_INIT("IPython/"),
    VP_STR_INIT("ipykernel/"),     VP_STR_INIT("jax/_src/"),      VP_STR_INIT("pytorch/torch/"),
    VP_STR_INIT("torchinductor_"),
};

/* Beginnings of file names that are generated, or that profilers write without their directory. */
static const vp_str library_heads[] = {
    VP_STR_INIT("<"),
    VP_STR_INIT("torch/"),
    VP_STR_INIT("torchvision/"),
    VP_STR_INIT("jax/"),
    VP_STR_INIT("jaxlib/"),
    VP_STR_INIT("flax/"),
    VP_STR_INIT("optax/"),
    VP_STR_INIT("tensorflow/"),
    VP_STR_INIT("keras/"),
    VP_STR_INIT("numpy/"),
    VP_STR_INIT("triton/"),
    VP_STR_INIT("threading.py"),
    VP_STR_INIT("runpy.py"),
    VP_STR_INIT("contextlib.py"),
    VP_STR_INIT("lightning/"),
    VP_STR_INIT("accelerate/"),
    VP_STR_INIT("transformers/"),
    VP_STR_INIT("deepspeed/"),
    VP_STR_INIT("diffusers/"),
    VP_STR_INIT("peft/"),
    VP_STR_INIT("timm/"),
    VP_STR_INIT("pytorch_lightning/"),
    VP_STR_INIT("huggingface_hub/"),
    VP_STR_INIT("torchaudio/"),
    VP_STR_INIT("torchdata/"),
    VP_STR_INIT("datasets/"),
    VP_STR_INIT("PIL/"),
    VP_STR_INIT("pandas/"),
    VP_STR_INIT("scipy/"),
    VP_STR_INIT("sklearn/"),
    VP_STR_INIT("tqdm/"),
    VP_STR_INIT("wandb/"),
    VP_STR_INIT("typing.py"),
    VP_STR_INIT("functools.py"),
    VP_STR_INIT("multiprocessing/"),
    VP_STR_INIT("concurrent/"),
    VP_STR_INIT("asyncio/"),
    VP_STR_INIT("importlib/"),
    VP_STR_INIT("logging/"),
    VP_STR_INIT("json/"),
    VP_STR_INIT("collections/"),
    VP_STR_INIT("queue.py"),
    VP_STR_INIT("pickle.py"),
    VP_STR_INIT("copy.py"),
    VP_STR_INIT("random.py"),
    VP_STR_INIT("socket.py"),
    VP_STR_INIT("subprocess.py"),
    VP_STR_INIT("tempfile.py"),
    VP_STR_INIT("shutil.py"),
    VP_STR_INIT("weakref.py"),
    VP_STR_INIT("inspect.py"),
    VP_STR_INIT("warnings.py"),
    VP_STR_INIT("traceback.py"),
    VP_STR_INIT("gzip.py"),
    VP_STR_INIT("zipfile.py"),
    VP_STR_INIT("tarfile.py"),
    VP_STR_INIT("selectors.py"),
    VP_STR_INIT("abc.py"),
    VP_STR_INIT("enum.py"),
    VP_STR_INIT("dataclasses.py"),
    VP_STR_INIT("os.py"),
    VP_STR_INIT("codecs.py"),
};

static char slash(char c)
{
    return c == '\\' ? '/' : c;
}

static bool is_at(vp_str path, size_t at, vp_str word)
{
    if (path.n - at < word.n || slash(path.p[at]) != *word.p)
        return false;
    for (size_t i = 0; i < word.n; i++)
        if (slash(path.p[at + i]) != word.p[i])
            return false;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The standard library: "lib/python3.11/…", on Windows "Python311\Lib\…", zipped
 * "python311.zip/…". */
static bool is_standard_library(vp_str path, size_t at)
{
    size_t digits = at;
    if (is_at(path, at, VP_STR("lib/python")) || is_at(path, at, VP_STR("lib64/python")))
        return (digits = at + vp_str_find(vp_str_skip(path, at), VP_STR("python")) + 6) < path.n &&
               is_digit(path.p[digits]);
    if (!vp_str_starts_nocase(vp_str_skip(path, at), VP_STR("python")))
        return false;
    for (digits = at + 6; digits < path.n && is_digit(path.p[digits]);)
        digits++;
    return digits > at + 6 &&
           (is_at(path, digits, VP_STR("/Lib/")) || is_at(path, digits, VP_STR("/lib/")) ||
            is_at(path, digits, VP_STR(".zip/")));
}

bool rd_is_user_file(vp_str path)
{
    if (!path.n)
        return false;
    bool absolute = slash(*path.p) == '/'; /* has none of these beginnings */
    for (size_t i = 0; !absolute && i < sizeof library_heads / sizeof *library_heads; i++)
        if (is_at(path, 0, library_heads[i]))
            return false;
    for (size_t at = 0; at < path.n; at++) {
        if (at && slash(path.p[at - 1]) != '/')
            continue; /* words begin a component */
        if (is_standard_library(path, at))
            return false;
        for (size_t i = 0; i < sizeof library_parts / sizeof *library_parts; i++)
            if (is_at(path, at, library_parts[i]))
                return false;
    }
    return true;
}
