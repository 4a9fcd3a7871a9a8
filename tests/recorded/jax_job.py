import sys, time, functools, jax, jax.numpy as jnp
D, H, L, S, B, V = 1024, 16, 3, 512, 8, 8192
def init(k):
    ks = jax.random.split(k, 2 + 6 * L); g = lambda i, *s: jax.random.normal(ks[i], s, jnp.float32) * 0.02
    return {'emb': g(0, V, D), 'layers': [{'qkv': g(6*i+1, D, 3*D), 'o': g(6*i+2, D, D), 'up': g(6*i+3, D, 4*D), 'down': g(6*i+4, 4*D, D)} for i in range(L)]}
def block(p, x):
    bf = jnp.bfloat16
    with jax.named_scope('attention'):
        q, k, v = jnp.split((x.astype(bf) @ p['qkv'].astype(bf)).reshape(B, S, 3, H, D // H), 3, axis=2)
        q, k, v = (t[:, :, 0] for t in (q, k, v))
        s = jnp.einsum('bqhd,bkhd->bhqk', q, k) / 8
        x = x + (jnp.einsum('bhqk,bkhd->bqhd', jax.nn.softmax(s.astype(jnp.float32)).astype(bf), v).reshape(B, S, D) @ p['o'].astype(bf)).astype(jnp.float32)
    with jax.named_scope('mlp'):
        h = jax.nn.gelu(x.astype(bf) @ p['up'].astype(bf)); return x + (h @ p['down'].astype(bf)).astype(jnp.float32)
def loss(p, t):
    with jax.named_scope('embed'): x = p['emb'][t]
    for i, l in enumerate(p['layers']):
        with jax.named_scope(f'layer_{i}'): x = block(l, x)
    with jax.named_scope('head'):
        lg = jnp.einsum('bsd,vd->bsv', x.astype(jnp.bfloat16), p['emb'].astype(jnp.bfloat16)).astype(jnp.float32)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(lg), jnp.roll(t, -1, 1)[..., None], -1))
donate = 'donate' in sys.argv
@functools.partial(jax.jit, donate_argnums=(0, 1) if donate else ())
def train_step(p, m, t):
    l, g = jax.value_and_grad(loss)(p, t)
    with jax.named_scope('optimizer'):
        m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g); p = jax.tree.map(lambda a, b: a - 1e-3 * b, p, m)
    return p, m, l
p = init(jax.random.key(0)); m = jax.tree.map(jnp.zeros_like, p); t = jax.random.randint(jax.random.key(1), (B, S), 0, V)
what, out = sys.argv[1], sys.argv[2]
if what == 'serve': jax.profiler.start_server(int(out))
for i in range(4): p, m, l = train_step(p, m, t)
l.block_until_ready()
if what == 'profile':
    t0 = time.time()
    for i in range(20): p, m, l = train_step(p, m, t)
    l.block_until_ready(); print('step ms', (time.time() - t0) * 50)
    with jax.profiler.trace(out):
        for i in range(4):
            with jax.profiler.StepTraceAnnotation('train', step_num=i): p, m, l = train_step(p, m, t)
        l.block_until_ready()
    jax.profiler.save_device_memory_profile(out + '/memory.prof')
    print(jax.devices()[0].memory_stats())
else:
    end, i = time.time() + float(sys.argv[3]), 0
    while time.time() < end:
        t0 = time.time()
        with jax.profiler.StepTraceAnnotation('train', step_num=i): p, m, l = train_step(p, m, t); l.block_until_ready()
        i += 1
    print('steps', i)
