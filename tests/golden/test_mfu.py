"""The waterfall of real profiles equals what docs/reference/memory-and-mfu.md#waterfall-examples
computed independently: to the picosecond."""
import csv
import html
import io
import json
import math
import re
import sys

import pytest

from common import ROOT, report, trace, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files  # noqa: E402
from gen.scene import MS, Scene, TpuChip  # noqa: E402

TPU = 'jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/'
ROCM = 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/'
V2 = 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb'
TRACELENS = 'pytorch_{}/AMD-AGI__TraceLens/{}/{}.json.gz'
FALCON, BERT = 'Falconsai_nsfw_image_detection__1016002', 'gaunernst_bert-small-uncased__1016001'

# file, options, device: W, idle, exposed communication, exposed copies, useful, mem_excess, inefficiency, nm_memory,
# nm_excess, unknown, MFU in percent
GOLDENS = [
    (V2, (), 'TPU:0', 92475685460000, 13691961556250, 365061093750, 76009517731250, 0, 0, 0, 1969846135402,
     439298943348, 0, 0),
    (V2, (), 'TPU:1', 90428220550000, 11639915943750, 365097730000, 76019159943750, 0, 0, 0, 1966568521200,
     437478411300, 0, 0),
    (TPU + '2026_01_11_21_26_41', ('--chip=TPU7x',), 'TPU:0', 67234949579, 25563380, 3438250900, 9297576, 27716430725,
     205946140, 14386360221, 3097102826, 1342511649, 17013486162, 41.2232),
    (TPU + '2026_01_12_00_26_20', ('--chip=TPU7x',), 'TPU:0', 65748357743, 25520352, 4191624222, 9326360, 5395143,
     205772804, 80955702, 7451046002, 7730718416, 46047998742, 0.0082),
    (ROCM + 'jax08_gemm', (), 'GPU:0', 9456212000, 5980728000, 0, 87880000, 2054920221, 1124322, 1177839457, 59123931,
     94596069, 0, 21.7309),
    (ROCM + 'jax_conv_minimal_08', (), 'GPU:0', 138470832000, 134474867000, 0, 559321000, 125116915, 425326590, 1016278495,
     1085059236, 761982764, 22880000, 0.0904),
    (ROCM + 'jax_conv_minimal_08', (), 'GPU:1', 112106106000, 108760261000, 0, 0, 125116915, 425326590, 1024677495,
     1087459145, 683264855, 0, 0.1116),
    (ROCM + 'jax08_elementwise', (), 'GPU:0', 9977851000, 6097127000, 0, 44800000, 0, 0, 0, 2395171555, 1440752445, 0, 0),
    (TRACELENS.format('cuda', 'h100', FALCON), (), 'GPU 0', 7559844000, 6334534000, 0, 4384000, 142014521, 18517044,
     818601435, 0, 0, 241793000, 1.8785),
    (TRACELENS.format('cuda', 'h100', BERT), (), 'GPU 0', 3907825000, 3598388000, 0, 2240000, 8279809, 15225452,
     211500739, 0, 0, 72191000, 0.2119),
    (TRACELENS.format('rocm', 'mi300', FALCON), (), 'GPU 2', 6868849000, 5152548000, 0, 0, 107472168, 6753773,
     1249128059, 0, 0, 352947000, 1.5646),
]
FLOPS = {FALCON: 140509200384, BERT: 8192059392}


