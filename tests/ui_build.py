"""A directory of the shape of a Perfetto UI build, small enough to look at. tests/browser has a real one."""
import os

VERSION = 'v1.2-abc'
SCRIPT = "\n    'use strict';\n    (function () { if (1 < 2 && true) document.title = 'é'; })();\n  "
PAGE = f'''<!doctype html><html><head><style>a {{ color: red }}</style></head>
<body data-perfetto_version='{{"stable":"{VERSION}"}}'>
  <script type="text/javascript">{SCRIPT}</script>
  <SCRIPT src="x.js"></SCRIPT><script>let second;</script></body></html>'''
FILES = {
    'index.html': PAGE, 'service_worker.js': 'self', 'LICENSE': 'text', 'notes.html': 'mine',
    f'{VERSION}/frontend_bundle.js': 'let x;' * 40000, f'{VERSION}/engine_bundle.js': 'let y;',
    f'{VERSION}/trace_processor.wasm': '\0asm', f'{VERSION}/perfetto.css': 'a {}', f'{VERSION}/stdlib_docs.json': '[]',
    f'{VERSION}/assets/brand.png': 'png', f'{VERSION}/assets/a.woff2': 'font', f'{VERSION}/assets/deep/b.svg': 'svg',
    'private/notes.js': 'secret', f'{VERSION}/secret.txt': 'secret', f'{VERSION}/noending': 'secret',
}


def make_ui_build(root):
    """The build, with two links in it that lead out of it."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root.parent / 'outside.js').write_text('outside')
    os.symlink(root.parent / 'outside.js', root / VERSION / 'out.js')
    os.symlink('/etc', root / VERSION / 'etc')
    return root
