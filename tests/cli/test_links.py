"""Source lines on a terminal: links (OSC 8) where the terminal is known to show them, and colours are on; never elsewhere."""
import os
import pty
import re
import subprocess

import pytest

from conftest import TRACES, find_program

PROGRAM = find_program()
RUN = str(TRACES / 'jax_cpu' / 'mnist_train')
LINK = re.compile(r'\x1b\]8;;([^\x1b]*)\x1b\\(.*?)\x1b\]8;;\x1b\\')


def on_terminal(*args, **env):
    """What the program writes to a terminal of 200 columns."""
    ours, theirs = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'VTE_VERSION', 'TERM_PROGRAM', 'WT_SESSION')}
    child = subprocess.Popen([PROGRAM, *args], stdout=theirs, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                             env=clean | {'TERM': 'xterm-256color', 'COLUMNS': '200'} | env)
    os.close(theirs)
    out = b''
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            piece = b''
        if not piece:
            break
        out += piece
    os.close(ours)
    assert child.wait(timeout=60) == 0
    return out.decode()


def test_lines_are_links_where_the_terminal_has_them():
    text = on_terminal('top', '--group', 'source', RUN, VTE_VERSION='7006')
    links = LINK.findall(text)
    assert links and all(url == f'vscode://file{shown}' for url, shown in links if '…' not in shown)
    assert {url for url, _ in links} >= {'vscode://file/opt/demo/make_jax_profiles.py:68'}
    assert on_terminal('memory', RUN, TERM_PROGRAM='vscode').count('\x1b]8;;vscode://file/opt/demo/make_jax_profiles.py:') > 3


@pytest.mark.parametrize('args, env', [((), {}), (('--color', 'never'), {'VTE_VERSION': '7006'}), ((), {'VTE_VERSION': '4000'}),
                                       ((), {'VTE_VERSION': '7006', 'NO_COLOR': '1'}), ((), {'VTE_VERSION': '7006', 'TERM': 'dumb'})])
def test_no_links_elsewhere(args, env):
    assert '\x1b]8' not in on_terminal('top', '--group', 'source', *args, RUN, **env)


def test_no_links_in_a_pipe():
    done = subprocess.run([PROGRAM, 'top', '--group', 'source', '--color', 'always', RUN], capture_output=True, text=True,
                          env=os.environ | {'VTE_VERSION': '7006'}, check=True)
    assert '\x1b[' in done.stdout and '\x1b]8' not in done.stdout


def test_relative_lines_lie_below_the_root(tmp_path):
    """Relative ones are links only then, and what leads out of it never."""
    run = str(TRACES / 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb')
    assert not LINK.search(on_terminal('memory', run, VTE_VERSION='7006'))
    root = tmp_path / 'my code'
    root.mkdir()
    urls = {url for url, _ in LINK.findall(on_terminal('memory', '--source-root', str(root), run, VTE_VERSION='7006'))}
    base = 'vscode://file' + str(root).replace(' ', '%20')
    assert urls and all(url.startswith(f'{base}/experimental/users/') and url.rsplit(':')[-1].isdigit() for url in urls)
