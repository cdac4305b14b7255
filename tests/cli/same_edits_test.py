#!/usr/bin/env python3
"""same_edits_test.py PROGRAM SOURCE_FOLDER: an edit means the same wherever it is said: --set, Python, a sweep, `serve`, the second
plan of `compare`. Each edit goes through all of them, and the JSON is compared; what follows from it is known from outside: the
GPUs that were in use stay in use, unless data parallelism is named."""
import json
import math
import os
import re
import sys
import tempfile
import unittest

import left_out
from cli_test import JOB, PROGRAM, SOURCE, run, run_json
from command_line_test import COMMANDS
from serve_test import serve

os.environ["PENTAMESH"] = PROGRAM
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "app", "python"))
import pentamesh  # noqa: E402

# tp 8, pp 4 in 5 chunks, dp_shard 8 on 256 GPUs.
BASE = "llama-3-70b-3d"
SCHEDULES = ("gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipev", "looped-bfs")
EDITS = [
    {"layout.tp": 1}, {"layout.tp": 2}, {"layout.tp": 4}, {"tp": 16}, {"layout.tp": 3}, {"layout.tp": 8},
    {"layout.cp": 2}, {"cp": 4}, {"layout.cp": 2, "layout.tp": 4}, {"layout.cp": 3},
    {"layout.pp": 1}, {"layout.pp": 2}, {"layout.pp": 8}, {"pp": 16}, {"layout.pp": 3}, {"layout.pp": 8, "layout.tp": 4},
    {"layout.pp": 8, "layout.schedule": "1f1b"}, {"layout.pp": 1, "layout.tp": 4},
    {"layout.tp": 4, "layout.dp_shard": 16}, {"layout.tp": 4, "layout.dp_shard": 8}, {"tp": 4, "dp_replicate": 2},
    {"layout.dp_shard": 4, "layout.dp_replicate": 2}, {"dp_shard": 4}, {"dp_replicate": 4}, {"layout.dp_shard": 3},
    *({"layout.schedule": s} for s in SCHEDULES),
    {"layout.schedule": "interleaved", "layout.virtual_stages": 2}, {"schedule": "1f1b", "virtual_stages": 5},
    {"schedule": "gpipe", "tp": 4}, {"virtual_stages": 2},
    {"cluster.gpus": 128}, {"gpus": 512}, {"cluster.gpus": 320}, {"cluster.gpus": 512, "layout.tp": 4}, {"cluster.gpus": 8},
    {"cluster.fast_domain": 4}, {"cluster": "h200-sxm-ib"},
    {"micro_batch": 2}, {"training.micro_batch": 4}, {"training.global_batch": 1024}, {"sequence_length": 4096},
    {"recompute": "full"}, {"training.recompute": "selective"}, {"training.recompute": {"modules": ["layernorm"]}},
    {"layout.zero": 0}, {"zero": 2}, {"zero": 3},
    {"layout.order": "tp-cp-ep-pp-dp_shard-dp_replicate"}, {"layout.sequence_parallel": False}, {"training.compute": "fp8"},
    {"training.overlap.tp": True}, {"optimizer_state": "bf16"}, {"name": "7"},
]


def sets(edit, option="--set"):
    return [w for k, v in edit.items() for w in (option, f"{k}={v if isinstance(v, str) else json.dumps(v)}")]


def degrees(report):
    """Returns the layout's degrees, with the replicas that a left-out dp_replicate stands for."""
    layout, gpus = report["plan"]["layout"], report["plan"]["cluster"]["gpus"]
    d = {k: layout.get(k) or 1 for k in ("tp", "cp", "pp", "dp_shard")}
    d["dp_replicate"] = layout.get("dp_replicate") or gpus // math.prod(d.values())
    return d


