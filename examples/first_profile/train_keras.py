"""A small Keras model on TensorFlow. Its input pipeline prepares each image in Python."""
import sys

import keras
import numpy as np
import tensorflow as tf

STEPS, BATCH, SHAPE = 60, 32, (32, 32, 3)


def distort(image):
    for _ in range(8):
        image = np.roll(image, 1, axis=0) * 0.9 + image * 0.1
    return image.astype(np.float32)


def prepare(image, label):
    image = tf.numpy_function(distort, [image], tf.float32)
    return tf.ensure_shape(image, SHAPE), label


def dataset():
    rng = np.random.default_rng(0)
    images = rng.random((1024, *SHAPE), dtype=np.float32)
    data = tf.data.Dataset.from_tensor_slices((images, rng.integers(0, 10, 1024)))
    if "--cache" in sys.argv:
        return data.map(prepare).cache().batch(BATCH).repeat().prefetch(tf.data.AUTOTUNE)
    return data.map(prepare).batch(BATCH).repeat()


model = keras.Sequential([
    keras.layers.Input(SHAPE),
    keras.layers.Conv2D(16, 3, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Flatten(),
    keras.layers.Dense(10),
])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
tensorboard = keras.callbacks.TensorBoard("logs", profile_batch=(40, 50))
model.fit(dataset(), steps_per_epoch=STEPS, callbacks=[tensorboard], verbose=0)
