import sys, jax, jax.numpy as jnp
from jax import lax
out = sys.argv[1]
def conv(x, w, s=1): return lax.conv_general_dilated(x, w, (s, s), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
k = jax.random.split(jax.random.key(0), 8)
p = {'stem': jax.random.normal(k[0], (3, 3, 3, 64)) * .1, 'blocks': jax.random.normal(k[1], (4, 2, 3, 3, 64, 64)) * .05, 'rec': jax.random.normal(k[2], (64, 64)) * .1, 'head': jax.random.normal(k[3], (64, 100)) * .1}
def net(p, x, key):
    with jax.named_scope('stem'): x = jax.nn.relu(conv(x, p['stem'], 2))
    for i in range(4):
        with jax.named_scope(f'block_{i}'):
            y = jax.nn.relu(conv(x, p['blocks'][i, 0])); y = conv(y, p['blocks'][i, 1])
            y = (y - y.mean((0, 1, 2))) * lax.rsqrt(y.var((0, 1, 2)) + 1e-5); x = jax.nn.relu(x + y)
    with jax.named_scope('dropout'): x = jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)
    with jax.named_scope('recurrent'):
        h, _ = lax.scan(lambda h, t: (jnp.tanh(h @ p['rec'] + t), None), jnp.zeros((x.shape[0], 64)), x.mean(1).swapaxes(0, 1)[:6])
    with jax.named_scope('rank'): h = h + 1e-3 * jnp.sort(jnp.cumsum(h, 1), 1)
    with jax.named_scope('head'): return h @ p['head']
@jax.jit
def step(p, x, t, key):
    def loss(p): return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(net(p, x, key)), t[:, None], 1))
    l, g = jax.value_and_grad(loss)(p)
    with jax.named_scope('optimizer'): return jax.tree.map(lambda a, b: a - 1e-2 * b, p, g), l
x = jax.random.normal(k[4], (32, 64, 64, 3)); t = jax.random.randint(k[5], (32,), 0, 100); key = k[6]
for i in range(3): p, l = step(p, x, t, key)
l.block_until_ready()
with jax.profiler.trace(out):
    for i in range(3):
        with jax.profiler.StepTraceAnnotation('train', step_num=i): p, l = step(p, x, t, key)
    l.block_until_ready()