@pytest.mark.parametrize('golden', GOLDENS, ids=lambda g: f'{g[0].rsplit("/")[-1]}-{g[2]}')
def test_a_window_falls_apart_as_computed_elsewhere(golden):
    path, options, name, window, idle, comm, copy, *cells, mfu = golden
    device = next(d for d in report(path, *options)['devices'] if d['name'].endswith(name))
    b, made = device['breakdown'], device['mfu']['cells']
    assert (b['window_ps'], b['idle_ps'], b['exposed_comm_ps'], b['exposed_copy_ps']) == (window, idle, comm, copy)
    useful, mem_excess, inefficiency, *others = cells
    assert [made[c] for c in ('useful', 'nm_memory', 'nm_excess', 'unknown')] == [useful, *others]
    assert made['recompute'] == 0
    # what is padding was counted as these two: F4 has F' = F
    assert made['pad'] + made['mem_excess'] + made['inefficiency'] == mem_excess + inefficiency
    if 'TPU' in name or not useful:
        assert (made['pad'], made['mem_excess']) == (0, mem_excess)
    assert round(100 * device['mfu']['mfu'], 4) == pytest.approx(mfu, abs=1e-4)
    for run, flops in FLOPS.items():
        if run in path:
            assert device['mfu']['flops'] == flops
    if '2026_01_11' in path:
        assert device['mfu']['flops'] == 31970902933504


