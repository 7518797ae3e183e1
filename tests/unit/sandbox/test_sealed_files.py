"""Python's own writers in a sealed child: they see what they wrote, and nobody else does."""

from __future__ import annotations


def test_modes_of_open(split):
    seen = split(
        """
        with open("a.txt", "a") as file:
            file.write("beta\\n")
        with open("a.txt", "r+") as file:
            file.write("ALPHA")
        with open("new.txt", "x") as file:
            seen["name"] = file.name
        with open("data/one", "w") as file:
            pass
        seen["a"] = open("a.txt").read()
        seen["one"] = open("data/one").read(), os.path.getsize("data/one")
        seen["two"] = open("data/deep/two").read()
        seen["absolute"] = open(os.path.abspath("a.txt")).read()
        """,
        before="import os",
    ).seen
    assert seen["a"] == seen["absolute"] == "ALPHA\nbeta\n"
    assert seen["one"] == ["", 0]
    assert seen["two"] == "2"
    assert seen["name"] == "new.txt"


def test_atomic_save(split):
    seen = split(
        """
        with open("a.txt.tmp", "wb") as file:
            file.write(b"second")
            file.flush()
            os.fsync(file.fileno())
        os.replace("a.txt.tmp", "a.txt")
        seen.update(content=open("a.txt").read(), names=sorted(os.listdir()), gone=os.path.exists("a.txt.tmp"))
        """,
        before="import os",
    ).seen
    assert seen == {"content": "second", "names": ["a.txt", "data"], "gone": False}


def test_rmtree_and_made_again(split):
    seen = split(
        """
        shutil.rmtree("data")
        seen["gone"] = os.path.exists("data"), os.path.exists("data/deep/two"), os.listdir()
        os.makedirs("data/fresh")
        seen["again"] = os.listdir("data"), os.path.exists("data/deep/two")
        shutil.copytree("data", "copy")
        shutil.move("a.txt", "copy/a")
        seen["walk"] = [[p, sorted(d), sorted(f)] for p, d, f in sorted(os.walk("."))]
        """,
        before="import os, shutil",
    ).seen
    assert seen["gone"] == [False, False, ["a.txt"]]
    assert seen["again"] == [["fresh"], False]
    assert seen["walk"] == [
        [".", ["copy", "data"], []],
        ["./copy", ["fresh"], ["a"]],
        ["./copy/fresh", [], []],
        ["./data", ["fresh"], []],
        ["./data/fresh", [], []],
    ]


def test_pathlib_glob_and_tempfile(split):
    seen = split(
        """
        Path("data/three").write_text("3")
        Path("data/one").unlink()
        seen["glob"] = sorted(glob.glob("data/**", recursive=True)), sorted(map(str, Path("data").rglob("*")))
        seen["pathlib"] = Path("data/three").read_text(), Path("data/one").exists(), Path("data/three").stat().st_size
        with tempfile.TemporaryDirectory() as made:
            Path(made, "x").write_text("x")
            seen["temporary"] = os.listdir(made)
        seen["removed"] = os.path.exists(made)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("named")
            file.flush()
            seen["named"] = open(file.name).read()
        with tempfile.TemporaryFile() as file:
            file.write(b"x")
            seen["unnamed"] = file.tell()
        """,
        before="import glob, os, tempfile; from pathlib import Path",
    ).seen
    assert seen["glob"][0] == ["data/", "data/deep", "data/deep/two", "data/three"]
    assert seen["glob"][1] == ["data/deep", "data/deep/two", "data/three"]
    assert seen["pathlib"] == ["3", False, 1]
    assert (seen["temporary"], seen["removed"], seen["named"], seen["unnamed"]) == (["x"], False, "named", 1)


def test_functions_that_were_taken_by_name(split):
    seen = split(
        """
        with own_open("taken", "w") as file:
            file.write("taken")
        rename("taken", "renamed")
        seen["content"], seen["size"] = own_open("renamed").read(), stat("renamed").st_size
        class Holder:
            opening = open
        seen["held"] = Holder().opening("renamed").read()
        """,
        before="""
        from builtins import open as own_open
        from os import rename, stat
        """,
    ).seen
    assert seen == {"content": "taken", "size": 5, "held": "taken"}


