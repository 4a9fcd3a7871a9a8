"""A TensorFlow training loop that is profiled from outside: tf_loop.py PORT. Says "ready" when its steps run; ends when its
standard input does."""
import os
import sys
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402


def main():
    tf.profiler.experimental.server.start(int(sys.argv[1]))
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    w = tf.Variable(tf.random.normal([256, 256]) / 16)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape, tf.name_scope("encoder"):
            loss = tf.reduce_mean((tf.tanh(x @ w) @ tf.transpose(w) - x) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    number, x = 0, tf.ones([512, 256])
    while not ended.is_set():
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(x).numpy()
        number += 1
        if number == 3:
            print("ready", flush=True)


main()
