"""Hooks of mkdocs.yml: pages outside of docs/ become pages of the site, man pages get titles, and links follow.

The files themselves stay readable where they are: on a repository's host, and by pandoc."""
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md', 'examples/first_profile/README.md',
           'tests/README.md', 'tests/recorded/README.md', 'tests/data/README.md']
LINK = re.compile(r'(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)')
FENCE = re.compile(r'^( *)```.*?^\1```', re.M | re.S)


def on_files(files, config):
    for path in OUTSIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def source_of(page):
    """The page's file, from the root of the repository."""
    return page if page in OUTSIDE else f'docs/{page}'


def link_on_site(match, page, files):
    image, text, target, anchor = match.groups()
    if re.match(r'[a-z]+:', target):
        return match[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), target))
    on_site = path if path in OUTSIDE else path.removeprefix('docs/')
    if files.get_file_from_path(on_site) is None:
        if (path.startswith('docs/') and path != 'docs/man') or not (ROOT / path).exists():
            return match[0]  # mkdocs reports it
        if path == 'docs/man':
            on_site = 'man/view_profile.1.md'
        else:
            return f'`{path}`'  # a file of the repository that is no page
    return f'{image}[{text}]({posixpath.relpath(on_site, posixpath.dirname(page) or ".")}{anchor or ""})'


def on_page_markdown(markdown, page, config, files):
    path = page.file.src_uri
    if path.startswith('man/'):  # pandoc's title block, and a level of headings for the title
        name = Path(path).name.removesuffix('.1.md').replace('view_profile-', 'view_profile ')
        body = re.sub(r'^# ', '## ', re.sub(r'\A%.*\n', '', markdown), flags=re.M)
        also = '' if path != 'man/view_profile.1.md' else '\n\n## PAGES\n\n' + '\n'.join(
            f'* [{Path(file.src_uri).name.removesuffix(".1.md").replace("-", " ", 1)}]({Path(file.src_uri).name})'
            for file in files.documentation_pages() if file.src_uri.startswith('man/') and file.src_uri != path)
        return f'# {name}\n{body}{also}'
    parts, at = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(lambda m: link_on_site(m, path, files), markdown[at:fence.start()]), fence[0]]
        at = fence.end()
    return ''.join(parts) + LINK.sub(lambda m: link_on_site(m, path, files), markdown[at:])
