"""Seven real traces carry an environment with a token: it is named, and its value shown nowhere.

Which files have one is found here by an own search of their text, so that no other file may be blamed."""
import concurrent.futures
import json
import re

import pytest

from common import TRACES, missing, report, report_or_none, timelines, trace, view_profile
from json_files import content

WORDS = (b'TOKEN', b'SECRET', b'PASSWORD', b'KEY')
MEMBER = re.compile(rb'"(\w*)"\s*:\s*"([^"]+)"')
WITH_TOKEN = [
    'pytorch_cuda/AMD-AGI__TraceLens/h100/Falconsai_nsfw_image_detection__1016002.json.gz',
    'pytorch_cuda/AMD-AGI__TraceLens/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz',
    'pytorch_cuda/AMD-AGI__TraceLens/h100/gaunernst_bert-small-uncased__1016001.json.gz',
    'pytorch_rocm/AMD-AGI__TraceLens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz',
    'pytorch_rocm/AMD-AGI__TraceLens/mi300/facebook_timesformer-base-finetuned-k400__1016002.json.gz',
    'pytorch_rocm/AMD-AGI__TraceLens/mi300/gaunernst_bert-small-uncased__1016001.json.gz',
    'pytorch_rocm/AMD-AGI__TraceLens/mi300/google_owlv2-large-patch14-ensemble__1016001.json.gz',
]


def secrets(path):
    """key → value of what looks like a credential: one of the words alone or at the end of a key."""
    data, found = content(trace(path)), {}
    for word in WORDS:
        at = data.find(word + b'"')
        while at >= 0:
            member = MEMBER.match(data, data.rfind(b'"', 0, at))
            if member:
                found[member[1].decode()] = member[2].decode()
            at = data.find(word + b'"', at + 1)
    return found


def notes(path):
    return [q for q in report(path, '--group=raw')['quality'] if q['code'] == 'credentials']


@pytest.mark.parametrize('path', WITH_TOKEN)
def test_the_key_is_named(path):
    assert secrets(path).keys() == {'HF_TOKEN'}
    note, = notes(path)
    assert note['severity'] == 'warning' and '"HF_TOKEN"' in note['message']
    assert note['file'] == path.rsplit('/', 1)[1] and note['byte'] > 0


@pytest.mark.parametrize('path', WITH_TOKEN)
def test_the_value_is_nowhere(path):
    """Neither the value nor the start of one, in any format; nor anything else of the environment."""
    file, folder = str(trace(path)), str(trace(path).parent)
    shown = [json.dumps(report(path, '--group=raw')), view_profile('list', folder).stdout]
    for fmt in ('text', 'html', 'csv'):
        done = view_profile('report', f'--format={fmt}', file)
        shown += [done.stdout, done.stderr]
    value = secrets(path)['HF_TOKEN']
    for out in shown:
        assert value not in out and value[:8] not in out
        assert 'TOKENIZERS_PARALLELISM' not in out and 'LD_LIBRARY_PATH' not in out
    assert 'HF_TOKEN' in shown[2] and 'HF_TOKEN' in shown[4]


@pytest.mark.slow
def test_nobody_else_is_blamed():
    """No other file has such a key, and none is said to have one."""
    paths = timelines()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        reports = pool.map(lambda path: report_or_none(path, '--group=raw'), paths)
        blamed = [str(path.relative_to(TRACES)) for path, made in zip(paths, reports, strict=True)
                  if made and any(q['code'] == 'credentials' for q in made['quality'])]
    assert blamed == sorted(p for p in WITH_TOKEN if not missing(p))


@pytest.mark.slow
def test_the_list_above_is_whole():
    assert sorted(str(p.relative_to(TRACES)) for p in timelines() if secrets(p)) == sorted(p for p in WITH_TOKEN if not missing(p))
