"""The flame graph of a report's page: its frames are the report's scopes, and where it tells ops in their scopes
apart, these ops too; all with their shares."""
import html
import json
import re

import pytest

from common import report, trace, view_profile
from test_one_step import RESNET

FRAME = re.compile(r'<svg x="([\d.]+)%" y="([\d.]+)em" width="([\d.]+)%" height="1.60em"><title>(.*?)</title>'
                   r'<rect class="(\w+)" width="100%" height="100%"/>((?:<text[^>]*>[^<]*</text>)*)</svg>')
JAX = ['jax_tpu', 'jax_cpu/three_runs', 'jax_gpu_rocm', 'jax_cpu/multi_device']
ROW = 1.6


def frames(path, *options):
    """[(x, row, width, title, class, text)], the first the whole; the text as the widest picture has it."""
    page = view_profile('report', '--format=html', *options, str(trace(path))).stdout
    page = re.sub(r'<svg class="tiles".*?</svg>\n', '', page)  # who holds the peak of memory: tiles, no frames
    found = frames_of(page)
    assert len(found) == page.count('<svg x="') <= 500 and page.count('<svg class="flame" role="img"') == bool(found)
    return found


def frames_of(page):
    return [(float(x), round(float(y) / ROW), float(width), html.unescape(title), css, widest(texts))
             for x, y, width, title, css, texts in FRAME.findall(page)]


def widest(texts):
    return html.unescape(texts.removesuffix('</text>').rpartition('>')[2])


def walk(scopes):
    for s in scopes:
        yield s
        yield from walk(s['children'])


@pytest.mark.parametrize('path', JAX)
def test_frames_are_the_scopes(path):
    made, found = report(path), frames(path)
    all_ps = sum(s['total_ps'] for s in made['scopes'])
    assert found[0][:3] == (0, 0, 100) and found[0][4] == 'idle'
    totals = {s['path']: s['total_ps'] for s in walk(made['scopes'])}
    drawn = {}
    for x, row, width, title, css, text in found[1:]:
        place, _, share = title.removesuffix(' of all op time').rpartition(', ')
        place = place.rpartition(': ')[0]
        assert width == pytest.approx(100 * totals[place] / all_ps, abs=0.011)
        assert share[:-1] == '100.00' or float(share[:-1]) == pytest.approx(100 * totals[place] / all_ps, abs=0.01)
        assert css in ('forward', 'backward', 'remat')
        assert place.endswith(text) or text.endswith('…') and text[:-1] in place
        drawn[place] = (x, row, width)
    wide = {s['path'] for s in walk(made['scopes']) if s['total_ps'] * 1000 >= all_ps
            and not (len(s['children']) and s['self_ps'] == 0 and s['children'][0]['total_ps'] == s['total_ps'])}
    assert set(drawn) == wide


@pytest.mark.parametrize('path', JAX + [RESNET])
@pytest.mark.parametrize('options', [(), ('--group=stack',)])
def test_no_frame_leaves_its_parent(path, options):
    rows = {}
    for x, row, width, *_ in frames(path, *options):
        rows.setdefault(row, []).append((x, x + width))
    for row, spans in rows.items():
        assert all(a[1] <= b[0] + 1e-6 for a, b in zip(sorted(spans), sorted(spans)[1:]))
        for start, end in spans if row else ():
            assert any(a <= start + 1e-6 and end <= b + 1e-6 for a, b in rows[row - 1])


@pytest.mark.parametrize('path', JAX)
def test_ops_stand_in_their_scopes(path):
    plain, found = frames(path), frames(path, '--group=stack')
    ops = [f for f in found if ' in ' in f[3].split(': ')[0]]
    assert ops and [f[3] for f in found if f not in ops] == [f[3] for f in plain]
    names = {o['name'] for o in report(path, '--group=stack')['ops']}
    for *_, title, css, text in ops:
        assert title.split(' in ')[0] in names and css in ('forward', 'backward', 'remat', 'comm', 'copy')


