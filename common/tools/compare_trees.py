#!/usr/bin/env python3
"""compare_trees.py BEFORE AFTER - after files were moved, do both trees print and compile to the same?

Both are folders of the course after `make all build-tests` with one compiler. It compares, regardless of folders:

  blocks    programs' output on the pages (which make docs-check verifies)
  code      the machine code of every chapter object, function by function, in any order
  tables    registers and instructions of the kernels (*.txt in a chapter)
  mistakes  the wrong versions: their headers, with the test that rejects them, and the files they make

Prints the differences, then a line of counts. Exits with 1 if anything differs, 2 for an unusable folder.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

PATH = re.compile(r'(?:[\w.\-]+/)+(?=[\w.\-])')


def fail(text):
    print(f'compare_trees.py: {text}', file=sys.stderr)
    sys.exit(2)


def plain(text):
    return PATH.sub('', text)


def find(tree, *endings):
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if f not in ('.git', 'build'))
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.join(folder, name)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def chapter_of(tree, path):
    return os.path.relpath(path, tree).split(os.sep)[0]


def blocks(tree):
    found = collections.Counter()
    for page in find(tree, '.md', '.html'):
        for command, text in re.findall(r'^<!-- \w+: ([^\n]*) -->\n(.*?)^<!-- end -->', read(page), re.M | re.S):
            found[plain(command), plain(text)] += 1
    return found


def functions(path):
    said = subprocess.run(['objdump', '-dr', '--no-show-raw-insn', path], check=True, stdout=subprocess.PIPE, text=True).stdout
    said = re.sub(r'^\s*[0-9a-f]+:\s*', '', said, flags=re.M)              # address
    said = re.sub(r'\b[0-9a-f]+ (<[^>]*>)', r'\1', said)                  # jump target
    said = re.sub(r'\s*# .*', '', said)
    said = re.sub(r'(\.(?:LC|rodata|data|bss|text))[\w.]*[+-]0x[0-9a-f]+', r'\1', said)  # constant
    said = re.sub(r'(call|jmp) .*\n(R_)', r'\1\n\2', said)                # the next line has the callee
    said = re.sub(r'0x[0-9a-f]+\(%rip\)', '(%rip)', said)                # distance to another function
    padding = re.compile(r'(?:\n(?:(?:cs |data16 )*nop[wl]?\b.*|xchg   %ax,%ax))+$')
    return tuple(sorted(padding.sub('', part.rstrip()) for part in re.split(r'\n\n', said.split('file format', 1)[1])[1:]))


def code(tree):
    objects = os.path.join(tree, 'build', 'obj')
    if not os.path.isdir(objects):
        fail(f'{tree}: expected a tree that is built, with objects in build/obj')
    found = collections.Counter()
    for folder, _, names in os.walk(objects):
        parts = os.path.relpath(folder, objects).split(os.sep)
        variant = parts.pop(0) if parts[0] in ('cpu', 'instrumented', 'watched') else ''
        if not parts or not re.match(r'0\d_', parts[0]) or 'tests' in parts:
            continue
        for name in sorted(names):
            if name.endswith('.o'):
                found[parts[0], variant, name, functions(os.path.join(folder, name))] += 1
    return found


def tables(tree):
    return collections.Counter((chapter_of(tree, p), os.path.basename(p), plain(read(p)))
                               for p in find(tree, '.txt') if re.match(r'0\d_', chapter_of(tree, p)))


def mistakes(tree):
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as work:
        for path, entry in ((p, e) for p in find(tree, 'mistakes.txt') for e in re.split('(?m)^(?=Name: )', read(p))[1:]):
            head = re.sub(r'^(File: |[-+ ]).*\n', '', entry, flags=re.M)
            wrong = []
            for name in re.findall(r'^File: (\S+)', entry, re.M):
                copy = os.path.join(work, name)
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copyfile(os.path.join(tree, name), copy)
                wrong.append(copy)
            subprocess.run(['awk', '-f', 'common/tools/mistakes.awk', 'apply', work, path, head.split()[1]], check=True)
            text = '\n'.join('\n'.join(sorted_includes(plain(read(copy)))) for copy in wrong)
            found[chapter_of(tree, path), os.path.basename(path), plain(head), (text,)] += 1
    return found


def sorted_includes(text):
    """The lines of a text, includes first and sorted: their order depends on folders."""
    lines = text.split('\n')
    included = [line for line in lines if line.startswith('#include')]
    return sorted(set(included)) + [line for line in lines if line and not line.startswith('#include')]


def name_of(key):
    return ' '.join(str(part).strip().split('\n')[0][:90] for part in key if not isinstance(part, tuple))


def main(before, after):
    differ = False
    for what in (blocks, code, tables, mistakes):
        old, new = what(before), what(after)
        for sign, keys in (('-', old - new), ('+', new - old)):
            for key in sorted(keys, key=str):
                print(f'{sign} {what.__name__}: {name_of(key)}')
                differ = True
        print(f'{what.__name__}: {sum((old & new).values())} the same, {sum((old - new).values())} only before, '
              f'{sum((new - old).values())} only after')
    sys.exit(1 if differ else 0)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        fail('expected two folders: the course before and after')
    for tree in sys.argv[1:]:
        if not os.path.isfile(os.path.join(tree, 'Makefile')):
            fail(f'{tree}: expected a folder of the course')
    main(*sys.argv[1:])