def test_a_function_that_nobody_could_replace_is_refused(split):
    seen = split(
        """
        for way in (lambda: kept[0]("a.txt", "w"), lambda: io.FileIO("a.txt", "w"), lambda: kept[1]("a.txt")):
            try:
                way()
            except SealError as error:
                seen.setdefault("refused", []).append([error.slug, error.message])
        seen["reading"] = kept[0]("a.txt").read()
        """,
        before="import io, os; from firstcause.errors import SealError; kept = [open, os.unlink]",
    ).seen
    assert [slug for slug, _ in seen["refused"]] == ["seal-write"] * 3
    assert seen["refused"][0][1] == "it writes the file a.txt by a way that is not led to the scratch folder"
    assert seen["reading"] == "alpha\n"


def test_logging(split):
    seen = split(
        """
        log.warning("second")
        handler = logging.FileHandler("other.log")
        log.addHandler(handler)
        log.warning("third")
        seen["other"] = open("other.log").read()
        """,
        before="""
        import logging
        log = logging.getLogger("program")
        log.addHandler(logging.FileHandler("run.log"))
        log.warning("first")
        """,
        after="after['log'] = open('run.log').read()",
    )
    assert seen.seen["other"] == "third\n"
    assert seen.after["log"] == "first\n"


def test_symbolic_links(split, folder):
    (folder / "latest").symlink_to("data/one")
    (folder / "folder").symlink_to(folder / "data")
    seen = split(
        """
        with open("latest", "w") as file:
            file.write("through the link")
        open("folder/three", "w").close()
        seen["through"] = open("data/one").read(), sorted(os.listdir("data")), sorted(os.listdir("folder"))
        os.remove("latest")
        os.symlink("a.txt", "latest")
        os.symlink("data", "second")
        seen["again"] = open("latest").read(), os.readlink("latest"), os.path.islink("latest"), sorted(os.listdir("second"))
        seen["real"] = os.path.realpath("second/three") == os.path.abspath("data/three")
        """,
        before="import os",
    ).seen
    assert seen["through"] == ["through the link", ["deep", "one", "three"], ["deep", "one", "three"]]
    assert seen["again"] == ["alpha\n", "a.txt", True, ["deep", "one", "three"]]
    assert seen["real"]


def test_changing_the_working_directory(split):
    seen = split(
        """
        top = os.getcwd()
        os.makedirs("made/here")
        os.chdir("made/here")
        open("file", "w").close()
        seen["here"] = os.path.relpath(os.getcwd(), top), os.listdir("."), open("../../a.txt").read()
        os.chdir("../../data")
        seen["data"] = os.path.relpath(os.getcwd(), top), sorted(os.listdir())
        """,
        before="import os",
    ).seen
    assert seen["here"] == ["made/here", ["file"], "alpha\n"]
    assert seen["data"] == ["data", ["deep", "one"]]


def test_attributes_of_files_that_are_open_or_named(split):
    seen = split(
        """
        os.fchmod(reader.fileno(), 0o777)
        os.utime(reader.fileno(), (1, 1))
        os.chmod("a.txt", 0o600)
        os.utime("data/one", (5, 5))
        seen["mode"], seen["time"] = os.stat("a.txt").st_mode & 0o777, os.stat("data/one").st_mtime
        os.truncate("a.txt", 2)
        os.link("a.txt", "hard")
        seen["content"] = open("hard").read()
        """,
        before="import os; reader = open('data/deep/two')",
    ).seen
    assert seen == {"mode": 0o600, "time": 5, "content": "al"}


def test_devices_stay_what_they_are(split):
    seen = split(
        """
        for path in ("/dev/null", "/dev/stdout", "/proc/self/fd/2"):
            with open(path, "w") as file:
                file.write("x\\n")
        with open("/dev/full", "wb", buffering=0) as file:
            try:
                file.write(b"x")
            except OSError as error:
                seen["full"] = error.errno
        seen["zero"] = open("/dev/zero", "rb").read(2).hex()
        """,
        before="import os",
    )
    assert seen.seen == {"full": 28, "zero": "0000"}
    assert seen.stdout == seen.stderr == ""


def test_a_file_too_large_to_copy_is_refused(split, folder):
    with open(folder / "huge", "wb") as file:
        file.truncate(2 << 30)
    seen = split(
        """
        try:
            open("huge", "r+b")
        except SealError as error:
            seen["refused"] = error.slug, "2147483648 bytes" in error.message
        open("huge", "wb").close()
        seen["size"] = os.path.getsize("huge")
        """,
        before="""
        import os
        from firstcause.errors import SealError
        _folder = lambda top: [os.stat("huge").st_size, os.stat("huge").st_mtime_ns]
        """,
    ).seen
    assert seen == {"refused": ["seal-copy", True], "size": 0}
