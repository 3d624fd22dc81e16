"""The one file that hooks run: all fenced modules in it, imported from memory.

`capture/hook_bundle.py` fills MODULES with their compiled code and writes the result, compiled itself, as
`home/hook/hook.pyc`. One file is replaced as a whole in an upgrade, so a hook never mixes two versions, and
it spares a dozen searches and reads (measured: 1 ms of 16). A module is unpacked only when it is imported.
"""

import sys
from _frozen_importlib import ModuleSpec
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

MODULES: dict[str, bytes] = {}


class Bundle:
    """Finds and loads what MODULES holds."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """The module called `name`, if it is one of ours."""
        if name not in MODULES:
            return None
        package = any(other.startswith(name + ".") for other in MODULES)
        return ModuleSpec(name, self, is_package=package)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary module object will do."""

    def exec_module(self, module: "ModuleType") -> None:
        """Run the module's code."""
        exec(loads(MODULES[module.__name__]), module.__dict__)  # noqa: S102, S302


if __name__ == "__main__":
    sys.meta_path.insert(0, Bundle())
    from backstory.hook.__main__ import main

    main(sys.argv[1:])
