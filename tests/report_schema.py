"""Validates the JSON documents of view_profile against share/view_profile/*.schema.json.

The published schemas allow keys that they do not list, because later releases add some. The tests use a strict form of
them, so that a key without a description fails."""
import functools
import json
import pathlib

import jsonschema

SCHEMAS = pathlib.Path(__file__).resolve().parents[1] / 'share' / 'view_profile'
parse = json.loads  # not the one of watch()


def published(name):
    return parse((SCHEMAS / f'{name}.schema.json').read_text())


def names():
    return sorted(path.name.removesuffix('.schema.json') for path in SCHEMAS.glob('*.schema.json'))


def strict(schema):
    """The schema without unknown keys."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if 'properties' in schema and 'type' in schema:  # not the condition of "if"
        made['additionalProperties'] = False
    return made


@functools.lru_cache(maxsize=None)
def validators():
    """By the value of the key "schema"."""
    made = {}
    for name in names():
        schema = published(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        made[schema['properties']['schema']['const']] = jsonschema.Draft202012Validator(strict(schema))
    return made


def is_described(document):
    return isinstance(document, dict) and isinstance(document.get('schema'), str) and document['schema'] in validators()


def faults(document):
    """["ops/3/calls: -1 is less than the minimum of 0", …]"""
    errors = validators()[document['schema']].iter_errors(document)
    return ['/'.join(map(str, error.absolute_path)) + ': ' + error.message[:300]
            for error in (jsonschema.exceptions.best_match([error]) for error in errors)]  # the innermost of "anyOf"


def check(document):
    found = faults(document)
    assert not found, f'{document["schema"]}: {len(found)} violations of the schema: ' + '; '.join(found[:5])


def check_text(text):
    """Validates a text if it is a document that has a schema."""
    try:
        document = parse(text)
    except ValueError:
        return
    if is_described(document):
        check(document)


def watch():
    """Validates each document that this process parses with json.loads or json.load."""
    if json.loads is not parse:
        return

    @functools.wraps(parse)
    def loads(text, **options):
        document = parse(text, **options)
        if is_described(document):
            check(parse(text) if options else document)
        return document

    json.loads = loads
