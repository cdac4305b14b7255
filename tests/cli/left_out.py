"""Runs a file's cases as unittest does. Where PENTAMESH_LEFT_OUT names a folder, each case that did not run is written
there with its reason: ./check says them at its end."""
import os
import sys
import unittest


def main(arguments=()):
    """Runs the cases of the file that was started, and ends the process with their status."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    result = unittest.main(argv=[name, *arguments], exit=False).result
    folder = os.environ.get("PENTAMESH_LEFT_OUT")
    if folder:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as f:
            f.writelines(f"{case.id().removeprefix('__main__.')} ({name}): {reason}\n" for case, reason in result.skipped)
    sys.exit(not result.wasSuccessful())
