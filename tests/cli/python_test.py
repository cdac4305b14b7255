#!/usr/bin/env python3
"""python_test.py PROGRAM SOURCE_FOLDER: checks the module for Python (docs/python.md) against the built program."""
import ast
import os
import sys
import tempfile
import threading
import time
import unittest

import left_out
from cli_test import JOB, PLAN, PROGRAM, SOURCE, run, run_json

os.environ["PENTAMESH"] = PROGRAM
MODULE = os.path.join(SOURCE, "app", "python", "pentamesh.py")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(MODULE))
import pentamesh  # noqa: E402


class Module(unittest.TestCase):
    def test_it_is_one_file_of_the_standard_library_for_python_3_9(self):
        with open(MODULE, encoding="utf-8") as f:
            tree = ast.parse(f.read(), feature_version=(3, 9))
        imported = {n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names}
        self.assertFalse([n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)])
        self.assertTrue(imported <= sys.stdlib_module_names, imported)

    def test_a_plan_answers_as_the_command_line(self):
        plan = pentamesh.plan("mesh-8")
        report = run_json("report", "mesh-8", "--json")[1]
        self.assertEqual(plan.report(), report)
        self.assertEqual(plan.report().memory.peak, report["memory"]["peak"])
        self.assertEqual(plan.report().memory.stages[0].total, report["memory"]["stages"][0]["total"])
        self.assertEqual(plan.rank(5).coordinates, run_json("rank", "mesh-8", "5", "--json")[1]["coordinates"])
        self.assertEqual(plan.groups("tp").axes[0].ranks[0], [0, 1])
        self.assertEqual(plan.memory(), run_json("memory", "mesh-8", "--json")[1])
        self.assertEqual(plan.comm(), run_json("comm", "mesh-8", "--json")[1])
        self.assertEqual(plan.sensitivity(), run_json("sensitivity", "mesh-8", "--json")[1])
        self.assertEqual(plan.timeline().stages, 1)
        self.assertIn("steps", plan.layer())
        self.assertEqual(plan.scale("--weak").scaling, "weak")
        self.assertEqual(pentamesh.params("llama-3-8b").total, 8030261248)
        self.assertIn("mesh-8", [p.id for p in pentamesh.presets().plans])
        self.assertEqual(pentamesh.run("blame", plan, 3, 7, "--json").ranks, [3, 7])
        self.assertEqual(pentamesh.run("memory", "mesh-8"), run("memory", "mesh-8")[1])
        self.assertIn("tp 2", repr(plan))
        with self.assertRaises(AttributeError):
            plan.report().memory.peek

    def test_set_makes_another_plan(self):
        plan = pentamesh.plan(PLAN)
        other = plan.set(tp=4, dp_shard=8, training__global_batch=128)
        self.assertEqual((plan.document["layout"]["tp"], other.document["layout"]["tp"]), (2, 4))
        self.assertEqual(other.document["training"]["global_batch"], 128)
        self.assertEqual(plan.set({"layout.schedule": "1f1b"}), plan)
        self.assertNotEqual(plan, other)
        self.assertFalse(plan.set(tp=3).report().valid)
        self.assertIn("tp", plan.set(tp=3).report().problems[0].message)
        self.assertEqual(plan.compare(other).plans, ["test", "test"])
        with self.assertRaises(pentamesh.Error) as refused:
            plan.set(tp="two")
        self.assertEqual(refused.exception.status, 1)

    def test_a_search_takes_what_people_ask(self):
        plan = pentamesh.plan(PLAN)
        found = plan.search(hold={"tp": 2}, vary={"pp": "1..4", "zero": [1, 3]}, top=5)
        self.assertEqual((found.space.tp, found.space.pp, found.space.zero), ([2], [1, 2, 4], [1, 3]))
        best = plan.with_layout(found.results[0]).report()
        self.assertEqual(best.step.time_s, found.results[0].step_s)
        near = plan.search(hold=["pp<=4", "memory<=60GiB"], goal="memory", within="5%", software="megatron")
        self.assertEqual(near.within, 0.05)
        self.assertEqual(plan.search(hold="tp inside the node").space.inside[0].axis, "tp")
        with self.assertRaises(pentamesh.Error) as refused:
            plan.search(hold={"tq": 8})
        self.assertIn("tp", str(refused.exception))

    def test_a_script_is_imported_and_a_plan_exported_and_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train.sh")
            with open(script, "w", encoding="utf-8") as f:
                f.write(JOB)
            plan = pentamesh.import_(script, variables={"TP": 4, "LAYERS": 8})
            self.assertEqual(plan.document["layout"]["tp"], 4)
            self.assertTrue(plan.imported.mapped)
            self.assertIn("--tensor-model-parallel-size 4", plan.export("megatron"))
            saved = os.path.join(folder, "job.plan.json")
            plan.save(saved)
            self.assertEqual(pentamesh.plan(saved), pentamesh.plan(plan.document))
            with self.assertRaises(pentamesh.Error) as refused:
                pentamesh.import_(os.path.join(folder, "none.sh"))
            self.assertEqual(refused.exception.status, 3)

    def test_a_notebook_shows_a_picture(self):
        svg = pentamesh.plan("mesh-8")._repr_svg_()
        self.assertTrue(svg.startswith("<?xml") or svg.startswith("<svg"), svg[:40])
        self.assertIn("</svg>", svg)
        self.assertIn("</svg>", pentamesh.plan(PLAN).set(tp=3)._repr_svg_())
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "step.png")
            pentamesh.plan("mesh-8").picture(file, view="step", no_title=True)
            with open(file, "rb") as f:
                self.assertEqual(f.read(4), b"\x89PNG")

    def test_a_sweep_of_ten_thousand_plans_comes_back(self):
        plan = pentamesh.plan("llama-3-70b-3d")
        values = {"tp": [1, 2, 4, 8, 16], "pp": [1, 2, 4, 8], "zero": [0, 1, 2, 3], "micro_batch": [1, 2, 4, 8, 16],
                  "global_batch": [128, 256, 512, 1024, 2048], "recompute": ["none", "selective", "full", "none", "full"]}
        begin = time.monotonic()
        rows = plan.sweep(**values)
        seconds = time.monotonic() - begin
        print(f"a sweep of {len(rows)} plans took {seconds:.2f} s", file=sys.stderr)
        self.assertEqual(len(rows), 10000)
        some = [r for r in rows if r.valid][::997]
        self.assertTrue(some)
        for row in some:
            report = plan.set(row.set).report()
            self.assertEqual((row.step_s, row.memory_bytes), (report.step.time_s, report.memory.peak))
        self.assertEqual(plan.sweep([{"tp": 2}, {"tp": -1}])[1].valid, False)

    def test_threads_share_one_program_and_a_new_one_follows_one_that_ended(self):
        got, plans = {}, ("mesh-8", "hsdp-64", "llama-3-8b-fsdp", "single-gpu")
        threads = [threading.Thread(target=lambda name=name: got.update({name: pentamesh.plan(name).report().memory.peak}))
                   for name in plans for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(got, {name: run_json("memory", name, "--json")[1]["peak"] for name in plans})
        pentamesh._server._process.kill()
        pentamesh._server._process.wait()
        self.assertEqual(pentamesh.params("llama-3-8b").total, 8030261248)
        os.environ["PENTAMESH"] = "/nonexistent/pentamesh"
        try:
            pentamesh._server.close()
            with self.assertRaises(pentamesh.Error):
                pentamesh.presets()
        finally:
            os.environ["PENTAMESH"] = PROGRAM


if __name__ == "__main__":
    left_out.main()
