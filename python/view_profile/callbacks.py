"""Callbacks for training frameworks. Each takes the arguments of Profiler and logs the same messages."""
from ._profiler import Profiler


class Loop:
    """For custom loops, Flax or nnx: for i, batch in Loop(batches, auto_enable_at_step=10): …"""

    def __init__(self, batches, first_step=0, **options):
        self.batches, self.first, self.profiler = batches, first_step, Profiler(**options)

    def __iter__(self):
        try:
            for i, batch in enumerate(self.batches, self.first):
                self.profiler.begin_step(i)
                yield i, batch
                self.profiler.end_step()
        finally:
            self.profiler.close()


def keras(**options):
    """model.fit(…, callbacks=[keras(auto_enable_at_step=10)])"""
    from keras.callbacks import Callback
    p = Profiler(**options)

    class ViewProfile(Callback):
        profiler, step = p, 0

        def on_train_batch_begin(self, batch, logs=None):
            p.begin_step(self.step)

        def on_train_batch_end(self, batch, logs=None):
            p.end_step()
            self.step += 1

        def on_train_end(self, logs=None):
            p.close()
    return ViewProfile()


def lightning(**options):
    """Trainer(callbacks=[lightning(auto_enable_at_step=10)])"""
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback
    p = Profiler(**options)

    class ViewProfile(Callback):
        profiler = p

        def on_train_batch_start(self, trainer, module, batch, batch_idx):
            p.begin_step(trainer.global_step)

        def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
            p.end_step()

        def on_train_end(self, trainer, module):
            p.close()
    return ViewProfile()


def transformers(**options):
    """Trainer(…, callbacks=[transformers(auto_enable_at_step=10)])"""
    from transformers import TrainerCallback
    p = Profiler(**options)

    class ViewProfile(TrainerCallback):
        profiler = p

        def on_step_begin(self, args, state, control, **rest):
            p.begin_step(state.global_step)

        def on_step_end(self, args, state, control, **rest):
            p.end_step()

        def on_train_end(self, args, state, control, **rest):
            p.close()
    return ViewProfile()
