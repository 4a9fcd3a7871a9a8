"""Whatever a damaged profile holds, what is exported of it is JSON to the letter: UTF-8, no control bytes, no escapes
that RFC 8259 does not have."""
import functools
import json
import pathlib
import random
import subprocess

import pytest
from common import TRACES, run, tool
from json_files import JSON_FILES, content

SMALL = 200_000  # bytes, unpacked
BAD = [b'\xff', b'\xc3', b'\xe2\x82', b'\xf0\x9f\x98', b'\xed\xa0\x80', b'\xc0\xaf', b'\xf4\x90\x80\x80', b'\x80', b'\x00', b'\x01',
       b'\x0b', b'\x0c', b'\n', b'\t', b'\x1b', b'\\v', b'\\x41', b'\\0', b"\\'", b'\\u12', b'\\ud800', b'\\', b'\\\n', b'"', b'\xc2\xa0']
EACH = 6  # damaged copies of a file


def refuse(word):
    raise ValueError(f'{word} is no JSON')


def strict(data):
    return json.loads(data.decode('utf-8'), parse_constant=refuse, strict=True)


def export(how, data, tmp_path):
    (tmp_path / 'damaged').write_bytes(data)
    return subprocess.run([tool('export_tool'), how, tmp_path / 'damaged'], capture_output=True, check=False)


def export_all(how, texts, tmp_path):
    """[(exit code, exported bytes)] of many files, by one program."""
    paths = [tmp_path / f'damaged{i}' for i in range(max(len(texts), 2))]
    for path, data in zip(paths, [*texts, texts[-1]]):
        path.write_bytes(data)
    codes = run(tool('export_tool'), how, *paths)[0].split()
    assert len(codes) == len(paths)
    return [(int(code), pathlib.Path(f'{path}.made').read_bytes()) for code, path in zip(codes, paths)][:len(texts)]


def damage(data, seed):
    """Bytes that do not belong there, most of them within strings, and one copy in six cut off."""
    rnd = random.Random(seed)
    out = bytearray(data)
    quotes = [i for i, b in enumerate(data) if b == 0x22] if seed % 2 else []
    for _ in range(rnd.randint(1, 12)):
        at = rnd.choice(quotes) + rnd.randint(1, 3) if quotes else rnd.randrange(len(out) + 1)
        put = rnd.choice(BAD)
        out[at:at + rnd.choice((0, len(put)))] = put
    return bytes(out[:rnd.randrange(len(out))] if seed % 6 == 5 else out)


@functools.lru_cache(maxsize=None)
def files(how):
    if how == 'xspace':
        found = [(p, p.read_bytes()) for p in sorted(TRACES.rglob('*.xplane.pb'))]
    else:
        found = [(p, content(p)) for p in JSON_FILES if p.stat().st_size < SMALL]
        found = [(p, data) for p, data in found if data.lstrip(b'\xef\xbb\xbf \t\r\n')[:1] in (b'{', b'[')]
    return [(p, data) for p, data in found if 0 < len(data) < SMALL]


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(EACH))
@pytest.mark.parametrize('how', ('clean', 'xspace'))
def test_damaged_files_are_exported_as_json(how, seed, tmp_path):
    wrong, done = [], 0
    made = export_all(how, [damage(data, i * EACH + seed) for i, (_, data) in enumerate(files(how))], tmp_path)
    for (path, _), (code, out) in zip(files(how), made):
        if code == 3:
            continue
        assert code == 0, path
        done += 1
        try:
            assert isinstance(strict(out)['traceEvents'], list)
        except ValueError as e:
            wrong.append((str(path.relative_to(TRACES)), str(e)))
    assert not wrong, (len(wrong), done, wrong[:9])


def test_there_are_enough():
    assert sum(len(files(how)) for how in ('clean', 'xspace')) * EACH >= 500


@pytest.mark.parametrize('text,want', [
    (b'a\xffb', 'a\ufffdb'), (b'\xe2\x82', '\ufffd\ufffd'), (b'\xed\xa0\x80x', '\ufffd\ufffd\ufffdx'),
    (b'\x00\x0b\x1f', '\x00\x0b\x1f'), (b'C:\\vol\\x41\\q', 'C:\\vol\\x41\\q'), (b"it\\'s", "it\\'s"), (b'a\\\nb', 'a\\\nb'),
    (b'\\ud83d\\ude80 \\ud83d', '\U0001f680 \ufffd'), (b'caf\xc3\xa9 \xf0\x9f\x9a\x80 \xe4\xb8\xad', 'café 🚀 中'),
    (b'\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9', '"\\/\b\f\n\r\té'), (b'\x7f', '\x7f')])
def test_strings_say_what_they_said(text, want, tmp_path):
    """In a name, a key and a key of the top level, at every place of a long string."""
    pads = (*range(18), 4093)
    leads = [b'x' * pad + text for pad in pads]
    made = export_all('clean', [b'{"' + lead + b'":1,"traceEvents":[{"ts":1,"name":"' + lead + b'","args":{"' + lead +
                                b'":[\x0b1\x0c,\x0b2]}}]}' for lead in leads], tmp_path)
    for pad, (_, out) in zip(pads, made):
        shown = 'x' * pad + want
        assert strict(out) == {shown: 1, 'traceEvents': [{'ts': 1, 'name': shown, 'args': {shown: [1, 2]}}]}


@pytest.mark.parametrize('odd', [b'[1,\x0b]', b'[1,\x0c\x0b \x0b]', b'[1 \x0b,\x0b\x0b]', b'[\x0b1\x0c]', b'[1\x0b, ]'])
def test_spaces_of_browsers(odd, tmp_path):
    data = b'[{"ts":1,"a":' + odd + b',\x0c"b":{"c":2,\x0b}\x0b,\x0b}\x0b,{"ts":2\x0c}]'
    assert strict(export('clean', data, tmp_path).stdout)['traceEvents'] == [{'ts': 1, 'a': [1], 'b': {'c': 2}}, {'ts': 2}]


@pytest.mark.parametrize('byte', (*range(0x21), 0x7f, 0x85, 0xa0))
def test_what_is_exported_is_what_was_read(byte, tmp_path):
    """White space is the same to both: RFC 8259's four, and the two of isspace() that the export drops."""
    odd = bytes([byte])
    event = b'{"ph":@"X",@"ts"@:1@,"dur":2@,"pid":1,"tid":1,"name":"%s"}'
    data = b'[' + b','.join((event % name).replace(b'@', odd if name == b'odd' else b'') for name in (b'a', b'odd', b'c')) + b']'
    made = [e['name'] for e in strict(export('clean', data, tmp_path).stdout)['traceEvents']]
    assert made == (['a', 'odd', 'c'] if odd in b' \t\n\r\v\f' else ['a', 'c'])
    said = run(tool('json_tool'), tmp_path / 'damaged')[0].decode()
    assert f'\t1\t{len(made)}\t{len(made) * 2_000_000}\t' in said
    assert ('bad-event' in said) == (len(made) == 2)


def test_clean_strings_stay_as_they_are(tmp_path):
    event = '{"ts":1,"name":"é\\u0001\\n\\"中","args":{"k": [ 1,\t2 ]}}'.encode()
    assert event in export('clean', b'[' + event + b']', tmp_path).stdout
