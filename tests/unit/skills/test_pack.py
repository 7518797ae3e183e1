"""The exported skills hold all of the catalogue, and only what exists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.catalog import load
from firstcause.catalog.defects import load_defects
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.sayings import excuses, misbeliefs, red_flags
from firstcause.catalog.specialists import ROUTES
from firstcause.check.pages import titles
from firstcause.cli.main import VERBS, main
from firstcause.errors import InputError
from firstcause.hook.settings import SETTINGS
from firstcause.skills.counted import counted
from firstcause.skills.knowledge import load_skills
from firstcause.skills.pack import plugin_files, skill_files, write
from firstcause.skills.rules import LONGEST_DESCRIPTION, skill_faults

NAMES = [skill.name for skill in load_skills().values()]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    write(plugin_files(), str(folder), replace=False)
    return folder


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def test_nothing_is_below_its_least_number() -> None:
    assert [row for row in counted() if row.found < row.least] == []
    assert len(counted()) > 40


def test_each_specialist_has_a_skill() -> None:
    assert {skill.slug for skill in load_skills().values()} == {"firstcause", "systematic-debugging", *ROUTES}


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_follows_the_published_rules(exported: Path, name: str) -> None:
    assert skill_faults(str(exported / "skills" / name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_validator_agrees(exported: Path, name: str) -> None:
    validator = shutil.which("agentskills")
    if validator is None:
        pytest.skip("skills-ref is not installed")
    done = subprocess.run([validator, "validate", exported / "skills" / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("skill", load_skills().values(), ids=NAMES)
def test_a_description_tells_when_and_not_how(skill: object) -> None:
    description = skill.description  # type: ignore[attr-defined]
    assert description.startswith("Use when ")
    assert not re.search(r"\b(first|then|steps?:|firstcause (run|diagnose)|hypothes|approve)", description)


def test_every_saying_of_the_catalogue_stands_in_a_skill() -> None:
    text = "\n".join(text for path, text in skill_files().items() if path.endswith(".md"))
    missing = [s for s, e in excuses().items() if f"| {cell(e.says)} | {cell(e.counter)} |" not in text]
    missing += [
        s
        for s, f in red_flags().items()
        if f"| {cell(f.sign)} | {cell(f.reality)} | {cell(f.instead)} |" not in text
    ]
    missing += [s for s, m in misbeliefs().items() if f"| {cell(m.claim)} | {cell(m.fact)} |" not in text]
    assert missing == []


def test_every_cause_and_pattern_stands_with_its_specialist() -> None:
    files = skill_files()
    for cause in load().values():
        folder = f"firstcause-{cause.specialist}"
        assert f"- `{cause.slug}`: {cause.title}\n" in files[f"{folder}/SKILL.md"]
        assert f"\n- Refuted by: {' '.join(cause.refutes)}\n" in files[f"{folder}/references/causes.md"]
    for pattern in load_patterns().values():
        if pattern.specialist != "dry-debugging":
            page = files[f"firstcause-{pattern.specialist}/references/patterns.md"]
            assert all(f"\n- Gather: {text}\n" in page for text in pattern.gather)


def test_every_command_is_one_of_ours() -> None:
    for path, text in skill_files().items():
        for verb, rest in re.findall(r"firstcause ([a-z]+(?:-[a-z]+)*)([^`\n]*)`", text):
            assert verb in VERBS, f"{path}: firstcause {verb}{rest}"


@pytest.mark.parametrize("skill", load_skills().values(), ids=NAMES)
def test_every_command_of_a_skill_is_understood(skill: object, capsys: pytest.CaptureFixture[str]) -> None:
    for command, _ in skill.commands:  # type: ignore[attr-defined]
        words = command.split()[1:]
        wanted = [word for word in words if word.startswith("--")]
        assert main([words[0], *(words[1:2] if words[0] in ("case", "skills") else []), "--help"]) == 0
        shown = capsys.readouterr().out
        assert [option for option in wanted if option not in shown and words[0] != "run"] == [], command


def test_every_tool_is_one_of_the_servers() -> None:
    tools = {
        path.stem for path in (Path(main.__code__.co_filename).parents[1] / "mcp" / "tools").glob("*.py")
    }
    used = {tool for skill in load_skills().values() for tool in skill.tools}
    assert used <= tools - {"__init__"}
    assert {"open_case", "verify_fix"} <= used


def test_every_link_leads_to_an_entry() -> None:
    known = {*load(), *load_patterns(), *load_defects(), *titles(), *ROUTES}
    for path, text in skill_files().items():
        for slug in re.findall(r"`firstcause explain ([a-z0-9-]+)`", text):
            assert slug in known, f"{path}: {slug}"


def test_every_skill_that_is_named_exists() -> None:
    for path, text in skill_files().items():
        for name in re.findall(r"\bfirstcause-[a-z]+(?:-[a-z]+)*", text):
            assert name in NAMES or name == "firstcause-version", f"{path}: {name}"


def test_tables_are_whole() -> None:
    for path, text in skill_files().items():
        width = 0
        for line in text.split("\n"):
            bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            assert bars in (0, width) or width == 0, f"{path}: {line}"
            width = bars


def test_the_plugin_has_the_hook_and_the_tools() -> None:
    files = plugin_files()
    manifest = json.loads(files[".claude-plugin/plugin.json"])
    assert manifest["name"] == "firstcause"
    assert json.loads(files["hooks/hooks.json"])["hooks"] == SETTINGS["claude"][1]["hooks"]
    assert json.loads(files[".mcp.json"])["mcpServers"]["firstcause"] == {
        "command": "firstcause",
        "args": ["mcp"],
    }


def test_other_texts_are_not_written_over(tmp_path: Path) -> None:
    files = {"a/SKILL.md": "one\n", "b/SKILL.md": "two\n"}
    assert write(files, str(tmp_path), replace=False) == ["a/SKILL.md", "b/SKILL.md"]
    assert write(files, str(tmp_path), replace=False) == []
    (tmp_path / "b" / "SKILL.md").write_text("mine\n")
    (tmp_path / "a" / "SKILL.md").unlink()
    with pytest.raises(InputError, match=r"1 of these files with another text, such as b/SKILL.md"):
        write(files, str(tmp_path), replace=False)
    assert not (tmp_path / "a" / "SKILL.md").exists()
    assert write(files, str(tmp_path), replace=True) == ["a/SKILL.md", "b/SKILL.md"]
    assert (tmp_path / "b" / "SKILL.md").read_text() == "two\n"


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        write({"a": "x"}, str(tmp_path / "file"), replace=False)
    assert caught.value.slug == "skills-unwritable"


GOOD = "---\nname: good\ndescription: Use when it fails.\n---\n\n# Good\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# No front matter\n", "no front matter"),
        (GOOD.replace("name: good", "name: Good"), "is not of small letters"),
        (GOOD.replace("name: good", "name: other"), "is not the folder's name"),
        (GOOD.replace("name: good", "name: go--od"), "is not of small letters"),
        (GOOD.replace("Use when it fails.", "x" * (LONGEST_DESCRIPTION + 1)), "1025 characters"),
        (GOOD.replace("description: Use when it fails.\n", ""), "description is missing"),
        (GOOD.replace("---\n\n", "hooks: yes\n---\n\n"), "unknown field 'hooks'"),
        (GOOD.replace("---\n\n", "metadata:\n  n: 1\n---\n\n"), "metadata is no table of texts"),
        (GOOD + "line\n" * 500, "the body has 502 lines"),
        (GOOD + "x" * 20_001, "characters, and 20000"),
        (GOOD + "[a](a/b/c.md)\n", "deeper than one level"),
        (GOOD + "[a](a/b.md)\n", "a/b.md does not exist"),
        (GOOD.replace("name: good", "name: [good"), "is no YAML"),
    ],
)
def test_what_breaks_a_rule_is_named(tmp_path: Path, text: str, fault: str) -> None:
    folder = tmp_path / "good"
    folder.mkdir()
    (folder / "SKILL.md").write_text(GOOD)
    assert skill_faults(str(folder)) == []
    (folder / "SKILL.md").write_text(text)
    assert any(fault in one for one in skill_faults(str(folder))), skill_faults(str(folder))


def test_the_command_exports_counts_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skills", "export", str(tmp_path / "out"), "--only-skills"]) == 0
    assert "12 skills in" in capsys.readouterr().out
    assert not (tmp_path / "out" / ".mcp.json").exists()
    assert main(["skills", "check", str(tmp_path / "out")]) == 0
    (tmp_path / "out" / "firstcause" / "SKILL.md").write_text("nothing\n")
    assert main(["skills", "check", str(tmp_path / "out")]) == 1
    assert main(["skills", "export", str(tmp_path / "out"), "--only-skills"]) == 2
    assert main(["skills", "count"]) == 0


def test_exporting_needs_neither_torch_nor_the_sdk() -> None:
    code = "import sys; from firstcause.skills.pack import plugin_files; plugin_files(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "numpy", "mcp", "pydantic"} & set(done.stdout.split())
