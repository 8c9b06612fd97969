# SPDX-License-Identifier: BSD-3-Clause
"""Lists cmocka tests that cannot fail: functions that neither assert nor call a function that does,
in the same file, in a header or in test/support. Also lists skip() without a printed reason.

proofs.py FOLDER    the folder test/ of a tree; prints one line per finding; exit status 1 if any
"""
import pathlib
import re
import sys

FUNCTION = re.compile(r"^(?:[a-zA-Z_][^;{}=#]*?)\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.M | re.S)
ASSERTS = re.compile(r"\b(?:assert\w*|fail|fail_msg|abort|skip)\s*\(")
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
MACRO = re.compile(r"#define\s+(\w+)\((?:[^\n]*\\\n)*[^\n]*")
TEST = re.compile(r"\b(?:cmocka_unit_test\w*|TEST|CASE)\(\s*(\w+)")
REASON_LINES = 5  # lines above skip() among which its reason must be printed


def code_of(path):
    """Returns the text without comments and strings, with the same lines."""
    text = path.read_text()
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


class Source:
    def __init__(self, path):
        code = code_of(path)
        self.path = path
        self.bodies = {m[1]: m[2] for m in FUNCTION.finditer(code)}
        self.lines = {m[1]: code.count("\n", 0, m.start(1)) + 1 for m in FUNCTION.finditer(code)}
        self.bodies.update({m[1]: m[0].split(m[1], 1)[1] for m in MACRO.finditer(code)})
        self.tests = set(TEST.findall(code)) & set(self.lines)


def proves(body, source, shared, seen):
    if ASSERTS.search(body):
        return True
    for name in set(CALL.findall(body)) - seen:
        inner = source.bodies.get(name) or shared.get(name)
        if inner and proves(inner, source, shared, seen | {name}):
            return True
    # A function may be passed by reference, for example to a thread.
    for name in set(re.findall(r"\b(\w+)\b", body)) & set(source.lines) - seen:
        if proves(source.bodies[name], source, shared, seen | {name}):
            return True
    return False


def reasonless(path):
    lines = path.read_text().split("\n")
    for i, line in enumerate(lines):
        if line.strip() == "skip();":
            if "skipped: " not in "\n".join(lines[max(0, i - REASON_LINES):i]):
                yield i + 1


def main():
    root = pathlib.Path(sys.argv[1])
    shared = {}
    for path in [*root.glob("support/**/*.[ch]"), *root.glob("*/*.h")]:
        shared.update(Source(path).bodies)
    tests = findings = 0
    for path in sorted([*root.glob("unit/*.[ch]"), *root.glob("sim/*.[ch]")]):
        source = Source(path)
        tests += len(source.tests)
        for name in sorted(source.tests):
            if not proves(source.bodies[name], source, shared, {name}):
                print(f"{path}:{source.lines[name]}: {name} asserts nothing")
                findings += 1
        for line in reasonless(path):
            print(f"{path}:{line}: print \"skipped: REASON\" before skip()")
            findings += 1
    print(f"{tests} tests, {findings} findings")
    sys.exit(1 if findings or not tests else 0)


main()