def test_without_scopes_there_is_no_picture(tmp_path):
    kernel = {'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 1, 'dur': 5, 'args': {'device': 0, 'stream': 7}}
    (tmp_path / 'k.pt.trace.json').write_text(json.dumps({'schemaVersion': 1, 'traceEvents': [kernel]}))
    assert frames(tmp_path / 'k.pt.trace.json') == []


def test_call_paths_are_frames():
    found = frames('viztracer', '--group=scope')
    assert len(found) > 10 and max(row for _, row, *_ in found) > 3
    assert all(title.endswith(' of all self time') for _, _, _, title, *_ in found)


def compared(a, b):
    """The frames of A, of B and of the difference."""
    page = view_profile('compare', '--format=html', str(trace(a)), str(trace(b))).stdout
    pictures = page.split('<svg class="flame" role="img"')[1:]
    assert len(pictures) == 3
    return [frames_of(p) for p in pictures]


VLLM = 'jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/'
PAIRS = [(VLLM + '2026_01_11_21_26_41', VLLM + '2026_01_12_00_26_20'),
         ('jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00', 'jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_02')]


def test_both_sides_are_drawn_as_their_reports_say():
    """Without steps a scope's time is the mean of its report's devices; one scale holds for both."""
    sides = [report(p) for p in PAIRS[0]]
    assert all(not s['backward_ps'] and not s['remat_ps'] for made in sides for s in walk(made['scopes']))
    windows = [max(d['breakdown']['window_ps'] for d in made['devices']) for made in sides]
    for made, window, found in zip(sides, windows, compared(*PAIRS[0])):
        totals = {s['path']: s['total_ps'] / len(made['devices']) for s in walk(made['scopes'])}
        assert found[0][2] == pytest.approx(100 * window / max(windows), abs=0.011)
        assert {title.rpartition(': ')[0] for _, _, _, title, *_ in found[1:]} <= set(totals)
        assert len(found) > 10
        for _, _, width, title, *_ in found[1:]:
            assert width == pytest.approx(100 * totals[title.rpartition(': ')[0]] / max(windows), abs=0.011)


@pytest.mark.parametrize('pair', PAIRS)
def test_a_difference_says_which_way(pair):
    for x, row, width, title, css, text in compared(*pair)[2]:
        place, _, figures = title.rpartition(': ')
        delta, _, sides = figures.partition(', ')
        a, b = (float(side.split()[0]) for side in sides.split(' → '))
        sign = delta[0]
        assert {'worse': '+', 'better': '−'}.get(css, sign) == sign and (sign == '±') <= (css == 'idle')
        assert not text or text.startswith(delta + ' ')
        assert a == b or (b > a) == (sign == '+')


def test_a_run_differs_from_itself_nowhere():
    found = compared(PAIRS[0][0], PAIRS[0][0])
    assert [f[:3] for f in found[0]] == [f[:3] for f in found[1]] == [f[:3] for f in found[2]]
    assert {css for *_, css, _ in found[2]} == {'idle'} and all('±0' in f[3] for f in found[2])


def leaves_of(made):
    """{the path of an op in its forward scope: [ps, of it going back]}, the mean of the devices."""
    found = {}
    for op in made['ops']:
        path = '/'.join(p for p in (op['scope'], op['name']) if p)
        found[path] = found.get(path, 0) + op['self_ps'] / len(made['devices'])
    return found


def test_by_stack_the_ops_are_frames():
    """Each op stands in its scope with its own time, and the scopes are as wide as without them."""
    sides = [json.loads(view_profile('report', '--format=json', '--group=stack', str(trace(p))).stdout) for p in PAIRS[0]]
    windows = [max(d['breakdown']['window_ps'] for d in made['devices']) for made in sides]
    page = view_profile('compare', '--format=html', '--group=stack', *(str(trace(p)) for p in PAIRS[0])).stdout
    pictures = [frames_of(p) for p in page.split('<svg class="flame" role="img"')[1:]]
    for made, found, plain in zip(sides, pictures, compared(*PAIRS[0])):
        ops, titles = leaves_of(made), {title: width for _, _, width, title, *_ in found}
        for _, _, width, title, *_ in plain:
            assert titles.get(title, width) == pytest.approx(width, abs=0.011)
        seen = [(title.rpartition(': ')[0], width) for title, width in titles.items() if title.rpartition(': ')[0] in ops]
        assert len(seen) > 10
        for path, width in seen:
            assert width == pytest.approx(100 * ops[path] / max(windows), abs=0.011)
    assert {css for *_, css, _ in pictures[2]} <= {'idle', 'worse', 'better'}
