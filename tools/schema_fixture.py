"""Make the small database that proves upgrades from this checkout's schema: run it when a migration is new.

python tools/schema_fixture.py        # writes tests/store/schemas/<number>.db.gz, if it is not there
"""

import gzip
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.story import House  # noqa: E402


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "shop")
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", str(project)], check=True)
        house = House(Path(folder, "home"), project)
        story = house.session()
        story.starts().prompts("Count the blue whale sightings, because the report needs them")
        story.runs("wc -l sightings", fails="wc: sightings: No such file").writes("sightings", "12\n")
        story.runs("wc -l sightings", "12").stops("Twelve blue whale sightings.").ends()
        house.works()
        house.store.checkpoint()
        house.close()
        with closing(sqlite3.connect(house.home.database, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("VACUUM")
            version = db.execute("PRAGMA user_version").fetchone()[0]
        target = Path(
            sys.argv[1] if len(sys.argv) > 1 else ROOT / "tests/store/schemas", f"{version:04}.db.gz"
        )
        if target.exists():
            print(f"{target} is there already", file=sys.stderr)
            return 1
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(house.home.database.read_bytes(), 9, mtime=0))
        print(f"{target}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