def test_padding_of_a_gpus_tiles():
    """Of 8192 x 4096 x 8192 in tiles of 256 x 224 on 304 units: 4 waves of 304 tiles (F3), each of three calls."""
    op = next(o for o in report(ROCM + 'jax08_gemm', '--group=raw')['ops'] if 'MT256x224x64' in o['name'])
    flops, padded = 2 * 8192 ** 2 * 4096, 2 * 4 * 304 * 256 * 224 * 4096
    assert padded / flops == pytest.approx(1.0117 * 1.0270, abs=1e-4)
    assert op['roof']['flops'] == op['calls'] * flops == 3 * flops
    assert op['roof']['cells']['useful'] == 3 * (flops * 1000 // 1307400)
    assert op['roof']['cells']['pad'] == 3 * (padded * 1000 // 1307400 - flops * 1000 // 1307400)


def test_a_step_has_its_costs_and_plans():
    """Each of 20 equal steps has a twentieth of the FLOP, and the programs are those of the profile."""
    whole, step = report('jax_cpu/mnist_train'), report('jax_cpu/mnist_train', '--step=7')
    assert step['devices'][0]['mfu']['flops'] * 20 == whole['devices'][0]['mfu']['flops'] == 2578186240
    assert step['memory_static'] == whole['memory_static'] != []


BRIEF = {'useful': 'useful', 'redone': 'recompute', 'padding': 'pad', 'ineffic.': 'inefficiency', 'memory': 'mem_excess',
         'oth.mem': 'nm_memory', 'oth.rest': 'nm_excess', 'unknown': 'unknown'}
STEPPED = [V2, 'pytorch_cuda/pytorch__benchmark/trace.json', ROCM + 'jax_conv_minimal_08',
           'pytorch_rocm/facebookresearch__HolisticTraceAnalysis/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz']


@pytest.mark.parametrize('path', STEPPED)
def test_what_steps_consist_of(path):
    """The slowest, median and fastest of those that count, whose figures sum to their length; on the terminal and on the page."""
    made = report(path)
    counted = [s for s in made['steps']['list'] if not s['partial'] and not s['warm_up']]
    median = made['steps']['median_ps']
    picked = {'slowest': max(s['dur_ps'] for s in counted), 'fastest': min(s['dur_ps'] for s in counted),
              'median': min((abs(s['dur_ps'] - median), s['dur_ps']) for s in counted)[1]}
    lines = view_profile('report', str(trace(path))).stdout.split('MFU breakdown of steps\n')[1].split('\n\n')[0].splitlines()
    heads, rows = lines[0].split(), [x.split() for x in lines[1:]]
    unit = heads.pop(heads.index('length') + 1)
    scale = {'s': 10 ** 12, 'ms': 10 ** 9, 'us': 10 ** 6}[unit]
    assert [r[0] for r in rows] == ['slowest', 'median', 'fastest'][:len(counted)] and len(heads) == len(rows[0])  # of one, one row
    for name, number, *figures in rows:
        said = dict(zip(heads[2:], map(float, figures)))
        step = next(s for i, s in enumerate(made['steps']['list']) if int(number) == (i + 1 if s['number'] is None else s['number']))
        assert step in counted and step['dur_ps'] == picked[name]
        on = next(d for d in step['devices'] if (d['name'], d['host']) == (step['device'], step['host']))
        want = {h: on['cells'][c] for h, c in BRIEF.items()} | {'length': on['dur_ps'], 'idle': on['breakdown']['idle_ps'],
                'exp.comm': on['breakdown']['exposed_comm_ps'], 'exp.copy': on['breakdown']['exposed_copy_ps']}
        for head, ps in want.items():  # what is nothing in all rows has no column
            assert said.get(head, 0) * scale == pytest.approx(ps, abs=scale / 1000), head
        assert sum(said.values()) - said['length'] == pytest.approx(said['length'], abs=.01)
    page = view_profile('report', '--format=html', str(trace(path))).stdout
    table = re.search('MFU breakdown of steps.*?</table>', page, re.S)[0]
    assert [n for n in ('slowest', 'median', 'fastest') if n in re.sub('<[^>]*>', ' ', table)] == [r[0] for r in rows]


def test_exposed_communication_is_wait_and_transfer(tmp_path):
    """Two TPUs in 2026_01_11: nothing else runs while they wait for each other, so that a call's transfer is as long as its
    shorter half and both have the same sum."""
    made = report(TPU + '2026_01_11_21_26_41', '--chip=TPU7x')
    rows = {}
    for c in made['collectives']:
        assert c['sample_stride'] == 1
        # the file's decimals of a us make neighbours overlap by 1 ps
        assert all(0 <= dur - shown <= 1 for dur, shown in zip(c['sample_dur_ps'], c['sample_exposed_ps']))
        rows.setdefault((c['name'], c['members']), {})[c['device_index']] = c
    calls = [[(r[d]['sample_dur_ps'][i], r[d]['sample_exposed_ps'][i]) for d in (0, 1)]
             for r in rows.values() for i in range(r[0]['count'])]
    for i, d in enumerate(made['devices']):
        shorter = [min(call)[0] for call in calls]
        assert d['exposed_wait_ps'] == sum(min(call[i][0] - s, call[i][1]) for call, s in zip(calls, shorter)) > 0
        assert abs(d['breakdown']['exposed_comm_ps'] - d['exposed_wait_ps'] - sum(shorter)) <= len(calls)
    text = view_profile('report', '--chip=TPU7x', '--unit=ns', str(trace(TPU + '2026_01_11_21_26_41'))).stdout
    assert text.count('exposed communication: transfer ') == 2
    # not matched: one cell
    assert {d['exposed_wait_ps'] for d in report(V2)['devices']} == {None}
    assert 'communication: ' not in view_profile('report', str(trace(V2))).stdout
    # read back and merged, and of a report that lacks what each call exposes
    made['collectives'][0]['sample_exposed_ps'] = None
    del made['collectives'][1]['sample_exposed_ps']
    (tmp_path / 'old.json').write_text(json.dumps(made), encoding='utf-8')
    again = json.loads(view_profile('merge', '--format=json', str(tmp_path / 'old.json')).stdout)
    assert [c['sample_dur_ps'] for c in again['collectives']] == [c['sample_dur_ps'] for c in made['collectives']]
    assert all(0 <= a['exposed_wait_ps'] <= d['exposed_wait_ps'] for a, d in zip(again['devices'], made['devices']))


def test_what_the_user_says_counts():
    d = report(V2, '--peak-tflops=459', '--peak-gbs=2765', '--params=7e9', '--tokens=1000')['devices'][0]['mfu']
    assert (d['peak_gflops'], d['bandwidth_mb_s']) == (459000, 2765000)
    assert (d['peak_source'], d['bandwidth_source']) == ('user', 'user')
    assert d['asked_flops'] * 4 == 6 * 7 * 10 ** 9 * 1000
    d = report(V2, '--chip=h100 sxm')['devices'][0]['mfu']
    assert (d['chip'], d['peak_source'], d['peak_gflops']) == ('H100 SXM', 'chip', 989400)


@pytest.mark.parametrize('flag', ['peak-tflops', 'peak-gbs', 'params', 'tokens'])
@pytest.mark.parametrize('value', ['0', '-1', 'nan', 'inf', '1e400', '1e-9', '1e31', '989x'])
def test_figures_of_the_user_that_cannot_be(flag, value):
    """Refused, not left out: a peak of nothing is no peak."""
    done = view_profile('report', f'--{flag}={value}', str(trace(V2)), check=False)
    assert done.returncode == 2 and f'--{flag} {value}: must be a number from ' in done.stderr and not done.stdout


@pytest.mark.parametrize('peak', ['0.001', '1e14'])
def test_the_least_and_the_most_of_the_user(peak):
    d, = [d for d in report(ROCM + 'jax08_gemm', f'--peak-tflops={peak}', f'--peak-gbs={peak}')['devices']]
    assert (d['mfu']['peak_gflops'], d['mfu']['bandwidth_mb_s']) == 2 * (round(float(peak) * 1000),)
    assert sum(d['mfu']['cells'].values()) == d['breakdown']['compute_ps']


@pytest.mark.parametrize('path, flops', [(ROCM + 'jax08_gemm', 2686602706944),
                                         (ROCM + 'jax_conv_minimal_08', 1308622848000),
                                         ('jax_cpu/mnist_train', 2578186240)])
def test_flops_of_products_from_hlo_shapes(path, flops):
    """An instruction that launches several kernels counts once, and what is no product not at all."""
    made = report(path)
    assert sum(d['mfu']['flops'] or 0 for d in made['devices']) == flops
    assert sum(o['roof']['flops'] or 0 for o in made['ops']) == flops
    assert {o['roof']['source'] for o in made['ops'] if o['roof']['flops']} == {'hlo'}


def test_a_comparison_has_the_cells_as_differences(tmp_path):
    """They sum to the difference of compute, as the classes do to that of the window."""
    for name, run in (('a', '2026_01_11_21_26_41'), ('b', '2026_01_12_00_26_20')):
        view_profile('report', '--chip=TPU7x', '--format=json', f'--output={tmp_path}/{name}.json', str(trace(TPU + run)))
    made = json.loads(view_profile('compare', '--format=json', f'{tmp_path}/a.json', f'{tmp_path}/b.json').stdout)
    for device in made['devices']:
        for side in ('a_ps', 'b_ps', 'delta_ps'):
            assert sum(c[side] for c in device['cells'].values()) == device['compute'][side]
            assert sum(c[side] for c in device['idle_causes'].values()) == device['idle'][side]
            assert device['exposed_wait'][side] + device['exposed_transfer'][side] == device['exposed_comm'][side]
    assert made['devices'][0]['cells']['unknown']['delta_ps'] == 46047998742 - 17013486162
    for side, name in (('a_ps', 'a'), ('b_ps', 'b')):
        whole = json.loads((tmp_path / f'{name}.json').read_text(encoding='utf-8'))['devices']
        assert [d['exposed_wait'][side] for d in made['devices']] == [d['exposed_wait_ps'] for d in whole]
        assert [{k: v[side] for k, v in d['idle_causes'].items()} for d in made['devices']] == [d['idle_causes'] for d in whole]
    text = view_profile('compare', '--unit=ns', f'{tmp_path}/a.json', f'{tmp_path}/b.json').stdout
    table = text[text.index('Detailed breakdown'):].split('\n\n')[0].splitlines()[2:]
    figures = [[round(float(x) * 1000) for x in re.findall(r'  ([-+]?\d+\.\d+)(?= |$)', line)] for line in table]
    assert len(table) > 9 and all(len(f) == 3 for f in figures)
    for i in range(3):
        assert abs(sum(f[i] for f in figures[:-1]) - figures[-1][i]) <= 50 * len(figures), table  # to the 0.1 ns
    shown = dict(csv.reader(io.StringIO(''.join(f'"{r["name"]}",{r["delta_ps"]}\n' for r in csv.DictReader(io.StringIO(
        view_profile('compare', '--format=csv', f'{tmp_path}/a.json', f'{tmp_path}/b.json').stdout))
        if r['kind'] == 'cell' and r['device'] == made['devices'][1]['name']))))
    want = {**made['devices'][1]['cells'], 'exposed_wait': made['devices'][1]['exposed_wait'],
            'exposed_transfer': made['devices'][1]['exposed_transfer'],
            **{f'idle_{k}': v for k, v in made['devices'][1]['idle_causes'].items()}}
    assert shown == {k: str(v['delta_ps']) for k, v in want.items()}


def test_a_comparison_has_the_cells_of_scopes(tmp_path):
    """In the proportions that the reports tell, by what each takes of its scope's time; what lies beside compute is in none."""
    reports = {}
    for name, run in (('a', '2026_01_11_21_26_41'), ('b', '2026_01_12_00_26_20')):
        view_profile('report', '--chip=TPU7x', '--format=json', f'--output={tmp_path}/{name}.json', str(trace(TPU + run)))
        todo, reports[name] = json.loads((tmp_path / f'{name}.json').read_text(encoding='utf-8'))['scopes'], {}
        while todo:
            scope = todo.pop()
            reports[name][scope['path']] = scope
            todo += scope['children']
    made = json.loads(view_profile('compare', '--format=json', f'{tmp_path}/a.json', f'{tmp_path}/b.json').stdout)
    moved = 0
    for scope in made['scopes']:
        for name, of in reports.items():
            whole, side = of.get(scope['path']), f'{name}_ps'
            if not whole:
                assert {c[side] for c in scope['cells'].values()} == {0}
                continue
            cells = whole['roof']['cells']
            for cell, ps in cells.items():
                want = ps * scope[side] / whole['total_ps']
                assert abs(scope['cells'][cell][side] - want) <= len(cells) + 1, (scope['path'], cell)
            if sum(cells.values()) == whole['total_ps']:
                assert sum(c[side] for c in scope['cells'].values()) == scope[side]
                moved += 1
    assert moved > 4
    text = view_profile('compare', f'{tmp_path}/a.json', f'{tmp_path}/b.json', env={'COLUMNS': '120'}).stdout
    assert re.search(r'jit\(_jax_attn_func\) .* unknown', text)


def test_the_mean_is_of_devices_that_ran(tmp_path):
    """Each of its own window: of four TPUs, and of eight GPUs; one alone has no mean beside its own."""
    for path, options in ((TPU + '2026_01_11_21_26_41', ['--chip=TPU7x']), (ROCM + 'jax_conv_minimal_08', [])):
        made = report(path, *options)
        shares = [d['mfu']['mfu'] for d in made['devices'] if d['breakdown']['compute_ps'] and d['mfu']['mfu'] is not None]
        assert made['mfu_mean']['devices'] == len(shares) > 1
        assert made['mfu_mean']['mfu'] == pytest.approx(sum(shares) / len(shares), abs=1e-8)
        text = view_profile('report', *options, str(trace(path))).stdout
        assert f'Mean MFU of {len(shares)} devices, each over its own window: {100 * sum(shares) / len(shares):.1f}%.' in text
    alone = report(ROCM + 'jax08_gemm')
    assert alone['mfu_mean']['devices'] == 1
    assert 'Mean MFU' not in view_profile('report', str(trace(ROCM + 'jax08_gemm'))).stdout
    assert report(TPU + '2026_01_11_21_26_41')['mfu_mean'] == {'devices': 0, 'mfu': None}


def exponents(labels):
    """(smallest, largest) exponent of the labels of an axis, powers of ten without a gap."""
    said = [round(math.log10(float(x))) if 'tspan' not in x else int(re.search(r'>(-?\d+)<', x)[1]) for x in labels]
    assert said == list(range(said[0], said[-1] + 1))
    return said[0], said[-1]


@pytest.mark.parametrize('of', ['ops', 'scopes'])
def test_points_under_the_roof_lie_where_their_figures_are(of):
    """Both axes by powers of ten, from 70 to 990 and from 380 up to 10; the roof is bandwidth × intensity up to the peak."""
    run = ['--chip=TPU7x', str(trace(TPU + '2026_01_11_21_26_41'))]
    made = json.loads(view_profile('report', '--format=json', *run).stdout)
    page = view_profile('report', '--format=html', *run).stdout
    svg = re.search(rf'<svg class="roof"[^>]*aria-label="Roofline of {of}:.*?</svg>', page, re.S)[0]
    x0, x1 = exponents(re.findall(r'<text x="\d+" y="398" text-anchor="\w+">(.*?)</text>', svg))
    y0, y1 = exponents(re.findall(r'<text x="64" y="\d+" text-anchor="end">(.*?)</text>', svg))

    def place(intensity, gflops):
        return (70 + (math.log10(intensity) - x0) / (x1 - x0) * 920, 380 - (math.log10(gflops) - y0) / (y1 - y0) * 370)

    def below(scopes):
        return [x for s in scopes for x in [(s['path'], s['roof']), *below(s['children'])]]

    rows = below(made['scopes']) if of == 'scopes' else [(x['name'], x['roof']) for x in made['ops']]
    want = [(name, *place(r['flop_per_byte'], r['flops'] * 1000 / sum(r['cells'].values())))
            for name, r in rows if r and r['flops'] and r['bytes']]
    got = [(html.unescape(n), float(x), float(y))
           for x, y, n in re.findall(r'<circle cx="([^"]*)" cy="([^"]*)" r="[^"]*"><title>(.*?): ', svg)]
    assert len(got) >= 3
    for name, x, y in got:
        assert any(n == name and abs(x - wx) < .2 and abs(y - wy) < .2 for n, wx, wy in want), (name, x, y)
    peak = made['devices'][0]['mfu']
    kink = re.search(r'class="line" d="M[\d.]+ [\d.]+L([\d.]+) ([\d.]+)H990"', svg)
    ridge = place(peak['peak_gflops'] / (peak['bandwidth_mb_s'] / 1000), peak['peak_gflops'])
    assert [float(v) for v in kink.groups()] == pytest.approx(ridge, abs=.1)


def test_figures_that_cannot_be_are_said_and_nothing_else_is_lost(tmp_path):
    """FLOP of 2^64 − 1 and a peak of 0: the first are unknown, for the second the table is asked."""
    scene = Scene()
    chip = TpuChip(scene, stats={'device_type_string': 'TPU v6 Lite', 'peak_teraflops_per_second': 0.0,
                                 'peak_hbm_bw_gigabytes_per_second': 1637.993152512})
    for flops in (2 ** 64 - 2, 918 * 10 ** 9):
        chip.op(f'fusion.{flops % 7}', MS, 'convolution fusion', stats={'model_flops': flops, 'bytes_accessed': 1})
    made = report(files.write(scene, 'xspace', tmp_path))
    mfu = made['devices'][0]['mfu']
    assert {'bad-cost', 'bad-peak'} <= {q['code'] for q in made['quality']}
    assert (mfu['chip'], mfu['peak_source'], mfu['peak_gflops']) == ('TPU v6e', 'name', 918000)
    assert (mfu['flops'], mfu['cells']['useful']) == (918 * 10 ** 9, MS)
    assert sum(mfu['cells'].values()) == made['devices'][0]['breakdown']['compute_ps'] == 2 * MS
