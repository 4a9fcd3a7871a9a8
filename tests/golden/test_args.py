"""What a program says of itself in a recording of ours: arguments of zones, counters and facts are added
up in the report, bounded, whatever the number of calls; and nobody else's stats are taken for them."""
import json
import sys

import pytest

from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files  # noqa: E402
from gen.scene import MS, US, Event, Scene  # noqa: E402

OURS = {'recorder': 'view_profile 0.1.0'}


def scene(meta, calls=300):
    made = Scene(60)
    made.host.meta = meta
    t = made.host.thread('main')
    for n in range(calls):
        t.events.append(Event('load', n * MS, 500 * US, {
            'bytes': 4096 * (n % 10), 'ratio': n / 4, 'path': f'part-{n % 3}', 'unique': f'id {n}', 'mode': 'r' * 300}))
        t.events.append(Event('plain', n * MS + 600 * US, 100 * US))
    t.events.append(Event('load', calls * MS, MS, {'bytes': -7, 'big': 5_000_000_000, 'flops': 12, 'bad': float('inf')}))
    c = made.host.thread('_counters_')
    c.events = [Event('loss', n * MS, 0, {'counter_value': 2.0 / (n + 1)}) for n in range(calls)]
    c.events += [Event('queue', n * MS, 0, {'counter_value': n % 5}) for n in range(calls)]
    return made


def report(tmp_path, made, *options, format='json'):
    done = view_profile('report', f'--format={format}', *options, str(files.write(made, 'xspace', tmp_path)),
                        env={'COLUMNS': '80'})
    return json.loads(done.stdout) if format == 'json' else done.stdout


def test_arguments_are_added_up(tmp_path):
    made = report(tmp_path, scene(OURS))
    args = {(a['zone'], a['key']): a for a in made['args']}
    assert made['arg_total'] == len(args) == 8 and {z for z, _ in args} == {'load'}
    values = [4096 * (n % 10) for n in range(300)] + [-7]
    a = args['load', 'bytes']
    assert (a['numbers'], a['min'], a['max'], a['sum'], a['last']) == (301, -7, 36864, sum(values), -7)
    assert a['mean'] == pytest.approx(sum(values) / 301) and a['texts'] == 0 and a['top'] == []
    a = args['load', 'ratio']
    assert (a['min'], a['max'], a['sum'], a['mean']) == (0, 74.75, 300 * 299 / 8, pytest.approx(299 / 8))
    a = args['load', 'path']
    assert [(v['text'], v['count']) for v in a['top']] == [('part-0', 100), ('part-1', 100), ('part-2', 100)]
    assert (a['texts'], a['distinct'], a['others'], a['numbers'], a['min'], a['sum']) == (300, 3, 0, 0, None, None)
    a = args['load', 'unique']
    assert (a['texts'], a['distinct'], len(a['top']), a['others']) == (300, None, 8, 292)
    assert args['load', 'mode']['top'] == [{'text': 'r' * 200, 'count': 300}]
    assert args['load', 'big']['last'] == 5_000_000_000 and args['load', 'flops']['sum'] == 12
    assert args['load', 'bad']['numbers'] == 0


def test_counters(tmp_path):
    made = report(tmp_path, scene(OURS))
    counters = {c['name']: c for c in made['counters']}
    assert made['counter_total'] == 2
    assert {k: counters['queue'][k] for k in ('values', 'min', 'mean', 'max', 'last')} == \
        {'values': 300, 'min': 0, 'mean': 2, 'max': 4, 'last': 4}
    assert counters['loss']['max'] == 2 and counters['loss']['last'] == pytest.approx(2 / 300)
    assert not any('loss' == o['name'] for o in made['ops'])


def test_facts_without_secrets(tmp_path):
    made = report(tmp_path, scene(OURS | {'rank': 3, 'model': 'mlp', 'api_token': 'hunter2', 'lr': 0.125}))
    assert {m['key']: m['value'] for m in made['meta']} == \
        OURS | {'rank': '3', 'model': 'mlp', 'lr': '0.125'}
    assert made['meta_total'] == 4
    (q,) = [q for q in made['quality'] if q['code'] == 'credentials']
    assert 'api_token' in q['message'] and 'hunter2' not in json.dumps(made)


def test_other_profilers_stats_are_theirs(tmp_path):
    made = report(tmp_path, scene({'program': 'x'}))
    assert (made['args'], made['counters'], made['meta']) == ([], [], []) and made['arg_total'] == 0


def test_more_than_anyone_reads(tmp_path):
    """Thousands of different arguments: the first by their calls are listed, the rest is counted."""
    made = scene(OURS, 10)
    t = made.host.threads[0]
    t.events.append(Event('wide', 400 * MS, MS, {f'key{i}': i for i in range(5000)}))
    got = report(tmp_path, made)
    assert len(got['args']) == 100 and got['arg_total'] == 4096 and got['counter_total'] == 2
    assert got['args'][0]['numbers'] + got['args'][0]['texts'] == 11
    (q,) = [q for q in got['quality'] if q['code'] == 'args-left-out']
    assert '912 zone arguments' in q['message'], q
    (tmp_path / 'text').mkdir()
    assert '… 4081 more' in report(tmp_path / 'text', made, format='text')


def test_in_words_and_on_the_page(tmp_path):
    made = scene(OURS | {'model': 'mlp<b>'})
    text = report(tmp_path, made, format='text')
    assert max(map(len, text.splitlines())) <= 80
    for title in ('Threads;', 'Zone arguments: numbers', 'Zone arguments: text values', 'Counters',
                  'Program metadata'):
        assert title in text
    assert 'part-0 ×100, part-1 ×100' in text and 'queue' in text and 'mlp<b>' in text
    (tmp_path / 'html').mkdir()
    page = report(tmp_path / 'html', made, format='html')
    for section in ('threads', 'args', 'counters', 'meta'):
        assert f'<section id="{section}"' in page
    assert 'part-0' in page and 'mlp&lt;b&gt;' in page and 'mlp<b>' not in page


def test_through_a_file_and_merged(tmp_path):
    (tmp_path / 'a').mkdir()
    whole = scene(OURS | {'rank': 0})
    path = str(files.write(whole, 'xspace', tmp_path / 'a'))
    (tmp_path / 'r.json').write_text(view_profile('report', '--format=json', path).stdout)
    again = json.loads(view_profile('merge', str(tmp_path / 'r.json'), '--format=json').stdout)
    made = json.loads((tmp_path / 'r.json').read_text())
    for key in ('args', 'counters', 'meta', 'arg_total', 'counter_total', 'meta_total'):
        assert again[key] == made[key] and made[key], key
