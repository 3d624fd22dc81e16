"""The vault in docs/ is what a day of ten sessions on three projects makes, and a person could keep it."""

import re
import subprocess
import sys
from pathlib import Path

from backstory.knowledge.lint_checks import lint_vault
from backstory.knowledge.vault import Vault

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "example-vault"


def test_the_example_is_what_real_hooks_and_a_worker_make_of_that_day() -> None:
    """Run `tools/example_vault.py` after a change in what is distilled, logged or compiled."""
    done = subprocess.run(
        [sys.executable, "tools/example_vault.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_ten_sessions_on_three_projects_are_in_it_with_weeks_and_no_broken_link() -> None:
    vaults = [Vault(path, path.name) for path in sorted(EXAMPLE.iterdir()) if path.is_dir()]
    assert len(vaults) == 3
    logs = "\n".join(vault.read(f"daily/{day}") for vault in vaults for day in vault.days())
    assert len(re.findall(r"^### \d\d:\d\d · (?:claude-code|codex) · s", logs, re.MULTILINE)) == 10
    for vault in vaults:
        assert vault.links("weekly")
        assert vault.links("concepts")
        assert [issue for issue in lint_vault(vault) if issue.severity == "error"] == []
    assert any(vault.links("connections") for vault in vaults)
    assert any(vault.links("qa") for vault in vaults)
    assert any(vault.links("facts") for vault in vaults)


def test_the_example_reads_well() -> None:
    """What was decided comes before what retells it; what was taken up is no open thread; rows say something."""
    shop = next(Vault(path, path.name) for path in EXAMPLE.iterdir() if path.name.startswith("shop-"))
    answer = shop.read("qa/why-do-we-sign-tokens-with-rs256").partition("## Answer\n\n")[2]
    assert answer.startswith(
        "- The user decided: keep RS256 everywhere, because the mobile app can only check public keys ("
    )
    [week] = shop.links("weekly")
    assert "Open threads" not in shop.read(week), "the key was published by the next session"
    points = shop.read("concepts/auth-tokens-py").partition("## Key Points\n\n")[2].partition("\n\n##")[0]
    rows = [row.partition(" ([[daily/")[0] for row in points.splitlines()]
    assert len(rows) == len(set(rows)) == 2
    assert rows[0].startswith(
        "- Failed and fixed: “jwt.exceptions.InvalidAlgorithmError: HS256 is not allowed” → [["
    )
