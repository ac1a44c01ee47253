# SPDX-License-Identifier: Apache-2.0
# Names of any bytes for tests/names.bats, and the check that each format keeps them.
#   names.py make K IN OUT     puts the K-th name into the placeholders @@@... of IN
#   names.py file K            prints the K-th name as the name of a file, without '/'
#   names.py json|yaml K FILE...      a parser must find the K-th name in each file
#   names.py bytes K FILE...   the bytes of the name must be in each file
#   names.py plain FILE...     no byte that a terminal obeys
import json
import re
import sys

LENGTH = 180  # of a placeholder
OBEYED = '[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]'


def names():
    every = [bytes(range(1, 128)), bytes(range(128, 256))]
    texts = 'Ä\u009bΩ\u0085漢\u202e\u2066\u2028😀\u200f\ufeff\u061c"\\${x}: #<b>&amp;\'|null'
    every.append(texts.encode() + b'\xe2\x80\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xef\xbf\xbf')
    # keys of a graph, of JSON and of YAML; blanks at both ends
    every.append(b' x" in=t0 #"}, {"y": 1\n- z: !!python \t')
    return [(n + b'_' * LENGTH)[:LENGTH] for n in every]


def same(text):
    """Decoders replace a broken sequence by one or several U+FFFD."""
    return re.sub('[\ufffd\ufffe\uffff]+', '\ufffd', text)


def strings(value):
    if isinstance(value, str):
        yield same(value)
    elif isinstance(value, dict):
        for k, v in value.items():
            yield same(str(k))
            yield from strings(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)


def parse(kind, data):
    if kind == 'json':
        return json.loads(data.decode('utf-8'))
    import yaml
    return yaml.safe_load(data.decode('utf-8'))


def main(kind, *args):
    if kind == 'plain':
        for name in args:
            text = open(name, 'rb').read().decode('utf-8')
            bad = re.search(OBEYED, re.sub('[\n\t]', '', text))
            if bad:
                sys.exit(f'{name}: {bad.group()!r} in {text[max(0, bad.start() - 60):][:120]!r}')
        return
    name = names()[int(args[0])]
    if kind == 'make':
        data = open(args[1], 'rb').read()
        open(args[2], 'wb').write(re.sub(b'@{%d}' % LENGTH, lambda m: name, data))
    elif kind == 'file':
        sys.stdout.buffer.write(name.replace(b'/', b'%'))
    elif kind == 'bytes':
        for f in args[1:]:
            if name not in open(f, 'rb').read():
                sys.exit(f'{f}: the bytes of the name are not in it')
    else:
        want = same(name.decode('utf-8', 'replace'))
        for f in args[1:]:
            found = list(strings(parse(kind, open(f, 'rb').read())))
            if not any(want in s for s in found):
                sys.exit(f'{f}: no string has the name {want!r}: {found[:20]}')


main(*sys.argv[1:])
