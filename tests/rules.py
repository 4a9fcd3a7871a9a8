"""The rules of `view_profile findings`, for every suite in Python: what docs/findings.md says of them, which
tests/cli/test_docs.py holds to the program's table."""
import pathlib
import re
import typing

PAGE = pathlib.Path(__file__).resolve().parents[1] / 'docs' / 'findings.md'


class Rule(typing.NamedTuple):
    id: str
    name: str
    text: str  # its section of the page
    host: bool  # asked of programs without a device, and of no other


def parse(page):
    """In the order in which rules claim time. Wrapped list items are joined into one line each."""
    page = re.sub(r'\n  (?=\S)', ' ', page)
    return [Rule(*re.match(r'(F\d+) ([a-z-]+): ', text).groups(), text, 'a program without devices' in text)
            for text in re.split(r'^### ', page, flags=re.M)[1:]]


RULES = parse(PAGE.read_text(encoding='utf-8'))
ORDER = [rule.id for rule in RULES]
HOST_RULES = {rule.id for rule in RULES if rule.host}
TORCH_RULES = {rule.id for rule in RULES if re.search('(?<!or )operators of PyTorch', rule.text)}  # of no other program
DEVICE_RULES = set(ORDER) - HOST_RULES
