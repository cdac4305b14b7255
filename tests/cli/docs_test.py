#!/usr/bin/env python3
"""docs_test.py PROGRAM SOURCE_FOLDER: runs each command that README.md and docs/*.md show in a code block. Each must
end with status 0. Files that a reader would have are small stand-ins."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import cli_test
import left_out
from cli_test import PROGRAM, SOURCE

# These commands cannot run here, each with the reason.
NOT_RUN = {
    "node tests/web/node_test.mjs": "a test of the program in a browser, with a build of its own",
    "echo '{": "a request in a pipe: tests/cli/serve_test.py sends such lines",
    "pentamesh search PLAN [": "a usage line: brackets stand for what may be left out",
    "pentamesh review PLAN [": "a usage line too",
}


def commands():
    """Returns (file, command) of each code block's lines that call the program: fenced blocks and indented ones."""
    for path in [os.path.join(SOURCE, "README.md"), *sorted(glob.glob(os.path.join(SOURCE, "docs/*.md")))]:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.M | re.S)
        lines = [line for block in blocks for line in block.splitlines()]
        lines += re.findall(r"^    (.*)$", text, re.M)
        for line in lines:
            if re.search(r"(^|/| )pentamesh ", line):
                yield os.path.relpath(path, SOURCE), line.strip()


def runnable(line):
    """Returns the words of a command, without its comment and its optional parts."""
    return shlex.split(re.sub(r"\[[^\]]*\]", "", line), comments=True)


def write_fixtures(folder):
    step = json.loads(cli_test.run("report", "llama-3-8b-fsdp", "--json")[1])["step"]
    table = {"cases": [{"id": "mine", "plan": "llama-3-8b-fsdp", "measured": {"iteration_s": step["time_s"] * 1.2}}]}
    with open(os.path.join(SOURCE, "presets/plans/llama-3-8b-fsdp.plan.json"), encoding="utf-8") as f:
        plan = f.read()
    tps = step["tokens_per_s"] / json.loads(plan)["cluster"]["gpus"]
    titan = "".join(f"[titan] step: {i}  loss: 8.1  tps: {round(tps * 0.9):,}  tflops: 300.1  mfu: 30.3%\n"
                    for i in range(1, 8))
    os.mkdir(os.path.join(folder, "recipes"))
    cli_test.write_dumps(os.path.join(folder, "dumps"))
    os.mkdir(os.path.join(folder, "inspector"))
    measured = os.path.join(SOURCE, "tests/golden/measured")
    for real, name in (("run2602-09/rank22.pt.trace.json.gz", "rank0.pt.trace.json.gz"),
                       ("run2602-09/rank22.pt.trace.json.gz", "rank1.pt.trace.json.gz"),
                       ("run2602-03/node2-pid1639469.log.gz", "inspector/node0.log"),
                       ("run2602-03/node2-pid1639470.log.gz", "inspector/node1.log"),
                       ("timeline-ST.json.gz", "workers.json.gz")):
        shutil.copy(os.path.join(measured, real), os.path.join(folder, name))
    for name, text in (("recipes/llama.py", cli_test.RECIPES), ("runs.json", json.dumps(table)), ("train.log", cli_test.Calibration.megatron_log()),
                       ("all_reduce.txt", cli_test.Calibration.nccl_table(300e9)), ("job.plan.json", plan),
                       ("titan.log", titan)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


class Docs(unittest.TestCase):
    def test_each_command_of_the_documents_works(self):
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            write_fixtures(folder)
            for where, line in commands():
                if any(line.startswith(start) for start in NOT_RUN):
                    continue
                with self.subTest(file=where, command=line):
                    words = runnable(line)
                    self.assertEqual(words[0], "pentamesh", line)
                    r = subprocess.run([PROGRAM, *words[1:]], capture_output=True, cwd=folder, timeout=300)
                    self.assertEqual(r.returncode, 0, r.stderr.decode())
                    ran += 1
        self.assertGreater(ran, 20)


if __name__ == "__main__":
    left_out.main()
