"""Random operations on files, sealed and for real."""

from __future__ import annotations

import pytest

OPERATIONS = """
import errno, os, random, shutil
names = [
    "a.txt", "data", "data/one", "data/deep", "data/deep/two", "b", "b/c", "b/c/d", "data/x", "link", "../project/a.txt",
]
def text(path):
    with open(path) as file:
        return file.read()
def put(mode):
    def write(path):
        with open(path, mode) as file:
            file.write(mode)
        return file.name
    return write
def low(flags):
    def opening(path):
        descriptor = os.open(path, flags, 0o644)
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
    return opening
def at(path):
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        names = sorted(os.listdir(folder))
        os.unlink(os.path.basename(path), dir_fd=folder)
        return names
    finally:
        os.close(folder)
def copy_tree(source, target):
    # Into itself, a tree would be copied without an end.
    inside = os.path.realpath(target).startswith(os.path.realpath(source) + "/")
    return None if inside else shutil.copytree(source, target)
def play(seed):
    one = [
        text, put("w"), put("a"), put("x"), put("r+"), os.mkdir, os.remove, os.rmdir, os.path.exists, os.path.isdir,
        os.path.isfile, os.path.islink, os.path.lexists, os.path.getsize, shutil.rmtree, os.makedirs, at, os.readlink,
        lambda p: sorted(os.listdir(p)),
        lambda p: sorted((e.name, e.is_dir(), e.is_file(), e.is_symlink()) for e in os.scandir(p)),
        lambda p: os.truncate(p, 1), lambda p: os.access(p, os.W_OK), lambda p: os.chmod(p, 0o750),
        low(os.O_RDONLY), low(os.O_RDWR), low(os.O_WRONLY | os.O_CREAT | os.O_EXCL),
        low(os.O_RDWR | os.O_CREAT | os.O_TRUNC),
    ]
    two = [os.rename, os.replace, os.symlink, os.link, shutil.copyfile, copy_tree, shutil.move]
    chance, log = random.Random(seed), []
    for number in range(400):
        operation = chance.choice(one if chance.random() < 0.75 else two)
        paths = [chance.choice(names) for _ in range(2 if operation in two else 1)]
        try:
            result = operation(*paths)
            if operation in (os.path.getsize,) and os.path.isdir(paths[0]):
                result = "folder"
        except OSError as error:
            named = "descriptor" if isinstance(error.filename, int) else str(error.filename)
            result = [type(error).__name__, error.errno, named, str(error.filename2)]
        except shutil.Error as error:
            result = "shutil.Error"
        log.append([one.index(operation) if operation in one else two.index(operation) + 100, paths, result])
    log.append(sorted([p, sorted(d), sorted(f)] for p, d, f in os.walk(".")))
    return _j.loads(_j.dumps(log))
"""


@pytest.mark.parametrize("seed", range(6))
def test_any_sequence_of_operations_gives_what_the_real_file_system_gives(split, seed):
    """The same operations, first sealed and then for real: every result and every error is the same."""
    result = split(
        f"seen['log'] = play({seed})",
        before=OPERATIONS,
        after=f"after['log'] = play({seed})",
    )
    sealed, real = result.seen["log"], result.after["log"]
    for number, (ours, theirs) in enumerate(zip(sealed, real, strict=True)):
        assert ours == theirs, f"operation {number} after {real[max(0, number - 20) : number]}"
