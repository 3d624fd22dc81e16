"""What the place that hosts the repository reads: workflow, templates, SECURITY.md."""

import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
yaml: Any = importlib.import_module("yaml")
FORMS = sorted(
    path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"
)


def test_the_workflow_runs_what_ci_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert ".ci/run" in [step.get("run") for step in steps]
    assert workflow["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("form", FORMS, ids=[form.stem for form in FORMS])
def test_a_form_asks_at_least_one_thing_that_is_needed(form: Path) -> None:
    fields = yaml.safe_load(form.read_text("utf-8"))
    assert {"name", "description", "body"} <= fields.keys()
    asked = [field for field in fields["body"] if field["type"] != "markdown"]
    assert any(field.get("validations", {}).get("required") for field in asked)
    assert len({field["id"] for field in asked}) == len(asked)


def test_there_is_a_way_to_report_a_fault_of_security() -> None:
    assert "## Report a fault" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert "SECURITY.md" in (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text("utf-8")


def test_no_page_or_module_holds_the_marks_of_a_merge() -> None:
    """In a page nothing else notices them: a table is broken, and that is all."""
    texts = [
        path
        for folder in ("docs", "src", "bench", "tools", "deploy", "plugins", "demo")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".py", ".sh", ".sql", ".js", ".ts", ".css", ".yml", ".json", ".toml"}
    ] + list(ROOT.glob("*.md"))
    marks = ("<" * 7 + " ", ">" * 7 + " ")
    assert len(texts) > 400
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in texts
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if line.startswith(marks)
    ] == []