class SameEdits(unittest.TestCase):
    def test_each_edit_means_the_same_at_every_door(self):
        self.assertGreaterEqual(len(EDITS), 40)
        plan = pentamesh.plan(BASE)
        rows = plan.sweep(EDITS)
        answers = serve([{"id": i, "command": "report", "args": [BASE, "--json", *sets(e)]} for i, e in enumerate(EDITS)])[0]
        besides = serve([{"id": i, "command": "compare", "args": [BASE, "--json", *sets(e, "--set-b")]} for i, e in enumerate(EDITS)])[0]
        for edit, row, answer, beside in zip(EDITS, rows, answers, besides):
            with self.subTest(edit=edit):
                report = run_json("report", BASE, "--json", *sets(edit))[1]
                self.assertEqual(answer["result"], report)
                own = plan.set(edit).report()
                self.assertEqual(own, report)
                self.assertEqual(row.valid, report["valid"])
                self.assertEqual(row.get("followed"), report.get("followed"))
                if row.valid:
                    self.assertEqual((row.step_s, row.memory_bytes), (report["step"]["time_s"], report["memory"]["peak"]))
                else:
                    self.assertIn(row.reason, [p["message"] for p in report["problems"]])
                b = beside["result"]
                step = next((f["values"][1] for f in b["figures"] if f["key"] == "step.time_s"), None)
                self.assertEqual(step, report["step"]["time_s"] if row.valid else None)
                if "followed" in report:
                    self.assertEqual(b["followed"], [{}, report["followed"]])

    def test_data_parallelism_takes_the_rest(self):
        for edit in EDITS:
            report = pentamesh.plan(BASE).set(edit).report()
            with self.subTest(edit=edit):
                names = {k.rpartition(".")[2] for k in edit}
                d, gpus = degrees(report), report["plan"]["cluster"]["gpus"]
                pair = names & {"dp_shard", "dp_replicate"}
                for name in pair:
                    self.assertNotIn(f"/layout/{name}", report.get("followed", {}))
                if len(pair) == 2:
                    self.assertNotIn("followed", report)
                elif pair:  # the other one takes what it leaves
                    named, = pair
                    taken = d["tp"] * d["cp"] * d["pp"] * d[named]
                    if gpus % taken == 0:
                        self.assertEqual(math.prod(d.values()), gpus)
                elif gpus % (d["tp"] * d["cp"] * d["pp"]) == 0:
                    self.assertEqual(math.prod(d.values()), gpus)
        # Worked out by hand: 256 / (4 x 4) and 256 / (8 x 2) GPUs are left; 512 GPUs are twice as many.
        for edit, shard in (({"tp": 4}, 16), ({"pp": 2}, 16), ({"cp": 2}, 4), ({"gpus": 512}, 16), ({"tp": 4, "pp": 2}, 32)):
            self.assertEqual(run_json("report", BASE, "--json", *sets(edit))[1]["plan"]["layout"]["dp_shard"], shard)
        # HSDP of 8 x 8: replicas take what the shards leave, so that no row of a sweep is refused.
        rows = pentamesh.plan("hsdp-64").sweep(dp_shard=[1, 2, 4, 8, 16, 32, 64])
        self.assertTrue(all(row.valid for row in rows))
        self.assertEqual([row.get("followed") for row in rows],
                         [None if n == 8 else {"/layout/dp_replicate": 64 // n} for n in (1, 2, 4, 8, 16, 32, 64)])
        # Another cluster has as many GPUs, as one that is chosen in the window.
        report = run_json("report", "mesh-8", "--json", "--set", "cluster=h200-sxm-ib")[1]
        self.assertEqual(report["plan"]["cluster"], {"preset": "h200-sxm-ib", "gpus": 8})
        self.assertNotIn("followed", report)
        # Of 2 x 2 x 2 ranks, four are left: the two replicas stay.
        layout = run_json("report", "mesh-8", "--json", "--set", "tp=1")[1]["plan"]["layout"]
        self.assertEqual((layout["dp_shard"], layout["dp_replicate"]), (4, 2))

    def test_what_follows_is_said_in_a_line_and_as_a_field(self):
        status, out, err = run("report", BASE, "--json", "--set", "layout.tp=4")
        self.assertEqual((status, json.loads(out)["followed"]), (0, {"/layout/dp_shard": 16}))
        lines = [line for line in err.splitlines() if "dp_shard = 16" in line]
        self.assertEqual(len(lines), 1, err)
        self.assertIn("256 GPUs", lines[0])
        for quiet in (("--set", "layout.zero=2"), ("--set", "layout.tp=8"), ("--set", "layout.tp=4", "--set", "layout.dp_shard=16")):
            status, out, err = run("report", BASE, "--json", *quiet)
            self.assertNotIn("followed", json.loads(out))
            self.assertNotIn("follow", err)
        self.assertIn("nodes of 4 GPUs, 64 of them; cluster.fast_domain = 8",
                      run("report", "mesh-8", "--set", "gpus=256", "--set", "global_batch=256")[2])
        self.assertEqual(pentamesh.plan(BASE).set(tp=4).report().followed, {"/layout/dp_shard": 16})
        for command in ("groups", "memory", "comm", "timeline", "sensitivity", "scale", "search"):
            self.assertEqual(run_json(command, BASE, "--json", "--set", "tp=4")[1]["followed"], {"/layout/dp_shard": 16}, command)

    def test_a_plan_that_did_not_fill_its_gpus_is_taken_as_it_is_said(self):
        idle = pentamesh.plan(BASE).set(dp_shard=4, dp_replicate=1)
        self.assertFalse(idle.report().valid)
        half = idle.set(tp=4)
        self.assertEqual((half.document["layout"]["tp"], half.document["layout"]["dp_shard"]), (4, 4))
        self.assertTrue(idle.set(tp=16).report().valid)

    def test_a_schedule_takes_chunks_that_fit_it(self):
        for schedule in SCHEDULES:
            layout = run_json("report", BASE, "--json", "--set", f"layout.schedule={schedule}")[1]["plan"]["layout"]
            chunks = {"interleaved": 5, "looped-bfs": 5, "zb-v": 2, "dualpipev": 2}.get(schedule, 1)
            self.assertEqual(layout["virtual_stages"], chunks, schedule)
        report = run_json("report", BASE, "--json", "--set", "schedule=1f1b", "--set", "virtual_stages=5")[1]
        self.assertFalse(report["valid"])  # it is said so

    def test_an_import_follows_what_is_set_over_it(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train.sh")
            with open(script, "w", encoding="utf-8") as f:
                f.write(JOB)
            variables = {"TP": 4, "LAYERS": 8}
            plain = pentamesh.import_(script, variables=variables)
            made = pentamesh.import_(script, variables=variables, sets={"layout.tp": 2, "training.global_batch": 16})
            self.assertEqual(made.document["layout"], plain.set(tp=2).document["layout"])
            self.assertTrue(made.report().valid)
            self.assertEqual(math.prod(degrees(made.report()).values()), 16)
            with self.assertRaises(pentamesh.Error):
                pentamesh.import_(script, variables=variables, sets={"layout.tpp": 2})


class Typos(unittest.TestCase):
    def test_a_field_that_no_plan_has_is_an_error_with_the_closest_name(self):
        plan = pentamesh.plan(BASE)
        for ask in (lambda: plan.sweep(tpp=[1, 2]), lambda: plan.sweep([{"zero": 1}, {"tpp": 1}]), lambda: plan.set(tpp=1),
                    lambda: plan.sweep([{"layout.tpp": 1}]),
                    lambda: plan.search(hold={"tpp": 8})):
            with self.assertRaises(pentamesh.Error) as refused:
                ask()
            self.assertIn("closest", str(refused.exception))
            self.assertIn('"tp"', str(refused.exception))
        for words in (("report", "--set", "tpp=4"), ("sweep", "--vary", "tpp=4"), ("compare", "--set-b", "tpp=4")):
            status, out, err = run(words[0], BASE, *words[1:])
            self.assertNotEqual(status, 0)
            self.assertIn('"tp"', err, words)
        for wrong, closest in (("zeroo", "zero"), ("gpu", "gpus"), ("microbatch", "micro_batch"), ("shedule", "schedule"), ("nam", "name")):
            self.assertIn(f'"{closest}"', run("report", BASE, "--set", f"{wrong}=1")[2])

    def test_a_value_that_a_plan_refuses_is_a_row(self):
        rows = pentamesh.plan(BASE).sweep(tp=[8, -1, "two"])
        self.assertEqual([r.valid for r in rows], [True, False, False])

    def test_a_sweep_loses_no_value(self):
        status, _, err = run("sweep", BASE, "--vary", "tp=1,2", "--vary", "layout.tp=4")
        self.assertEqual(status, 2)
        self.assertIn("twice", err)
        points = os.path.join(SOURCE, "presets/plans/mesh-8.plan.json")
        self.assertIn("not both", run("sweep", BASE, "--vary", "tp=1", "--points", points)[2])
        rows = json.loads(run("sweep", BASE, "--vary", "pp=1..4,8", "--json")[1])["rows"]
        self.assertEqual([r["set"]["pp"] for r in rows], [1, 2, 3, 4, 8])
        # A text is one value, not its letters.
        self.assertEqual([r.set for r in pentamesh.plan(BASE).sweep(recompute="full", tp=4)], [{"recompute": "full", "tp": 4}])

    def test_rows_say_what_the_software_lacks(self):
        plan = pentamesh.plan(BASE)
        rows = plan.sweep(software=["megatron", "torchtitan"], schedule=["1f1b", "zb-v"])
        for row in rows:
            base = plan.set(row.set).search(top=1).base
            self.assertEqual(row.lacks, base.lacks, row.set)
        megatron_zb_v = next(r for r in rows if r.set == {"software": "megatron", "schedule": "zb-v"})
        self.assertTrue(any("zb-v" in lack.message for lack in megatron_zb_v.lacks))


class SameOptions(unittest.TestCase):
    @staticmethod
    def options_in_help(command):
        """Returns the words of each option that a command's --help lists."""
        text = run(command, "--help")[1].split("Examples:")[0]
        out, name = {}, None
        for line in text.splitlines():
            if found := re.match(r"  (-\S+)", line):
                name = found[1].split(",")[-1]
                out[name] = line
            elif name and line.startswith("      "):
                out[name] += line
            else:
                name = None
        return {name: " ".join(words.split()) for name, words in out.items()}

    def test_every_command_that_takes_a_plan_takes_the_same_options_with_the_same_words(self):
        words = {}
        for command in COMMANDS:
            text = run(command, "--help")[1].split("Examples:")[0]
            options = self.options_in_help(command)
            takes_plan = re.search(r"(?m)^  PLAN\b", text) or "--plan" in options
            if not takes_plan:
                continue
            for option in ("--set", "--constants"):
                self.assertIn(option, options, command)
                words.setdefault(option, {})[command] = options[option]
        self.assertGreater(len(words["--set"]), 15)
        for option, by_command in words.items():
            self.assertEqual(len(set(by_command.values())), 1, (option, by_command))

    def test_compare_has_the_options_of_review_and_screenshot(self):
        compare, review, picture = (self.options_in_help(c) for c in ("compare", "review", "screenshot"))
        self.assertLessEqual({"--set-b", "--size", "--theme"}, set(compare))
        self.assertEqual(compare["--theme"], picture["--theme"])
        self.assertEqual(compare["--set-b"].split(". --set changes")[0], review["--set-b"].split(". --set changes")[0])
        by_name = run_json("compare", BASE, "--json", "--set-b", "layout.tp=4")
        self.assertEqual(by_name[0], 0)
        self.assertEqual(len(set(by_name[1]["plans"])), 2)  # the copy that was changed has a title of its own
        self.assertIn({"pointer": "/layout/tp", "values": [8, 4]}, by_name[1]["fields"])
        self.assertEqual(run("compare", BASE)[:2], (2, ""))
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "both.png")
            for options, size in ((("--size", "1280x720", "--theme", "light"), (1280, 720)), (("--size", "1000x800"), (1000, 800))):
                self.assertEqual(run("compare", BASE, "--set-b", "tp=4", "-o", file, *options)[0], 0)
                with open(file, "rb") as f:
                    head = f.read(24)
                self.assertEqual((int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")), size)
            self.assertEqual(run("compare", BASE, "--set-b", "tp=4", "-o", file, "--theme", "pink")[0], 2)


if __name__ == "__main__":
    left_out.main()
