"""The callbacks for training frameworks, each in its framework's own loop: the steps that were asked for are captured, under
their numbers, training comes to its end, and its result is what it is without them. A framework is looked
for in this Python, then in that of $VP_FRAMEWORKS."""
import functools
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from python_front import RELEASED, run_python  # noqa: E402

pytestmark = pytest.mark.skipif(not (RELEASED / "python" / "view_profile").is_dir(), reason="SKIPPED: no headers of Python 3.10 or later")
PYTHONS = [sys.executable, *filter(None, [os.environ.get("VP_FRAMEWORKS")])]
# Each program trains 12 steps with `make(profiler options)` or without, and prints what it learnt.
READ = """
import sys, logging
import view_profile as vp
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
options = dict(num_steps=3, auto_enable_at_step=4, log_dir=sys.argv[1])
on = sys.argv[2] == "on"
"""
FLAX = READ + """
import jax, jax.numpy as jnp, optax
from flax import nnx
model = nnx.Linear(8, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)
    optimizer.update(model, grads)
    return loss
batches = [(jnp.ones((4, 8)) * k, jnp.ones((4, 1))) for k in range(12)]
for i, (x, y) in vp.callbacks.Loop(batches, **options) if on else enumerate(batches):
    loss = train_step(model, optimizer, x, y)
print(float(loss))
"""
KERAS = READ + """
import os
os.environ["KERAS_BACKEND"] = "jax"
import numpy as np, keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
history = model.fit(x, x[:, :1], batch_size=8, epochs=2, shuffle=False, verbose=0, callbacks=[vp.callbacks.keras(**options)] if on else [])
print(history.history["loss"])
"""
LIGHTNING = READ + """
import torch, lightning
lightning.seed_everything(0)
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def training_step(self, batch, index):
        self.loss = self.layer(batch[0]).pow(2).mean()
        return self.loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(384.).reshape(48, 8) / 384), batch_size=8)
model = Model()
lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                  callbacks=[vp.callbacks.lightning(**options)] if on else []).fit(model, data)
print(float(model.loss))
"""
TRANSFORMERS = READ + """
import torch, transformers
torch.manual_seed(0)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def forward(self, x, labels=None):
        y = self.layer(x)
        return {"loss": (y - labels).pow(2).mean(), "logits": y}
data = [{"x": torch.ones(8) * i / 48, "labels": torch.ones(1)} for i in range(48)]
arguments = transformers.TrainingArguments(sys.argv[1] + "_out", per_device_train_batch_size=8, num_train_epochs=2, use_cpu=True,
                                           report_to=[], disable_tqdm=True, save_strategy="no", logging_strategy="no", seed=0)
trainer = transformers.Trainer(Model(), arguments, train_dataset=data, callbacks=[vp.callbacks.transformers(**options)] if on else [])
print(trainer.train().training_loss)
"""
LOOPS = {"flax": FLAX, "keras": KERAS, "lightning": LIGHTNING, "transformers": TRANSFORMERS}
NEEDS = {"flax": "import flax, optax", "keras": "import os; os.environ['KERAS_BACKEND'] = 'jax'; import keras, jax",
         "lightning": "import torch, lightning", "transformers": "import torch, transformers, accelerate"}


@functools.cache
def python_of(framework):
    for python in PYTHONS:
        if subprocess.run([python, "-c", NEEDS[framework]], capture_output=True, timeout=300).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("framework", LOOPS)
def test_a_framework_calls_it(framework, tmp_path):
    python = python_of(framework)
    if not python:
        pytest.skip(f"SKIPPED: no {framework} here; VP_FRAMEWORKS names a Python that has it")

    def trained(*argv):
        return run_python(LOOPS[framework], *argv, python=python, build=RELEASED, cwd=tmp_path)
    with_it, without = trained(tmp_path / "profiles", "on"), trained(tmp_path / "none", "off")
    assert with_it.stdout.splitlines()[-1] == without.stdout.splitlines()[-1]
    assert not (tmp_path / "none").exists()
    run_python("""
import sys, view_profile as vp
assert len(vp.sessions(sys.argv[1])) == 1
r = vp.report(sys.argv[1])
assert [s["number"] for s in r.steps["list"]] == [4, 5, 6], r.steps
""", tmp_path / "profiles", python=python, build=RELEASED)


def test_each_is_short():
    """At most 30 lines, so that whoever has another framework sees at a glance what to write."""
    sys.path.insert(0, str(RELEASED / "python"))
    try:
        from view_profile import callbacks
    finally:
        sys.path.remove(str(RELEASED / "python"))
    for each in (callbacks.Loop, callbacks.keras, callbacks.lightning, callbacks.transformers):
        assert len(inspect.getsource(each).rstrip().splitlines()) <= 30, each.__name__
