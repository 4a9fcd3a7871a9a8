"""Advice is in the words of who wrote the program: a program recorded by our recorder, and any other of which
no framework is known, is not told to use one. Every planted cause (tests/gen) as such a recording."""
import json
import pathlib
import re
import tempfile

import pytest

from common import view_profile
from gen import files, host_only, planted
from rules import ORDER, TORCH_RULES, parse

FRAMEWORKS = re.compile(r'\b(jax\w*|\w*jit(ted)?|xla\w*|pjrt|torch\w*|pytorch|\w*tensor(s|flow)?|tf|donate\w*|pytrees?|lax|'
                        r'vmap|einsum|numpy|np|grain|\w*dataloader\w*|num_workers|pin_memory\w*|fsdp|ddp|channels_last|'
                        r'device_put|block_until_ready|TORCH\w*|XLA\w*|LIBTPU\w*|python\w*|host_tracer_level)\b', re.I)


def natively(made, into):
    for host in made.scene.hosts:
        host.meta = {'recorder': 'view_profile 0.1.0'}
    return str(files.write(made.scene, 'xspace', into))


def fired(path):
    found = json.loads(view_profile('findings', '--format=json', path).stdout)['findings']
    return {f['id']: f for f in found if f['status'] in ('fired', 'explained')}


def check(found):
    for rule, f in found.items():
        assert f['suggestion'] and not FRAMEWORKS.search(f['suggestion']), (rule, f['suggestion'])
        for caveat in f['caveats']:
            assert not FRAMEWORKS.search(caveat.replace("Python's", '')), (rule, caveat)


def test_the_words_are_known():
    assert FRAMEWORKS.search('use tf.data prefetch') and FRAMEWORKS.search('donate_argnums') and FRAMEWORKS.search('jax.jit')
    assert not FRAMEWORKS.search('keep data in pinned memory of the device')


@pytest.mark.slow
def test_advice_for_recorded_programs(tmp_path):
    seen = {}
    for name, make in [*planted.CASES.items(), *host_only.CASES.items()]:
        (tmp_path / name).mkdir()
        seen |= (found := fired(natively(make(), tmp_path / name)))
        check(found)
    assert set(seen) == set(ORDER) - TORCH_RULES


@pytest.mark.parametrize('name', ['hot_zone', 'lock_wait'])
def test_any_trace_event_json(name, tmp_path):
    (tmp_path / 'a.trace.json').write_bytes(host_only.chrome(host_only.CASES[name]().scene))
    found = fired(str(tmp_path))
    assert found
    check(found)


def test_frameworks_keep_their_words():
    for name, word in [('F3-jax', 'jit'), ('F3', 'torch'), ('F6-jax', 'jax')]:
        made = planted.CASES[name]()
        path = files.write(made.scene, made.form, pathlib.Path(tempfile.mkdtemp(prefix='vp-advice-')), made.cut)
        assert word in fired(str(path))[made.rule]['suggestion'], name


def test_every_rule_has_words_for_any_program():
    """In the documentation, which is printed from the table of rules: the advice that such programs get."""
    text = view_profile('help', '--print-findings').stdout
    rules = parse(text)
    assert [rule.id for rule in rules] == ORDER
    for rule in rules:
        advice = re.search(r'^\* \*\*Fix(?: \(other programs\))?\*\*: (.*)$', rule.text, re.M)
        assert advice and (rule.id in TORCH_RULES or not FRAMEWORKS.search(advice[1])), rule.id
