#!/usr/bin/env python3
"""cli_test.py PROGRAM SOURCE_FOLDER: checks the promises of the built program's command line: which text goes to which
stream, exit statuses, JSON that agrees with itself. It uses only the standard library."""
import ast
import bisect
import csv
import gzip
import hashlib
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import left_out

PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])

# The presets of the user who runs this do not count.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp()

PLAN = {
    "format": "pentamesh.plan/1",
    "name": "test",
    "model": "llama-3-8b",
    "cluster": {"preset": "h100-sxm-ib", "gpus": 64},
    "layout": {"tp": 2, "pp": 2, "dp_shard": 16, "dp_replicate": 1, "zero": 1},
    "training": {"sequence_length": 8192, "micro_batch": 1, "global_batch": 64},
}

RECIPES = """from megatron.bridge.recipes.llama.llama3 import llama3_8b_pretrain_config


def _wide(cfg, tp):
    cfg.model.tensor_model_parallel_size = tp


def llama3_8b_pretrain_8gpu_h100_config() -> ConfigContainer:
    cfg = llama3_8b_pretrain_config()
    cfg.train.global_batch_size = 64
    return cfg


def llama3_8b_pretrain_16gpu_h100_config() -> ConfigContainer:
    cfg = llama3_8b_pretrain_8gpu_h100_config()
    _wide(cfg, 4)
    return cfg
"""
JOB = ("torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers $LAYERS --hidden-size 1024"
       " --num-attention-heads 8 --seq-length 2048 --micro-batch-size 1 --max-position-embeddings 2048"
       " --vocab-size 32000 --bf16 --tensor-model-parallel-size $TP\n")


def run(*args, plan=None, folder=None):
    text = None if plan is None else plan if isinstance(plan, bytes) else json.dumps(plan).encode()
    r = subprocess.run([PROGRAM, *args], input=text, capture_output=True, cwd=folder, timeout=60)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def run_json(*args, plan=None):
    status, out, err = run(*args, plan=plan)
    return status, json.loads(out), err


def changed(pointer, value):
    plan = json.loads(json.dumps(PLAN))
    *path, last = pointer.strip("/").split("/")
    at = plan
    for key in path:
        at = at[key]
    at[last] = value
    return plan


def plan_presets():
    return [p["id"] for p in run_json("presets", "--json")[1]["plans"]]


def write_dumps(folder):
    """Writes flight-recorder dumps of 4 ranks, tp 2: rank 2 does not come to the second collective of its group."""
    os.makedirs(folder, exist_ok=True)
    for rank in range(4):
        pair = [rank // 2 * 2, rank // 2 * 2 + 1]
        number = 1 if rank == 2 else 2
        name = str(1 + rank // 2)
        entries = [] if rank in (0, 1, 2) else [{
            "record_id": 7, "pg_id": 1, "process_group": [name, "TENSOR_MODEL_PARALLEL_GROUP"],
            "collective_seq_id": 2, "p2p_seq_id": 0, "profiling_name": "nccl:all_reduce", "input_sizes": [[8]],
            "output_sizes": [[8]], "state": "started", "is_p2p": False}]
        dump = {"version": "2.9", "entries": entries,
                "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"},
                              name: {"name": name, "desc": "TENSOR_MODEL_PARALLEL_GROUP", "ranks": str(pair)}},
                "pg_status": {"0": {"last_enqueued_collective": "0", "last_completed_collective": "0"},
                              "1": {"last_enqueued_collective": str(number), "last_completed_collective": "1"}}}
        with open(os.path.join(folder, f"rank_{rank}"), "w", encoding="utf-8") as f:
            json.dump(dump, f)


class Hang(unittest.TestCase):
    def test_a_folder_of_dumps_names_the_culprit_and_gives_a_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            write_dumps(folder)
            status, out, err = run_json("hang", folder, "--hosts", "a,b,c,d", "--json")
            self.assertEqual((status, err, out["verdict"], out["world_size"], out["dumps"]), (0, "", "hang", 4, 4))
            [culprit] = out["culprits"]
            self.assertEqual((culprit["rank"], culprit["kind"], culprit["sure"], culprit["group"], culprit["axes"]),
                             (2, "stopped", True, [2, 3], ["tp"]))
            self.assertEqual((culprit["coordinates"], culprit["sequence"]), ({"tp": 0, "dp": 1}, 2))
            [waiting] = out["waiting"]
            self.assertEqual((waiting["rank"], waiting["for"], waiting["collective"]), (3, [2], "all_reduce"))
            self.assertEqual(out["layout"]["degrees"], {"tp": 2, "cp": 1, "pp": 1, "dp": 2})
            # Without a plan no wire is known, nor a model; hosts say who shares one.
            self.assertEqual((out["plan"], culprit["tier"], culprit["one_host"]), (None, None, False))
            two = run_json("hang", folder, "--hosts", "a,b", "--json")[1]["culprits"][0]
            self.assertEqual((two["tier"], two["one_host"], two["host"]), (None, True, "b"))
            self.assertIn(", across hosts)", run("hang", folder, "--hosts", "a,b,c,d")[1])
            again = run_json("hang", os.path.join(folder, "rank_"), "--plan", "single-gpu", "--json")[1]
            self.assertFalse(again["layout"]["agrees_with_plan"])
            self.assertEqual(again["problems"][0]["code"], "layout-differs")
            self.assertEqual(run_json("report", "-", "--json", plan=again["plan"])[1]["valid"], True)
            self.assertIsInstance(again["culprits"][0]["tier"], str)
            status, text, _ = run("hang", folder)
            self.assertTrue(text.startswith("hang: 1 rank is to blame; 1 rank waits"), text)
            self.assertIn("rank 2 stopped at tp 0, dp 1: it has no call open, and rank 3 waits for it", text)
            self.assertNotIn(", over ", text)
            self.assertIn("Model and cluster: not known", text)

    def test_what_is_no_dump_is_said_and_a_dump_is_no_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            write_dumps(folder)
            dump = os.path.join(folder, "rank_0")
            for command in (("import", dump), ("report", dump)):
                status, _, err = run(*command)
                self.assertEqual(status, 1, command)
                self.assertIn("pentamesh hang", err)
            self.assertIn("pentamesh hang", run("check", dump)[1])
            with open(os.path.join(folder, "rank_1"), "wb") as f:
                f.write(b"\x80\x02cos\nsystem\n.")
            [bad] = run_json("hang", folder, "--json")[1]["unreadable"]
            self.assertEqual((bad["file"], bad["why"].split(":")[0]), ("rank_1", "opcode GLOBAL at byte 2"))
            self.assertEqual(run("hang", os.path.join(folder, "none"))[0], 3)
            status, _, err = run("hang", os.path.join(SOURCE, "presets/plans"))
            self.assertEqual(status, 1)
            self.assertIn("pentamesh check", err)


class Measured(unittest.TestCase):
    FOLDER = os.path.join(SOURCE, "tests/golden/measured")

    def run_of(self, name, *more):
        folder = os.path.join(self.FOLDER, name)
        files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f != "plan.json")
        return run_json("measured", *files, "--plan", os.path.join(folder, "plan.json"), "--json", *more)

    def test_a_trace_stands_beside_its_plan_part_by_part(self):
        status, out, err = self.run_of("run2602-00")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out["files"], [{"file": "rank42.pt.trace.json.gz", "kind": "kineto", "rank": 42, "steps": 3}])
        step = out["step"]
        for key in ("measured_s", "predicted_s"):
            self.assertAlmostEqual(sum(p[key] for p in out["parts"]), step[key], places=6)
        self.assertAlmostEqual(sum(p["share"] for p in out["parts"]), 1, places=6)
        compute = out["parts"][0]
        self.assertEqual((compute["part"], compute["constant"]), ("compute", "efficiency.gemm"))
        # With that constant alone changed the plan predicts the step that is said.
        plan = os.path.join(self.FOLDER, "run2602-00", "plan.json")
        again = run_json("report", plan, "--json", "--set", f"cluster.gpu.efficiency.gemm={compute['would_be']}")[1]
        self.assertAlmostEqual(again["step"]["time_s"], compute["step_would_be_s"], places=4)
        text = run("measured", os.path.join(self.FOLDER, "run2602-00", "rank42.pt.trace.json.gz"))[1]
        self.assertIn("A step takes 3.71 s", text)
        self.assertNotIn("predicted", text.split("Collectives")[0])

    def test_of_several_traces_the_slow_rank_is_named(self):
        with gzip.open(os.path.join(self.FOLDER, "run2602-00", "rank42.pt.trace.json.gz"), "rt", encoding="utf-8") as f:
            trace = json.load(f)
        plan = os.path.join(self.FOLDER, "run2602-00", "plan.json")

        def write(folder, slow):
            files = []
            for rank in range(40, 48):
                made = json.loads(json.dumps(trace))
                made["distributedInfo"]["rank"] = rank
                for e in made["traceEvents"]:
                    if rank == slow and e.get("cat") == "kernel" and "nccl" not in e["name"]:
                        e["dur"] *= 1.3
                files.append(os.path.join(folder, f"rank{rank}.json"))
                with open(files[-1], "w", encoding="utf-8") as f:
                    json.dump(made, f)
            return files

        with tempfile.TemporaryDirectory() as folder:
            files = write(folder, 45)
            for more in ((), ("--plan", plan)):
                out = run_json("measured", *files, *more, "--json")[1]
                self.assertEqual([r["rank"] for r in out["ranks"]], list(range(40, 48)))
                [slow] = out["slow"]
                self.assertEqual((slow["rank"], slow["part"], slow["peers"]), (45, "compute", 7))
                self.assertAlmostEqual(slow["part_s"] - slow["peers_s"], slow["more_s"], places=9)
                self.assertGreater(slow["more_s"], 0.15 * slow["peers_s"])  # some of it overlaps
                self.assertIn("Rank 45", out["summary"])
                self.assertEqual(out["ranks"][5]["place"] is None, not more)
            rows = run("measured", *files, "--csv")[1].splitlines()
            self.assertEqual((len(rows), rows[0].split(",")[0], rows[6].split(",")[0]), (9, "rank", "45"))
            self.assertIn("compute", rows[6])
            # The same trace eight times: nobody is slow, and nobody comes last.
            out = run_json("measured", *write(folder, None), "--json")[1]
            self.assertEqual(out["slow"], [])
            self.assertEqual({c["last_to_arrive"] is None for c in out["collectives"]}, {True})
            self.assertIn("none stands out", out["summary"])

    def test_a_log_with_settings_is_imported_and_says_that_it_has_steps(self):
        log = os.path.join(SOURCE, "tests/fuzz/seeds/runs/megatron.log")
        self.assertIn("the times of its steps too: `pentamesh measured` reads them", run("import", log)[1])
        self.assertIn("A step takes 812 ms", run("measured", log)[1])

    def test_an_impossible_run_is_refused_here_and_by_calibrate(self):
        status, out, _ = self.run_of("run2602-08")
        self.assertEqual((status, out["step"]["possible"], out["problems"][0]["code"]), (1, False, "impossible-run"))
        folder = os.path.join(self.FOLDER, "run2602-08")
        with tempfile.TemporaryDirectory() as to:
            with gzip.open(os.path.join(folder, "train.log.gz"), "rt", encoding="utf-8") as packed:
                with open(os.path.join(to, "train.log"), "w", encoding="utf-8") as f:
                    f.write(packed.read())
            status, _, err = run("calibrate", os.path.join(to, "train.log"), "--plan", os.path.join(folder, "plan.json"), "--force")
        self.assertEqual(status, 1)
        self.assertIn("166 % of the bf16 peak: is the batch 256, or fp8?", err)

    def test_collectives_are_read_without_a_plan(self):
        status, out, err = self.run_of("run2602-03")
        self.assertEqual((status, err, len(out["files"])), (0, "", 4))
        self.assertEqual({c["axis"] for c in out["collectives"]}, {"tp"})
        self.assertEqual(out["links"][0]["constant"], "efficiency.fast_link")

    def test_wrong_kinds_are_named_on_both_sides(self):
        trace = os.path.join(self.FOLDER, "run2602-00", "rank42.pt.trace.json.gz")
        for command in ("import", "report"):
            status, _, err = run(command, trace)
            self.assertEqual(status, 1, command)
            self.assertIn("this is a trace of a run, no settings; `pentamesh measured` reads it", err)
        plan = os.path.join(SOURCE, "presets/plans/mesh-8.plan.json")
        status, _, err = run("measured", plan)
        self.assertEqual(status, 1)
        self.assertIn("this is a plan", err)
        status, _, err = run("measured", os.path.join(SOURCE, "tests/fuzz/seeds/import/titan.toml"))
        self.assertEqual(status, 1)
        self.assertIn("these are settings (torchtitan)", err)
        status, _, err = run("import", "-", plan="[rank0]: step: 1  loss: 7.1  tps: 7,000\n")
        self.assertEqual(status, 1)
        self.assertIn("`pentamesh measured` reads logs", err)
        self.assertEqual(run("measured", os.path.join(self.FOLDER, "none"))[0], 3)

    def test_a_folder_of_traces_is_read_as_the_window_reads_it(self):
        for name, files in (("run2602-00", 1), ("run2602-03", 4)):  # a plan lies in the folder too
            folder = os.path.join(self.FOLDER, name)
            status, out, err = run_json("measured", folder, "--json")
            self.assertEqual((status, err, len(out["files"])), (0, "", files))
        with tempfile.TemporaryDirectory() as folder:
            write_dumps(folder)
            status, _, err = run("measured", folder)
            self.assertEqual(status, 1)
            self.assertIn("`pentamesh hang` reads a folder of dumps", err)

    def test_calibrate_takes_a_trace_and_writes_no_fit_that_is_worse(self):
        plan = os.path.join(self.FOLDER, "run2602-04", "plan.json")
        trace = os.path.join(self.FOLDER, "run2602-04", "rank81.pt.trace.json.gz")
        status, out, err = run_json("calibrate", trace, "--plan", plan, "--json")
        self.assertIn(status, (0, 1), err)
        gemm = [c for c in out["constants"] if c["id"] == "efficiency.gemm"][0]
        self.assertGreater(gemm["after"], gemm["before"])  # compute took less than predicted
        self.assertEqual(run("calibrate", trace)[0], 2)
        predicted = run_json("report", plan, "--json")[1]["step"]["time_s"]
        with open(plan, encoding="utf-8") as f:
            table = {"cases": [{"id": "a", "plan": json.load(f), "measured": {"iteration_s": predicted}}]}
        with tempfile.TemporaryDirectory() as folder:
            runs, made = os.path.join(folder, "runs.json"), os.path.join(folder, "made.json")
            with open(runs, "w", encoding="utf-8") as f:
                json.dump(table, f)
            status, _, err = run("calibrate", runs, "-o", made)
            self.assertEqual((status, os.path.exists(made)), (1, False))
            self.assertIn("--force", err)
            self.assertEqual(run("calibrate", runs, "-o", made, "--force")[0], 0)
            with open(made, encoding="utf-8") as f:
                self.assertIn("--force", json.load(f)["calibration"]["from"])


class Layer(unittest.TestCase):
    def test_the_calls_of_a_layer_are_sums_over_its_steps(self):
        status, out, err = run_json("layer", "-", "--json", "--rank", "3", plan=PLAN)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual((out["kind"], out["notation"], out["micro_batch"]), ("dense", "jax", 1))
        calls = {}
        for step in out["steps"]:
            self.assertEqual(len(step["group"]), len(set(step["group"])))
            if not step["axis"]:
                continue
            self.assertIn(3, step["group"])
            axis = calls.setdefault(step["axis"], {})
            axis[step["op"]] = axis.get(step["op"], 0) + step["calls"]
        self.assertEqual(calls, out["totals"]["calls"])
        self.assertEqual(calls["tp"], {"all_gather": 6, "reduce_scatter": 4})
        kept = sum(k["bytes"] for s in out["steps"] if s["phase"] == "forward" for k in s["kept"])
        self.assertEqual(kept, out["totals"]["kept_bytes"])
        memory = run_json("memory", "-", "--json", plan=PLAN)[1]
        self.assertEqual(kept, memory["stages"][0]["activations_per_layer_microbatch"])

    def test_a_tensor_s_local_shape_follows_from_its_placement(self):
        for step in run_json("layer", "-", "--json", "--notation", "dtensor", plan=PLAN)[1]["steps"]:
            for t in step["in"] + step["out"]:
                cut = list(t["global"])
                if t["placement"].get("tp", "").startswith("shard"):
                    cut[int(t["placement"]["tp"][6:-1])] //= PLAN["layout"]["tp"]
                if "dp_shard" not in t["placement"]:
                    self.assertEqual(cut, t["local"], t)

    def test_what_a_layer_cannot_show_is_said(self):
        for args, words in ((("--kind", "moe"), "no MoE layer"), (("--kind", "big"), "dense, moe"),
                            (("--rank", "64"), "0 to 63"), (("--rank", "-1"), "0 to 63"),
                            (("--notation", "latin"), "megatron, dtensor, jax")):
            status, out, err = run("layer", "-", *args, plan=PLAN)
            self.assertEqual((status, out), (2, ""), args)
            self.assertIn(words, err)
        status, out, err = run_json("layer", "-", "--json", plan=changed("/layout/tp", 3))
        self.assertEqual((status, out["valid"], out["steps"]), (1, False, []))

    def test_a_layer_is_written_as_text_csv_and_markdown(self):
        rows = list(csv.DictReader(io.StringIO(run("layer", "-", "--csv", plan=PLAN)[1])))
        self.assertEqual([int(r["n"]) for r in rows], list(range(1, len(rows) + 1)))
        self.assertIn("| n |", run("layer", "-", "--markdown", plan=PLAN)[1].replace("|  n |", "| n |"))
        self.assertIn("reduce_scatter_to_sequence_parallel_region",
                      run("layer", "-", "--notation", "megatron", plan=PLAN)[1])


class Sentences(unittest.TestCase):
    def test_one_plan_has_the_same_problems_in_each_command(self):
        for plan in ("llama-3.1-405b-16k", "broken-tp-over-ib", "broken-pp-zero3"):
            problems = run_json("report", plan, "--json")[1]["problems"]
            self.assertTrue(problems, plan)
            for command in ("groups", "layer", "memory", "timeline", "tensors", "comm"):
                self.assertEqual(run_json(command, plan, "--json")[1]["problems"], problems, (plan, command))

    def test_the_batch_that_advice_names_has_the_bubble_that_it_says(self):
        before = run_json("report", "llama-3.1-405b-16k", "--json")[1]
        problem = next(p for p in before["problems"] if p["code"] == "bubble-too-large")
        batch = re.search(r"global batch of ([0-9,]+)", problem["message"]).group(1).replace(",", "")
        after = run_json("report", "llama-3.1-405b-16k", "--set", "training.global_batch=" + batch, "--json")[1]
        step = after["step"]
        share = (step["bubble_s"] - step["uneven_s"]) / step["time_s"]
        self.assertLess(share, 0.1)
        said = re.search(r"would bring it to ([0-9.]+) %", problem["message"]).group(1)
        self.assertAlmostEqual(float(said), 100 * share, delta=0.005)
        if not after["memory"]["fits"]:
            may = after["memory"]["may_fit"]
            self.assertIn("may not fit" if may else "does not fit", problem["message"])

    def test_a_plan_that_may_fit_is_told_from_one_that_fits_by_every_command(self):
        words = "may not fit"
        memory = run_json("memory", "llama-3-8b-fsdp", "--json")[1]
        self.assertEqual((memory["fits"], memory["may_fit"], memory["verdict"]), (True, True, "fits"))
        tight = ("--set", f"cluster.gpu.hbm_bytes={memory['peak'] + 1}")
        out = run_json("memory", "llama-3-8b-fsdp", *tight, "--json")[1]
        self.assertEqual((out["fits"], out["may_fit"], out["verdict"]), (True, True, "may_not_fit"))
        self.assertIn(words, run("report", "llama-3-8b-fsdp", *tight)[1])
        stage = memory["stages"][0]
        least = memory["peak"] - stage["buffers"] + stage["buffers_low"]
        full, none = (("--set", f"cluster.gpu.hbm_bytes={hbm}") for hbm in ((memory["peak"] + least) // 2, least // 2))
        for sets, may in ((full, True), (none, False)):
            out = run_json("memory", "llama-3-8b-fsdp", *sets, "--json")[1]
            self.assertEqual((out["fits"], out["may_fit"], out["verdict"]),
                             (False, may, "may_not_fit" if may else "does_not_fit"))
            pair = ("llama-3-8b-fsdp", "llama-3-8b-fsdp", *sets)
            for one in run_json("compare", *pair, "--json")[1]["memory"]:
                self.assertEqual((one["fits"], one["may_fit"]), (False, may))
            self.assertEqual(words in run("compare", *pair)[1], may)
            self.assertEqual(words in run("compare", *pair, "--csv")[1], may)
            base = run_json("search", "llama-3-8b-fsdp", *sets, "--json", "--hold", "tp", "--hold", "pp")[1]["base"]
            self.assertEqual((base["fit"], base["may_fit"]), (False, may))
            base = run_json("sensitivity", "llama-3-8b-fsdp", *sets, "--json")[1]["base"]
            self.assertEqual((base["fits"], base["may_fit"]), (False, may))
            # A mend of a plan that does not fit may be one that may not fit.
            holds = next(line for line in run("report", "llama-3-8b-fsdp", *sets)[1].splitlines() if "holds most" in line)
            self.assertEqual(words in holds, may)
        ups = [r["up"] for r in run_json("sensitivity", "llama-3-8b-fsdp", *full, "--json")[1]["rows"] if r["up"]]
        self.assertIn((False, True), {(u["fits"], u["may_fit"]) for u in ups if u["valid"]})
        self.assertTrue(all(u["may_fit"] for u in ups if u["valid"] and u["fits"]))
        self.assertIn(words, run("sensitivity", "llama-3-8b-fsdp", *full)[1])
        with tempfile.TemporaryDirectory() as folder:
            for view in ("memory", "step"):
                file = os.path.join(folder, view + ".svg")
                status, _, err = run("screenshot", "llama-3-8b-fsdp", *full, "--view", view, "--size", "1280x800", "-o", file)
                if status == 1 and "EGL" in err:
                    self.skipTest(err)
                self.assertEqual(status, 0, err)
                with open(file, encoding="utf-8") as f:
                    self.assertIn(words, f.read())

    def test_a_model_beyond_all_counts_is_refused_with_the_limit(self):
        model = {"layers": 65536, "hidden": 2**31, "heads": 2**31, "head_dim": 2**31, "ffn": 2**31, "vocab": 2**31}
        status, out, err = run_json("report", "-", "--json", plan=PLAN | {"model": model, "layout": {}})
        self.assertEqual((status, out["valid"]), (1, False))
        self.assertIn("number-too-large", [p["code"] for p in out["problems"]])
        self.assertIn("9,223,372,036,854,775,807", err)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(model, f)
            status, out, err = run("params", path)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("9,223,372,036,854,775,807", err)

    def test_mfu_without_the_masked_half_stands_beside_mfu_where_attention_is_much_of_the_work(self):
        for length, shown in (("2048", False), ("131072", True)):
            sets = ("--set", "training.sequence_length=" + length)
            step = run_json("report", "llama-3-8b-fsdp", *sets, "--json")[1]["step"]
            self.assertLess(step["mfu_causal"], step["mfu"])
            self.assertEqual("MFU (causal)" in run("report", "llama-3-8b-fsdp", *sets)[1], shown)
            pair = ("llama-3-8b-fsdp", "llama-3-8b-fsdp", *sets)
            keys = [f["key"] for f in run_json("compare", *pair, "--json")[1]["figures"]]
            self.assertEqual("step.mfu_causal" in keys, shown)
            found = run_json("search", "llama-3-8b-fsdp", *sets, "--json", "--hold", "tp", "--hold", "pp")[1]
            for r in found["results"]:
                self.assertLess(r["mfu_causal"], r["mfu"])
            self.assertEqual("MFU (causal)" in run("search", "llama-3-8b-fsdp", *sets, "--hold", "tp", "--hold", "pp")[1], shown)
            with tempfile.TemporaryDirectory() as folder:  # the status line, in any width
                file = os.path.join(folder, "mesh.svg")
                for size in ("1600x900", "1000x600", "800x500"):
                    status, _, err = run("screenshot", "llama-3-8b-fsdp", *sets, "--view", "mesh", "--size", size, "-o", file)
                    if status == 1 and "EGL" in err:
                        self.skipTest(err)
                    self.assertEqual(status, 0, err)
                    with open(file, encoding="utf-8") as f:
                        text = f.read()
                    self.assertIn(">MFU<", text)
                    self.assertEqual("(causal" in text, shown, size)


class Decide(unittest.TestCase):
    def test_a_layout_that_search_found_reports_the_same_figures(self):
        status, out, err = run_json("search", "-", "--json", "--vary", "tp=1,2,4", "--top", "3", plan=PLAN)
        self.assertEqual(status, 0)
        # The plan names no software: whose rules are taken is said, on standard error and in JSON.
        self.assertEqual(err, "pentamesh: " + out["software_taken"] + "\n")
        self.assertIn("Megatron-LM", err)
        self.assertIn("--for any", err)
        counts = out["counts"]
        self.assertEqual(counts["layouts"], counts["skipped"] + counts["evaluated"])
        self.assertEqual(counts["evaluated"], counts["invalid"] + counts["too_big"] + counts["fit"])
        self.assertEqual(out["space"]["tp"], [1, 2, 4])
        self.assertEqual(sum(r["count"] for r in out["rejected"]),
                         counts["invalid"] + counts["too_big"] + counts["left_out"])
        self.assertGreater(counts["left_out"], 0)
        self.assertEqual(out["for"], "megatron")
        self.assertLess(out["base"]["mfu_causal"], out["base"]["mfu"])
        for found in out["results"][:3] + out["results"][-1:]:
            plan = dict(PLAN, layout=found["layout"], training=dict(PLAN["training"], **found["training"]))
            report = run_json("report", "-", "--json", plan=plan)[1]
            self.assertEqual(report["step"]["time_s"], found["step_s"])
            self.assertEqual(report["step"]["tokens_per_s"], found["tokens_per_s"])
            self.assertEqual(report["memory"]["peak"], found["memory_bytes"])
        best = [r["tokens_per_s"] for r in out["results"]]
        self.assertEqual(best, sorted(best, reverse=True))

    def test_search_offers_what_the_named_software_runs(self):
        def schedules(*more):
            out = run_json("search", "-", "--json", "--top", "200", *more, plan=PLAN)[1]
            return out, {r["layout"]["schedule"] for r in out["results"]}

        out, found = schedules("--for", "deepspeed")
        self.assertEqual((out["for"], found), ("deepspeed", {"1f1b"}))
        self.assertEqual({r["training"]["software"] for r in out["results"]}, {"deepspeed"})
        self.assertIn("software-schedule", {r["code"] for r in out["rejected"]})
        self.assertTrue(any("DeepSpeed has no schedule" in r["message"] for r in out["rejected"]))
        everything, found = schedules("--for", "any")
        self.assertEqual((everything["for"], everything["counts"]["left_out"]), ("any", 0))
        self.assertFalse(found <= {"1f1b", "interleaved"})
        # Each layout says who runs it; of those that Megatron-LM does, its own search finds none else.
        self.assertIsNone(everything["software_taken"])
        self.assertTrue(any("Megatron-LM" not in r["run_by"] for r in everything["results"]))
        self.assertNotIn("run_by", run_json("search", "-", "--json", "--for", "megatron", plan=PLAN)[1]["results"][0])
        status, _, err = run("search", "-", "--for", "megatrom", plan=PLAN)
        self.assertEqual(status, 2)
        self.assertIn("torchtitan", err)

    def test_search_takes_a_model_a_cluster_and_gpus(self):
        status, out, _ = run_json("search", "--model", "llama-3-8b", "--cluster", "h100-sxm-ib", "--gpus", "16",
                                  "--set", "training.global_batch=64", "--json", "--hold", "pp")
        self.assertEqual(status, 0)
        self.assertEqual(out["space"]["pp"], [1])
        self.assertTrue(out["results"])
        # Nobody wrote the layout that it begins with: nothing is said of it.
        self.assertIsNone(out["base"])
        self.assertIsNone(out["verdict"])
        text = run("search", "--model", "llama-3-8b", "--cluster", "h100-sxm-ib", "--gpus", "16",
                   "--set", "training.global_batch=64", "--hold", "pp")[1]
        for words in ("The plan itself", "than the plan", "as long as the plan", "changes of the plan"):
            self.assertNotIn(words, text)

    def test_report_says_of_which_software_its_figures_are(self):
        self.assertEqual(run_json("report", "mesh-8", "--json")[1]["software"], "megatron")
        text = run("report", "mesh-8")[1]
        self.assertIn("those of Megatron-LM, as of every plan that names no training.software.", text)
        sets = ("--set", "training.software=torchtitan")
        self.assertEqual(run_json("report", "mesh-8", *sets, "--json")[1]["software"], "torchtitan")
        self.assertIn("those of torchtitan (training.software).", run("report", "mesh-8", *sets)[1])

    def test_sensitivity_offers_no_type_that_megatron_has_not(self):
        rows = run_json("sensitivity", "llama-3-70b-3d", "--json")[1]["rows"]
        tried = [n for r in rows if r["id"] in ("/training/gradients", "/training/master_weights",
                                                "/training/optimizer_state", "/training/parameters")
                 for n in (r["down"], r["up"]) if n]
        self.assertTrue(any(n["valid"] for n in tried))
        self.assertTrue(any("Megatron" in n.get("message", "") for n in tried))
        for n in tried:
            sets = [word for s in n["set"] for word in ("--set", s)]
            said = run("export", "llama-3-70b-3d", *sets, "--to", "megatron")[2]
            refused = any(w in said for w in ("not so in Megatron", "none cannot be", "Megatron keeps"))
            if n["valid"]:
                self.assertFalse(refused, (n["set"], said))

    def test_search_refuses_values_that_no_plan_may_have(self):
        for bad in ("tp=0", "zero=9", "micro_batch=1e9", "schedule=zigzag"):
            status, out, err = run("search", "mesh-8", "--vary", bad)
            self.assertEqual((status, out), (2, ""), bad)
            self.assertIn(bad.split("=")[0], err)
        for twice in (("--vary", "tp=2", "--vary", "tp=4"), ("--vary", "tp=2", "--hold", "tp")):
            status, out, err = run("search", "mesh-8", *twice)
            self.assertEqual((status, out), (2, ""), twice)
            self.assertIn("tp is varied or held already", err)
        self.assertIn("The same in all: tp 2.", run("search", "mesh-8", "--vary", "tp=2")[1])
        self.assertIn("The plan itself is impossible: tp = 3", run("search", "mesh-8", "--set", "layout.tp=3")[1])
        status, _, err = run("search", "mesh-8", "--hold", "zeros")
        self.assertEqual(status, 2)
        self.assertIn("zero", err)
        self.assertEqual(run("search")[0], 2)
        for share in ("1", "1.5", "-0.1", "5", "100%", "much"):
            status, out, err = run("search", "mesh-8", "--headroom", share)
            self.assertEqual((status, out), (2, ""), share)
            self.assertIn("--headroom", err)

    def test_search_takes_constraints_as_people_have_them(self):
        out = run_json("search", "-", "--json", "--hold", "tp=2", "--vary", "pp=1..4", "--hold", "memory<=40GiB", "--hold",
                       "fsdp inside the node", plan=PLAN)[1]
        self.assertEqual((out["space"]["tp"], out["space"]["pp"]), ([2], [1, 2, 4]))
        self.assertEqual(out["space"]["inside"], [{"axis": "fsdp", "tier": "NVLink"}])
        self.assertTrue(out["results"])
        for found in out["results"]:
            self.assertLessEqual(found["memory_bytes"], 40 * 2**30)
            self.assertLessEqual(found["layout"]["dp_shard"] * found["layout"].get("cp", 1), 8)
        self.assertIn("Asked for: tp inside NVLink, at most 40 GiB a GPU.",
                      run("search", "-", "--hold", "tp inside the node", "--hold", "memory<=40GiB", plan=PLAN)[1])
        best = run_json("search", "-", "--json", plan=PLAN)[1]["results"][0]["step_s"]
        near = run_json("search", "-", "--json", "--goal", "memory", "--within", "5 %", plan=PLAN)[1]
        self.assertEqual((near["within"], near["goal"]), (0.05, "memory"))
        self.assertEqual(near["results"][-1]["step_s"], best)
        self.assertLessEqual(near["results"][0]["step_s"], best * 1.05)
        tied = run_json("search", "mesh-8", "--json", "--within", "5%")[1]
        self.assertEqual(tied["ties"]["within"], 0.05)
        self.assertEqual(run_json("search", "-", "--json", "--headroom", "5%", plan=PLAN)[1]["results"],
                         run_json("search", "-", "--json", "--headroom", "0.05", plan=PLAN)[1]["results"])
        self.assertIn("was 5% meant", run("search", "mesh-8", "--headroom", "5")[2])

    def test_search_says_what_the_plans_software_does_not_run_of_it(self):
        why = "zero 2 with pp 16: Megatron-FSDP's mesh of ranks has no pipeline"
        search = ("search", "llama-3.1-405b-16k", "--vary", "zero=1", "--hold", "recompute")
        self.assertIn(". Megatron-LM does not run all of it: " + why, run(*search)[1])
        self.assertIn({"code": "software-zero", "message": why}, run_json(*search, "--json")[1]["base"]["lacks"])
        runs = (*search, "--set", "layout.zero=1", "--set", "layout.gradient_reduction=step")
        self.assertEqual(run_json(*runs, "--json")[1]["base"]["lacks"], [])

    def test_search_says_what_would_fit_where_nothing_does(self):
        status, out, err = run_json("search", "llama-3.1-405b-8k", "--json", "--set", "cluster.gpus=8", "--set",
                                    "training.global_batch=8")
        self.assertEqual(status, 1)
        self.assertEqual(out["results"], [])
        self.assertIn("memory binds first", out["nothing_fits"])
        self.assertIn("memory binds first", err)

    def test_the_columns_of_compare_add_up(self):
        status, out, _ = run_json("compare", "llama-3.1-405b-16k", "llama-3.1-405b-8k", "llama-3-70b-3d", "--json")
        self.assertEqual(status, 0)
        step = next(f for f in out["figures"] if f["key"] == "step.time_s")["values"]
        for i in range(3):
            # Other Pythons add in another way: the last bit may differ.
            self.assertAlmostEqual(sum(r["delta_s"][i] for r in out["why"]), step[i] - step[0], delta=1e-12 * max(step))
        for how in ("--csv", "--markdown"):
            self.assertEqual(run("compare", "mesh-8", "hsdp-64", how)[0], 0)
        status, _, err = run("compare", "mesh-8", "hsdp-64", "-o", "x.bmp")
        self.assertEqual(status, 2)
        self.assertIn(".png, .svg or .pdf", err)

    def test_own_runs_calibrate_a_cluster_whose_file_a_report_takes(self):
        plan = "llama-3-8b-fsdp"
        step = run_json("report", plan, "--json")[1]["step"]["time_s"]
        with tempfile.TemporaryDirectory() as folder:
            runs, constants = os.path.join(folder, "runs.json"), os.path.join(folder, "constants.json")
            with open(runs, "w") as f:
                json.dump({"cases": [{"id": "mine", "plan": plan, "measured": {"iteration_s": step * 1.2}}]}, f)
            status, out, _ = run_json("calibrate", runs, "-o", constants, "--json")
            self.assertEqual(status, 0)
            self.assertAlmostEqual(out["error"]["before"], 0.2, places=3)
            self.assertLess(out["error"]["after"], 0.15)  # one run moves it half of the way
            self.assertEqual([c["id"] for c in out["constants"]], ["efficiency.gemm"])
            self.assertTrue(out["runs"][0]["better"])
            told = run_json("report", plan, "--constants", constants, "--json")[1]
            self.assertAlmostEqual(told["step"]["time_s"], out["runs"][0]["after_s"], places=6)
            self.assertEqual(told["step"]["calibrated_from"], 1)
            self.assertIn("Calibrated from 1 run of your own", run("report", plan, "--constants", constants)[1])
            self.assertIn("mine", run("calibrate", runs)[1])
            status, _, said = run("calibrate", constants)
            self.assertEqual(status, 1)
            self.assertIn("/cases", said)

    def test_sensitivity_has_the_plan_and_its_rows(self):
        status, out, _ = run_json("sensitivity", "hsdp-64", "--json")
        self.assertEqual(status, 0)
        self.assertEqual(out["base"]["step_s"], run_json("report", "hsdp-64", "--json")[1]["step"]["time_s"])
        self.assertIn("/layout/tp", [r["id"] for r in out["rows"]])
        self.assertEqual(run("sensitivity", "hsdp-64", "--csv")[0], 0)
        up = next(r["up"] for r in out["rows"] if r["id"] == "/layout/tp")
        sets = [x for s in up["set"] for x in ("--set", s)]
        self.assertEqual(run_json("report", "hsdp-64", *sets, "--json")[1]["step"]["time_s"], up["step_s"])

    def test_a_cost_is_in_the_currency_of_its_plan(self):
        def unit_and_better(*currencies):
            with tempfile.TemporaryDirectory() as folder:
                plans = []
                for i, currency in enumerate(currencies):
                    sets = ["training.tokens_total=1e12", f"cluster.price_per_gpu_hour={i + 2}", f'cluster.currency="{currency}"']
                    plan = run_json("report", "hsdp-64", *[x for s in sets for x in ("--set", s)], "--json")[1]["plan"]
                    plans.append(os.path.join(folder, f"{i}.plan.json"))
                    with open(plans[-1], "w", encoding="utf-8") as f:
                        json.dump(plan, f)
                status, out, _ = run_json("compare", *plans, "--json")
                self.assertEqual(status, 0)
                cost = next(f for f in out["figures"] if f["key"] == "cost.cost")
                return cost["unit"], cost["better"]
        self.assertEqual(unit_and_better("USD", "USD"), ("USD", 0))
        self.assertEqual(unit_and_better("USD", "EUR"), ("its price's currency", None))

    def test_a_plan_may_follow_the_fields_that_are_set(self):
        self.assertEqual(run("report", "--set", "layout.zero=1", "hsdp-64"), run("report", "hsdp-64", "--set", "layout.zero=1"))

    def test_report_has_the_notes_of_the_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "noted.json")
            plan = run_json("report", "mesh-8", "--json")[1]["plan"]
            with open(path, "w", encoding="utf-8") as f:
                json.dump(dict(plan, notes="Asked for by the review of May."), f)
            self.assertIn("Asked for by the review of May.", run("report", path)[1])

    def test_report_says_what_the_training_costs_only_where_that_is_given(self):
        self.assertNotIn("What does the training take", run("report", "hsdp-64")[1])
        out = run("report", "hsdp-64", "--set", "training.tokens_total=1e12")[1]
        self.assertIn("GPU-hours", out)
        self.assertNotIn("kWh", out)


class Csv(unittest.TestCase):
    def test_each_part_of_a_report_is_a_table_for_a_spreadsheet(self):
        for command, column in (("memory", "total"), ("comm", "count_per_step"), ("tensors", "state"), ("groups", "axis")):
            with self.subTest(command):
                status, out, err = run(command, "hsdp-64", "--csv")
                self.assertEqual(status, 0, err)
                rows = list(csv.reader(io.StringIO(out)))
                self.assertGreater(len(rows), 1)
                self.assertEqual({len(r) for r in rows}, {len(rows[0])})
                self.assertTrue(any(column in c for c in rows[0]), rows[0])
                self.assertEqual(run(command, "hsdp-64", "--csv", "--json")[0], 2)


class Lessons(unittest.TestCase):
    def test_lessons_and_courses_are_listed_with_their_minutes(self):
        status, out, _ = run("lesson")
        self.assertEqual(status, 0)
        self.assertIn("courses (--course)", out)
        self.assertRegex(out, r"40-minutes +The map in 40 minutes, 40 min")

    def test_a_course_is_one_booklet_with_its_answers_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "booklet.html")
            status, _, err = run("lesson", "--course", "40-minutes", "--html", "-o", page)
            if status == 1 and "EGL" in err:
                self.skipTest(err)
            self.assertEqual(status, 0, err)
            with open(page, encoding="utf-8") as f:
                text = f.read()
        self.assertTrue(text.lower().startswith("<!doctype html>"))
        self.assertNotIn("src=\"http", text)  # one file, that needs no other
        self.assertNotIn("{{", text)
        self.assertNotIn("(not in this plan)", text)
        self.assertGreater(text.count("<img"), 5)
        drawn = len(re.findall(r"<p>Draw (?:it on a line|a line over)", text))
        self.assertGreaterEqual(drawn, 3)
        asked, answered = text.split("<h2>Answers</h2>")
        self.assertEqual(asked.count("<svg"), drawn)  # an empty scale to draw on
        curves = len(re.findall(r"<p>Draw a line over", asked))
        self.assertEqual(answered.count("<svg"), curves)  # the same scale with the true line
        self.assertIn("The map in 40 minutes", text)
        with open(os.path.join(SOURCE, "assets/lessons/courses/40-minutes.md"), encoding="utf-8") as f:
            lessons = re.findall(r"^## (\S+)", f.read(), re.M)
        for lesson in lessons:
            with open(os.path.join(SOURCE, "assets/lessons", lesson + ".md"), encoding="utf-8") as f:
                title = re.search(r"^title: (.*)$", f.read(), re.M).group(1)
            self.assertIn(html.escape(title, quote=False), text, lesson)
        # Each question comes before any answer: answers are on the last pages.
        heads = re.findall(r"<h2>([^<]*)</h2>", text)
        self.assertEqual(heads[-1], "Answers")
        self.assertNotIn("The answer", text[:text.rindex("<h2>Answers</h2>")])

    def test_a_course_as_slides_says_the_same_words_as_the_page(self):
        if shutil.which("pdftotext") is None:
            self.skipTest("pdftotext is not installed (Debian: poppler-utils)")
        with tempfile.TemporaryDirectory() as folder:
            slides = os.path.join(folder, "slides.pdf")
            status, _, err = run("lesson", "--course", "40-minutes", "--pdf", "-o", slides)
            if status == 1 and "EGL" in err:
                self.skipTest(err)
            self.assertEqual(status, 0, err)
            status, page, err = run("lesson", "--course", "40-minutes", "--html")
            self.assertEqual(status, 0, err)
            text = subprocess.run(["pdftotext", slides, "-"], capture_output=True, check=True).stdout.decode()
        self.assertIn("The map in 40 minutes", text)
        self.assertNotIn("(not in this plan)", text)
        self.assertGreater(text.count("\f"), 12)
        pages = text.split("\f")
        self.assertTrue(any("1. A wall" in p and "How far" in p and "each GPU:" in p for p in pages))  # words and picture
        # Before and after stand on one slide, of the same steps as on the page.
        pairs = [p for p in pages if "As it was" in p]
        self.assertGreater(len(pairs), 8)
        self.assertEqual(len(pairs), page.count('<div class="pair">'))
        for pair in pairs:
            self.assertIn("With ", pair)

    def test_what_is_handed_in_is_judged_by_the_lessons(self):
        version = hashlib.sha256(b"One\nmesh-8\ngroups tp\n").hexdigest()[:16]

        def hand_in(folder, name, given):
            with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as f:
                json.dump({"format": "pentamesh-hand-in", "learner": name, "date": "1 May 2026",
                           "lessons": [{"title": "Mine", "step": 1, "marks": "r", "version": version,
                                        "given": [given]}]}, f)
        with tempfile.TemporaryDirectory() as folder:
            mine = os.path.join(folder, "mine.md")
            with open(mine, "w", encoding="utf-8") as f:
                f.write("---\ntitle: Mine\n---\n\n## One\nopen: mesh-8\n\n```ask\nnumber: groups tp\nprompt: How many?\n"
                        "mistake: 8 => That is every GPU.\n```\n")
            for name, given in (("Ada", "4"), ("Bo", "8"), ("Cy", "8.0"), ("Di", "2")):
                hand_in(folder, name, given)
            status, out, err = run("mark", folder, "--lesson", mine, "--json")
            self.assertEqual((status, err), (0, ""))
            marks = {p["learner"]: p["lessons"][0]["steps"][0] for p in json.loads(out)}
            self.assertEqual(marks["Ada"], {"title": "One", "mark": "right", "given": "4"})
            self.assertEqual(marks["Bo"]["mistake"], "That is every GPU.")
            self.assertEqual(marks["Di"], {"title": "One", "mark": "wrong", "given": "2"})
            status, out, _ = run("mark", folder, "--lesson", mine)
            self.assertIn("8 (2)", out)
            self.assertIn("That is every GPU.", out)
            status, out, _ = run("mark", folder)
            self.assertIn("no lesson here has this title", out)
            status, out, err = run("mark", tempfile.mkdtemp(dir=folder))
            self.assertEqual(status, 2)
            self.assertIn("has no file that was handed in", err)
            status, out, err = run("mark", os.path.join(folder, "Ada.json"), mine, "--lesson", mine, "--csv")
            self.assertEqual(status, 1)
            self.assertIn("is no file that was handed in", err)
            self.assertIn("Ada,Mine,1,0,0", out)

    def test_a_lesson_says_what_is_wrong_by_line_and_which_steps_are_long(self):
        head = "---\ntitle: Mine\n---\n\n## One\n"
        with tempfile.TemporaryDirectory() as folder:
            mine = os.path.join(folder, "mine.md")

            def said(step):
                with open(mine, "w", encoding="utf-8") as f:
                    f.write(head + step)
                return run("lesson", mine)
            status, _, err = said("open: mesh-9\nset: tp = four\nview: memory\npage: save\n\nWords.\n")
            self.assertEqual(status, 1)
            self.assertIn(f'{mine}:6: there is no plan "mesh-9", the closest is "mesh-8"', err)
            self.assertIn(f'{mine}:7: set: layout.tp wants a whole number from 1, "four" is not one', err)
            self.assertIn(f'{mine}:9: view memory has no page "save", the closest is "saved"', err)
            status, out, err = said("open: mesh-8\nview: memory\npage: saved\n\n" + "word " * 61 + "\n")
            self.assertEqual(status, 0)
            self.assertIn(f"{mine}:5: 61 words", err)
            status, out, err = said("open: mesh-8\nview: memory\n\n" + "word " * 60 + "\n\nmore:\n\nFolded.\n")
            self.assertEqual((status, err), (0, ""))
            self.assertIn("Folded.", out)

    def test_lessons_of_ones_own_stand_beside_those_that_ship(self):
        german = "---\ntitle: Tensorparallel\nlanguage: de\nminutes: 5\n---\n\n## Eins\nopen: mesh-8\nview: mesh\n\nWorte.\n"
        own = "---\ntitle: In my words\n---\n\n## One\nopen: mesh-8\nview: mesh\n\nWords.\n"
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("03-tensor-parallel.md", german), ("02-data-parallel.md", own),
                               ("04-pipeline.md", german.replace("language: de", "language: german!"))):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            status, out, err = run("lesson", "--lessons", folder)
            self.assertEqual((status, err), (0, ""))
            self.assertRegex(out, r"(?m)^03-tensor-parallel +3 Tensor parallelism.*\n03-tensor-parallel +Tensorparallel, 5 min, --language de, your own$")
            self.assertRegex(out, r"(?m)^02-data-parallel +In my words, your own$")
            self.assertNotIn("2 Data parallelism", out)
            self.assertIn("3 Tensor parallelism", run("lesson", "03-tensor-parallel", "--lessons", folder)[1])
            os.environ["PENTAMESH_LESSONS"] = folder
            try:
                status, out, _ = run("lesson", "03-tensor-parallel", "--language", "de")
                self.assertEqual(status, 0)
                self.assertIn("Worte.", out)
                status, page, err = run("lesson", "03-tensor-parallel", "--language", "de", "--html")
                if "EGL" not in err:
                    self.assertIn('<html lang="de">', page)
                self.assertIn("Words.", run("lesson", "02-data-parallel")[1])
                status, _, err = run("lesson", "03-tensor-parallel", "--language", "fr")
                self.assertEqual(status, 2)
                self.assertIn("03-tensor-parallel in de", err)
                status, _, err = run("lesson", "05-context", "--language", "de")
                self.assertEqual(status, 2)
                self.assertIn("in English only", err)
                status, _, err = run("lesson", "04-pipeline")
                self.assertEqual(status, 1)
                self.assertIn("04-pipeline.md:3: language is a tag such as de or pt-BR", err)
            finally:
                del os.environ["PENTAMESH_LESSONS"]
        status, _, err = run("lesson", "--lessons", folder)
        self.assertEqual(status, 3)
        self.assertIn("--lessons", err)

    def test_a_booklet_that_cannot_be_made_says_why(self):
        status, _, err = run("lesson", "--course", "40-minutes", "--pdf")
        self.assertEqual(status, 2)
        self.assertIn("-o booklet.pdf", err)
        status, _, err = run("lesson", "--course", "40-minuets", "--html")
        self.assertEqual(status, 3)
        self.assertIn("40-minutes", err)


class Calibration(unittest.TestCase):
    LOG = """using world size: 16, data-parallel size: 8, tensor-model-parallel size: 2
------------------------ arguments ------------------------
  bf16 ............................................ True
  ffn_hidden_size ................................. 14336
  global_batch_size ............................... 64
  group_query_attention ........................... True
  hidden_size ..................................... 4096
  max_position_embeddings ......................... 8192
  micro_batch_size ................................ 1
  num_attention_heads ............................. 32
  num_layers ...................................... 32
  num_query_groups ................................ 8
  padded_vocab_size ............................... 128256
  seq_length ...................................... 8192
  sequence_parallel ............................... True
  swiglu .......................................... True
  tensor_model_parallel_size ...................... 2
  untie_embeddings_and_output_weights ............. True
  use_distributed_optimizer ....................... True
  world_size ...................................... 16
-------------------- end of arguments ---------------------
"""

    @classmethod
    def megatron_log(cls):
        return cls.LOG + "".join(
            f" [2025-03-01 10:{i:02d}:00] iteration {i + 1:8d}/ 100 | consumed samples: {64 * (i + 1)} | elapsed time "
            f"per iteration (ms): {ms} | throughput per GPU (TFLOP/s/GPU): 390.0 | learning rate: 1.0E-04 |\n"
            for i, ms in enumerate([40000.0, 9000.0, 6100.0, 6000.0, 6020.0]))

    @staticmethod
    def nccl_table(bandwidth):
        table = "$ all_reduce_perf -b 8 -e 8G\n" + "".join(
            f"#  Rank  {r} Group  0 Pid 1 on worker-0 device  {r} [0x8d] NVIDIA H100 80GB HBM3\n" for r in range(8))
        table += ("#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw"
                  "   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n")
        size = 8
        while size <= 1 << 33:
            time = 14 * 3e-6 + size * 1.75 / bandwidth
            row = f"{time * 1e6:.2f} {size / time / 1e9:.2f} {size * 1.75 / time / 1e9:.2f} 0"
            table += f"{size:12d} {size // 4:12d} float sum -1 {row} {row}\n"
            size *= 2
        return table

    def test_a_whole_log_of_megatron_and_a_table_of_nccl_tests_calibrate_together(self):
        bandwidth = 300e9
        log, table = self.megatron_log(), self.nccl_table(bandwidth)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("train.log", log), ("all_reduce.txt", table)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            files = [os.path.join(folder, n) for n in ("train.log", "all_reduce.txt")]
            status, out, err = run_json("calibrate", *files, "--cluster", "h100-sxm-ib", "--json")
        self.assertEqual(status, 0, err)
        self.assertEqual([r["run"] for r in out["runs"]], ["train.log"])
        self.assertAlmostEqual(out["runs"][0]["measured_s"], 6.02, places=6)
        self.assertTrue(out["runs"][0]["better"])
        self.assertEqual(len(out["links"]), 1)
        measured = {c["id"]: c["after"] for c in out["constants"] if c["measured"]}
        # The wire itself is somewhat faster than a collective on it.
        self.assertTrue(0.97 * bandwidth < measured["tier.0.bytes_per_s"] < 1.4 * bandwidth, measured)
        self.assertEqual(out["cluster"]["calibration"]["from"], "train.log, all_reduce.txt")


class Models(unittest.TestCase):
    def test_a_config_json_is_a_plan_for_every_command_and_what_stands_in_is_said(self):
        config = os.path.join(SOURCE, "tests/golden/hf_configs/deepseek-v3.json")
        status, out, err = run("report", config, "--json", "--set", "cluster.gpus=64", "--set", "layout.dp_shard=64",
                               "--set", "training.global_batch=64")
        self.assertEqual(status, 0, err)
        self.assertIn("is a model, not a plan", err)
        parameters = json.loads(out)["parameters"]["total"]
        self.assertEqual(parameters, run_json("params", config, "--json")[1]["total"])
        with open(config, "rb") as file:
            self.assertEqual(run("groups", "-", plan=file.read())[0], 0)

    def test_a_config_json_that_cannot_be_stated_is_status_1_with_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                json.dump({"model_type": "nonsense", "hidden_size": 64, "num_hidden_layers": 2}, file)
            status, out, err = run("report", "config.json", folder=folder)
            self.assertEqual((status, out), (1, ""), err)
            self.assertIn("config.json", err)


class Statuses(unittest.TestCase):
    def test_a_wrong_command_line_is_status_2_with_nothing_on_stdout(self):
        for args in (["nonsense"], ["report"], ["report", "mesh-8", "--nonsense"], ["report", "mesh-8", "--json", "--html"],
                     ["groups", "mesh-8", "--axis", "tpp"], ["timeline", "mesh-8", "--costs", "F=1"],
                     ["timeline", "mesh-8", "--costs", "F=1,I=x,W=1"], ["timeline", "mesh-8", "--costs", "F=1e308,I=1,W=1"], ["schema", "nonsense"],
                     ["report", "mesh-8", "--set", "layout.tp"], ["rank", "mesh-8", "one"]):
            status, out, err = run(*args)
            self.assertEqual(status, 2, args)
            self.assertEqual(out, "", args)
            self.assertNotEqual(err, "", args)

    def test_a_misspelt_command_is_told_the_closest_one(self):
        self.assertIn('"memory"', run("memroy")[2])

    def test_help_and_version_are_results(self):
        for args in (["--help"], ["--version"], ["report", "--help"], ["timeline", "--help"]):
            status, out, err = run(*args)
            self.assertEqual((status, err), (0, ""), args)
            self.assertNotEqual(out, "", args)

    def test_a_file_that_cannot_be_read_is_status_3_and_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("no-such-plan.json", folder):
                status, out, err = run("report", name, "--json")
                self.assertEqual((status, out), (3, ""), name)
                self.assertIn(name, err)
            with open(os.path.join(folder, "huge.json"), "wb") as f:
                f.truncate(1 << 30)
            status, _, err = run("report", os.path.join(folder, "huge.json"))
            self.assertEqual(status, 3)
            self.assertIn("64 MiB", err)

    def test_a_lesson_that_cannot_be_read_is_status_3(self):
        for name in ("/dev/zero", "nonsense"):
            status, out, err = run("lesson", name)
            self.assertEqual((status, out), (3, ""), name)
            self.assertIn(name, err)

    def test_a_rank_beyond_all_numbers_is_named_as_it_was_written(self):
        status, _, err = run("rank", "mesh-8", "99999999999999999999")
        self.assertEqual(status, 1)
        self.assertIn("no rank 99999999999999999999: the plan has ranks 0 to 7", err)

    def test_the_limit_of_a_rate_is_said(self):
        cluster = {"gpus": 8, "gpu": "h100-sxm", "tiers": [{"name": "NVLink", "kind": "nvlink", "bytes_per_s": 1e308, "latency_s": 2e-6}]}
        status, _, err = run("report", "-", plan=PLAN | {"cluster": cluster})
        self.assertEqual(status, 1)
        self.assertIn("at most 1e+30", err)

    @unittest.skipUnless(sys.platform.startswith("linux"), "asks for a limit of the address space")
    def test_a_command_without_memory_is_an_error_and_no_crash(self):
        commands = (("search", "--model", "llama-3-70b", "--cluster", "h100-sxm-ib", "--gpus", "2048", "--set",
                     "training.global_batch=15360"),
                    ("sensitivity", "llama-3.1-405b-131k"), ("compare", "llama-3-70b-3d", "llama-3.1-405b-16k"))
        began = False
        for kilobytes in (30000, 40000, 80000, 300000):
            limited = ["bash", "-c", f'ulimit -v {kilobytes}; exec "$@"', "-", PROGRAM]
            if subprocess.run([*limited, "--version"], capture_output=True, timeout=60).returncode:
                continue  # it cannot begin within this limit
            began = True
            for command in commands:
                with self.subTest(limit=kilobytes, command=command[0]):
                    r = subprocess.run([*limited, *command], capture_output=True, timeout=120)
                    self.assertIn(r.returncode, (0, 1))
                    if r.returncode:
                        self.assertIn(b"memory", r.stderr)
        if not began:
            self.skipTest("a program with sanitizers reserves more address space than this before it begins")

    def test_a_file_that_cannot_be_written_is_status_3(self):
        self.assertEqual(run("report", "mesh-8", "-o", "/nonexistent/folder/report.txt")[0], 3)
        self.assertEqual(run("timeline", "mesh-8", "--trace", "/nonexistent/folder/trace.json")[0], 3)

    def test_what_a_plan_may_not_say_is_status_1_and_in_the_json(self):
        for pointer, value, says in (("/layout/tp", 0, "/layout/tp"), ("/layout/tpp", 8, "tp"), ("/training", None, "/training"),
                                     ("/model", "llama-3-8", "llama-3-8b")):
            status, out, err = run_json("report", "-", "--json", plan=changed(pointer, value))
            self.assertEqual(status, 1)
            self.assertFalse(out["valid"])
            self.assertEqual(out["problems"][0]["pointer"], pointer)
            self.assertIn(says, err)

    def test_an_impossible_layout_is_status_1_with_a_reason_and_a_fix(self):
        status, out, err = run_json("report", "-", "--json", plan=changed("/training/global_batch", 63))
        self.assertEqual(status, 1)
        self.assertFalse(out["valid"])
        errors = [p for p in out["problems"] if p["severity"] == "error"]
        self.assertTrue(any("/training/global_batch" in p["pointer"] for p in errors))
        self.assertIn("/training/global_batch", err)

    def test_a_fix_in_the_json_mends_the_plan(self):
        plan = changed("/training/global_batch", 63)
        problem = next(p for p in run_json("report", "-", "--json", plan=plan)[1]["problems"] if p["fix"])
        sets = [x for f in problem["fix"] for x in ("--set", f"{f['path']}={json.dumps(f['value'])}")]
        status, out, _ = run_json("report", "-", "--json", *sets, plan=plan)
        self.assertNotIn(problem["code"], [p["code"] for p in out["problems"]])

    def test_exports_are_texts_of_their_language(self):
        readers = {"megatron": lambda t: subprocess.run(["bash", "-n"], input=t, text=True, check=True, capture_output=True),
                   "bridge": ast.parse, "torchtitan": ast.parse, "device-mesh": ast.parse, "deepspeed": json.loads, "picotron": json.loads,
                   "hf": json.loads, "accelerate": str, "nanotron": str, "maxtext": str}
        for target, read in readers.items():
            for plan in ("mesh-8", "llama-3-70b-3d", "deepseek-v3-2048", "single-gpu"):
                status, out, err = run("export", plan, "--to", target, "--lossy", "--set", "name=a \"b\" 'c'\nd $(e)")
                with self.subTest(target=target, plan=plan):
                    if (target, plan) == ("maxtext", "deepseek-v3-2048"):  # 120 micro-batches are no multiple of its 16 stages
                        self.assertEqual((status, out), (1, ""))
                        self.assertIn("MaxText refuses", err)
                        continue
                    self.assertEqual(status, 0)
                    read(out)

    def test_an_export_that_would_lose_something_needs_lossy(self):
        status, out, err = run("export", "llama-3-70b-3d", "--to", "deepspeed")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("/layout/pp", err)
        self.assertIn("--lossy", err)
        status, out, err = run("export", "llama-3-70b-3d", "--to", "deepspeed", "--lossy")
        self.assertEqual(status, 0)
        self.assertIn("/layout/pp", err)
        self.assertIn("/layout/pp", " ".join(json.loads(out)["_comment"]))
        self.assertEqual(run("export", "mesh-8", "--to", "devicemesh")[0], 0)
        self.assertEqual(run("export", "mesh-8", "--to", "nothing")[0], 2)
        self.assertEqual(run("export", "mesh-8")[0], 2)
        self.assertEqual(run("export", "mesh-8", "--to", "hf", "-o", "/nonexistent/x.json")[0], 3)

    def test_a_script_names_files_from_the_folder_above_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            scripts = os.path.join(folder, "scripts")
            os.mkdir(scripts)
            with open(os.path.join(scripts, "stages.json"), "w", encoding="utf-8") as f:
                json.dump({"zero_optimization": {"stage": 3}, "bf16": {"enabled": True}}, f)
            file = os.path.join(scripts, "sft.sh")
            with open(file, "w", encoding="utf-8") as f:
                f.write("deepspeed --num_gpus 8 train.py --model_name_or_path Qwen/Qwen3-8B --bf16 True"
                        " --per_device_train_batch_size 1 --gradient_accumulation_steps 4"
                        " --deepspeed ./scripts/stages.json\n")
            status, out, _ = run_json("import", file, "--json")
            self.assertEqual((status, out["plan"]["layout"]["zero"]), (0, 3))

    def test_an_exported_script_is_imported_with_the_same_layout(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "train.sh")
            self.assertEqual(run("export", "llama-3-70b-3d", "--to", "megatron", "-o", file)[0], 0)
            status, out, _ = run_json("import", file, "--json")
            self.assertEqual((status, out["kind"]), (0, "megatron"))
            layout = out["plan"]["layout"]
            self.assertEqual((layout["tp"], layout["pp"], layout["dp_shard"], layout["zero"]), (8, 4, 8, 1))

    def test_a_file_of_several_recipes_is_listed_and_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "recipes.py")
            with open(file, "w", encoding="utf-8") as f:
                f.write(RECIPES)
            status, out, err = run_json("import", file, "--json")
            self.assertEqual((status, out["plan"]), (2, None))
            self.assertEqual(out["recipes"], ["llama3_8b_pretrain_8gpu_h100_config", "llama3_8b_pretrain_16gpu_h100_config"])
            self.assertIn("llama3_8b_pretrain_16gpu_h100_config", err)
            status, out, _ = run_json("import", file, "--recipe", "llama3_8b_pretrain_16gpu_h100_config", "--json")
            self.assertEqual((status, out["recipe"]), (0, "llama3_8b_pretrain_16gpu_h100_config"))
            self.assertEqual((out["plan"]["cluster"]["gpus"], out["plan"]["layout"]["tp"]), (16, 4))
            self.assertEqual(run("import", file, "--recipe", "llama3")[0], 2)

    def test_a_script_takes_values_from_the_command_line_and_files_from_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "train.sh")
            with open(file, "w", encoding="utf-8") as f:
                f.write("source sizes.sh\nTP=$1\n" + JOB)
            with open(os.path.join(folder, "sizes.sh"), "w", encoding="utf-8") as f:
                f.write("LAYERS=8\n")
            status, out, err = run_json("import", file, "--json")
            self.assertEqual((status, out["plan"]), (1, None))
            self.assertIn("--args", err)
            status, out, _ = run_json("import", file, "--args", "4", "--json")
            self.assertEqual((status, out["plan"]["layout"]["tp"]), (0, 4))
            self.assertEqual(run("import", file, "--var", "TP")[0], 2)
            self.assertEqual(run("check", file, "--var", "TP")[0], 2)
            # A layout that cannot be run opens with its fix; --set mends it.
            status, out, _ = run_json("import", file, "--args", "3", "--json")
            self.assertEqual((status, out["plan"]["layout"]["tp"]), (1, 3))
            self.assertTrue(any(p["fix"] for p in out["problems"] if p["severity"] == "error"))
            status, out, _ = run_json("import", file, "--args", "3", "--set", "layout.tp=8",
                                      "--set", "layout.dp_replicate=2", "--set", "training.global_batch=16", "--json")
            self.assertEqual((status, out["plan"]["layout"]["tp"]), (0, 8))

    def test_a_module_of_another_package_is_not_the_file_of_its_name(self):
        # Megatron-Bridge 067f987d: perf_recipes/qwen/h100/qwen3_moe.py begins with recipes.qwen.h100.qwen3_moe.
        name = "qwen3_30b_a3b_pretrain_16gpu_h100_bf16_config"
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "perf_recipes", "qwen", "h100")
            os.makedirs(place)
            for package in (folder + "/perf_recipes", folder + "/perf_recipes/qwen", place):
                with open(os.path.join(package, "__init__.py"), "w", encoding="utf-8"):
                    pass
            file = os.path.join(place, "qwen3_moe.py")
            with open(file, "w", encoding="utf-8") as f:
                f.write("from megatron.bridge.recipes.qwen.h100.qwen3_moe import (\n"
                        f"    {name} as _base,\n)\nfrom megatron.bridge.perf_recipes.qwen.common import _wide\n\n\n"
                        f"def {name}() -> ConfigContainer:\n    cfg = _base()\n    _wide(cfg)\n    return cfg\n")
            with open(os.path.join(folder, "perf_recipes", "qwen", "common.py"), "w", encoding="utf-8") as f:
                f.write("def _wide(cfg):\n    cfg.train.micro_batch_size = 2\n")
            status, out, _ = run_json("import", file, "--json")
            self.assertEqual((status, out["plan"]["layout"]["ep"]), (0, 16))
            self.assertEqual(out["plan"]["training"]["micro_batch"], 2)

    def test_check_says_of_a_folder_what_cannot_run(self):
        with tempfile.TemporaryDirectory() as folder:
            def put(name, text):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            put("recipes.py", RECIPES)
            put("notes.json", "{}")
            put("mine.plan.json", json.dumps(PLAN))
            status, out, err = run_json("check", folder, "--json")
            rows = {(os.path.basename(r["file"]), r["recipe"]): r for r in out["checked"]}
            self.assertEqual((status, err, len(rows)), (0, "", 3))
            self.assertEqual({r["verdict"] for r in rows.values()}, {"ok"})
            put("broken.sh", "LAYERS=8\nTP=3\n" + JOB)
            xml = os.path.join(folder, "out.xml")
            status, out, err = run_json("check", folder, "--json", "--junit", xml)
            self.assertEqual((status, err), (1, ""))
            row = next(r for r in out["checked"] if r["file"].endswith("broken.sh"))
            self.assertEqual(row["verdict"], "refused")
            self.assertTrue(any(p["fix"] for p in row["problems"]))
            with open(xml, encoding="utf-8") as f:
                self.assertIn('tests="4" failures="1"', f.read())
            page = os.path.join(folder, "out.html")
            self.assertEqual(run("check", folder, "--html", page)[0], 1)
            with open(page, encoding="utf-8") as f:
                text = f.read()
            self.assertEqual(text.count("<svg"), 3)  # a map of each that can run
            self.assertLess(text.index("refused: "), text.index("ok: "))
            self.assertIn("Change: ", text)
            status, out, _ = run("check", os.path.join(folder, "broken.sh"), "--why")
            self.assertEqual(status, 1)
            self.assertIn("change: ", out)
            self.assertIn("1 configuration: 0 ok, 1 refused", out)
            self.assertEqual(run("check", os.path.join(folder, "none.sh"))[0], 3)
            self.assertEqual(run("check")[0], 2)

    def test_blame_says_what_ranks_share_and_on_which_hosts(self):
        status, out, _ = run_json("blame", "mesh-8", "0-1", "--hosts", "node[01-02]", "--json")
        self.assertEqual((status, out["ranks"], out["shared"]["node"], out["hosts"]), (0, [0, 1], 0, ["node01"]))
        self.assertEqual((out["groups"][0]["axis"], out["groups"][0]["ranks"]), ("tp", [0, 1]))
        status, out, _ = run("blame", "mesh-8", "0", "7")
        self.assertEqual(status, 0)
        self.assertIn("None: no collective waits for all of them.", out)
        self.assertEqual(run("blame", "mesh-8", "8")[0], 1)
        self.assertEqual(run("blame", "mesh-8")[0], 2)
        status, out, _ = run_json("groups", "mesh-8", "--axis", "tp", "--hosts", "a,b", "--json")
        self.assertEqual((status, out["hosts"], out["gpus_per_host"]), (0, ["a", "b"], 4))
        self.assertEqual(run("groups", "mesh-8", "--hosts", "a[1-3]")[0], 1)

    def test_a_table_of_nccl_tests_sets_the_tier_of_a_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            table, plan = os.path.join(folder, "perf.txt"), os.path.join(folder, "plan.json")
            with open(table, "w", encoding="utf-8") as f:
                f.write("all_reduce_perf -g 4\n# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n")
                f.write("".join(f"# Rank {r} Group 0 Pid 1 on a device {r} [0x8d] H100\n" for r in range(4)))
                f.write("1073741824 268435456 float sum -1 5368.7 200.00 300.00 0 5368.7 200.00 300.00 0\n")
            status, out, _ = run_json("import", table, "--on", "mesh-8", "-o", plan, "--json")
            self.assertEqual((status, out["kind"]), (0, "nccl-tests"))
            value = out["problems"][0]["fix"][0]["value"]
            self.assertEqual(out["plan"]["cluster"]["tiers"][0]["bytes_per_s"], value)
            self.assertEqual(run("report", plan)[0], 0)
            self.assertIn("--set /cluster/tiers/0/bytes_per_s=", run("import", table)[1])
            self.assertEqual(run("import", table, "--from", "megatron", "--on", "mesh-8")[0], 2)

    def test_a_reader_that_goes_away_is_no_error(self):
        command = f"set -o pipefail; '{PROGRAM}' groups llama-3.1-405b-16k --json | head -c 10 > /dev/null"
        r = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
        self.assertEqual((r.returncode, r.stderr), (0, b""))

    def test_names_of_files_may_have_any_letters_in_any_locale(self):
        name = "plän-模型-план.plan.json"
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "w") as f:
                json.dump(PLAN, f)
            for locale in ("C", "C.UTF-8", "de_DE.UTF-8"):
                env = {**os.environ, "LC_ALL": locale}
                said = subprocess.run([PROGRAM, "report", name, "--json", "-o", "bericht-日.json"], capture_output=True,
                                      cwd=folder, env=env, timeout=60)
                self.assertEqual((said.returncode, said.stderr), (0, b""), locale)
                with open(os.path.join(folder, "bericht-日.json"), "rb") as f:
                    self.assertEqual(json.load(f)["step"], run_json("report", "-", "--json", plan=PLAN)[1]["step"])
                missing = subprocess.run([PROGRAM, "report", "日.json"], capture_output=True, cwd=folder, env=env, timeout=60)
                self.assertEqual(missing.returncode, 3)
                self.assertIn("日.json".encode(), missing.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no device that is always full")
    def test_a_full_disk_is_status_3_and_named(self):
        for name in ("mesh-8", "llama-3.1-405b-16k"):  # less and more than one piece of output
            with open("/dev/full", "wb") as full:
                r = subprocess.run([PROGRAM, "groups", name, "--json"], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(r.returncode, 3, name)
            self.assertIn(b"standard output", r.stderr, name)

    @unittest.skipUnless(sys.platform == "linux", "reads the peak of a process' memory as Linux tells it")
    def test_a_million_ranks_are_listed_without_being_held(self):
        plan = json.loads(json.dumps(PLAN))
        plan["cluster"]["gpus"] = 1 << 20
        plan["layout"] = {"tp": 8, "pp": 4, "dp_shard": 64, "dp_replicate": 512, "zero": 1}
        plan["training"]["global_batch"] = 1 << 20
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "plan.json"), "w") as f:
                json.dump(plan, f)
            # It runs in a process of its own, which has no other children: the peak without the ranks, then with them.
            code = ("import resource, subprocess, sys\n"
                    "for more in ['--summary'], []:\n"
                    "    with open('out.json', 'wb') as f: subprocess.run(sys.argv[1:] + more, stdout=f, check=True)\n"
                    "    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            r = subprocess.run([sys.executable, "-c", code, PROGRAM, "groups", "plan.json", "--json", "--axis", "mp"],
                               capture_output=True, cwd=folder, timeout=60)
            without, listed = map(int, r.stdout.split())  # kilobytes
            with open(os.path.join(folder, "out.json")) as f:
                mp = json.load(f)["axes"][0]
        self.assertEqual(sorted(rank for group in mp["ranks"] for rank in group), list(range(1 << 20)))
        self.assertEqual({len(group) for group in mp["ranks"]}, {32})
        self.assertLess(listed - without, 32 << 10)


class Results(unittest.TestCase):
    def test_every_plan_that_ships_is_valid_but_those_that_show_mistakes(self):
        ids = plan_presets()
        self.assertGreaterEqual(len(ids), 16)
        for name in ids:
            status, out, err = run_json("report", name, "--json")
            if not name.startswith("broken-"):
                self.assertEqual(status, 0, name + err)
                self.assertGreater(out["step"]["time_s"], 0, name)
            elif status == 0:
                self.assertTrue([p for p in out["problems"] if p["severity"] != "info"], name)

    def test_commands_agree_with_the_report(self):
        report = run_json("report", "llama-3-70b-3d", "--json")[1]
        for part in ("memory", "comm"):
            alone = run_json(part, "llama-3-70b-3d", "--json")[1]
            self.assertEqual({k: alone[k] for k in report[part]}, report[part])
        groups = run_json("groups", "llama-3-70b-3d", "--summary", "--json")[1]
        self.assertEqual(groups["axes"], report["groups"]["axes"])
        timeline = run_json("timeline", "llama-3-70b-3d", "--json")[1]
        self.assertEqual(timeline["makespan"], report["timeline"]["makespan"])
        self.assertNotIn("ops", report["timeline"]["devices"][0])

    def test_weight_shards_have_groups_where_a_plan_has_them(self):
        def axes(*options):
            groups = run_json("groups", "llama-3-70b-3d", *options, "--json")[1]
            return {axis["axis"]: axis for axis in groups["axes"]}
        self.assertNotIn("gtp_remat", axes("--summary"))
        cut = axes("--set", "layout.weight_shards=2")
        tp = cut["tp"]["degree"]
        self.assertEqual(cut["gtp_remat"]["ranks"][0], [0, tp])  # next to tp
        self.assertEqual(2 * cut["dp_without_gtp_remat"]["degree"], cut["dp"]["degree"])
        status, _, err = run("groups", "llama-3-70b-3d", "--axis", "gtp_remat")
        self.assertEqual(status, 1)
        self.assertIn("no weight_shards beyond tp", err)
        rank = run_json("rank", "llama-3-70b-3d", "0", "--set", "layout.weight_shards=2", "--json")[1]
        self.assertIn("gtp_remat", [group["axis"] for group in rank["groups"]])

    def test_bytes_are_integers_and_categories_add_up(self):
        memory = run_json("memory", "deepseek-v3-2048", "--json")[1]
        for stage in memory["stages"]:
            parts = [stage[k] for k in ("parameters", "gradients", "optimizer", "activations", "buffers")]
            self.assertTrue(all(isinstance(p, int) for p in parts))
            self.assertEqual(sum(parts), stage["total"])
        self.assertEqual(memory["peak"], memory["stages"][memory["peak_stage"]]["total"])

    def test_the_parts_of_a_step_add_up(self):
        step = run_json("report", "llama-3.1-405b-16k", "--json")[1]["step"]
        total = sum(step[k] for k in ("compute_s", "recompute_s", "slowed_by_traffic_s", "bubble_s", "offload_s", "optimizer_s", "straggler_s"))
        self.assertAlmostEqual(total + sum(step["exposed_comm_s"].values()), step["time_s"], delta=1e-6 * step["time_s"])

    def test_lanes_say_what_waits_and_why(self):
        report = run_json("report", "mesh-8", "--json")[1]
        lanes = run_json("lanes", "mesh-8", "--json")[1]
        self.assertEqual([lane["name"] for lane in lanes["lanes"]][0], "compute")
        calls = [b for b in lanes["blocks"] if b["what"] == "call"]
        self.assertTrue(all(b["start"] < b["end"] <= lanes["end_s"] * (1 + 1e-9) and b["queued_s"] >= 0 for b in calls))
        waits = sum(b["end"] - b["start"] - b["hidden"] for b in calls)
        self.assertAlmostEqual(waits, lanes["waits_s"], delta=1e-6 * lanes["end_s"])
        state = [o for o in report["comm"]["operations"] if o["waits_because"] == "nothing_to_hide_behind"
                 and o["axis"].startswith("dp")]
        self.assertTrue(state)
        layer = run_json("lanes", "deepseek-v3-2048", "--layer", "--json")[1]
        self.assertEqual(layer["layers"], 4)
        calls = [b for b in layer["blocks"] if b["what"] == "call"]
        self.assertEqual({b["axis"] for b in calls}, {"ep"})
        self.assertAlmostEqual(sum(b["end"] - b["start"] - b["hidden"] for b in calls), layer["waits_s"], delta=1e-9)
        status, out, err = run("lanes", "single-gpu", "--layer")
        self.assertEqual(status, 2)
        self.assertIn("tp, cp and ep are off", err)
        status, out, err = run("lanes", "mesh-8", "--stage", "4")
        self.assertEqual(status, 2)
        self.assertIn("--stage 4", err)

    def test_a_move_says_what_stays_and_what_each_wire_brings(self):
        there = ("--set-b", "layout.tp=4", "--set-b", "layout.pp=2", "--set-b", "layout.dp_shard=32")
        weights = run_json("move", "llama-3-70b-3d", *there, "--json")[1]
        everything = run_json("move", "llama-3-70b-3d", *there, "--state", "all", "--rank", "1", "--json")[1]
        for move in (weights, everything):
            self.assertEqual(move["needed_bytes"], move["stays_bytes"] + move["moved_bytes"])
            for parts in ("by_tier", "by_axis", "by_kind", "tensors"):
                moved = sum(p["moved_bytes"] for p in move[parts])
                self.assertAlmostEqual(moved, move["moved_bytes"], delta=1e-6 * move["moved_bytes"])
            self.assertAlmostEqual(move["bound_s"], max(t["at_least_s"] for t in move["by_tier"]))
            self.assertIn(move["slowest_tier"], move["sentence"])
        self.assertEqual([k["kind"] for k in everything["by_kind"]], ["parameters", "optimizer"])
        self.assertEqual(everything["rank"]["rank"], 1)
        # A GPU of B needs four quarters of an eighth of the weights' 20 layers: two of them from another node,
        # which it and its twin fetch by halves.
        own = {}
        for p in weights["rank"]["pieces"]:
            if p["tensor"] == "mlp.up":
                own[p["tier"]] = own.get(p["tier"], 0) + p["bytes"]
        quarter = 28672 // 8 * 8192 * 2 * 20
        self.assertEqual(own, {None: quarter, "NVLink": 2 * quarter, "InfiniBand": quarter})
        still = run_json("move", "mesh-8", "mesh-8", "--json")[1]
        self.assertEqual(still["moved_bytes"], 0)
        self.assertIsNone(still["slowest_tier"])
        apart = run_json("move", "mesh-8", "mesh-8", "--apart", "--json")[1]
        self.assertEqual(apart["stays_bytes"], 0)
        self.assertEqual(apart["to"]["first_gpu"] % 8, 0)
        status, out, err = run("move", "llama-3-70b-3d", "mesh-8")
        self.assertEqual(status, 1)
        self.assertIn("the same model", err)
        status, out, err = run("move", "mesh-8")
        self.assertEqual(status, 2)
        self.assertIn("--set-b", err)
        status, out, err = run("move", "mesh-8", "mesh-8", "--rank", "8")
        self.assertEqual(status, 2)
        self.assertIn("ranks 0 to 7", err)
        with tempfile.TemporaryDirectory() as folder:
            picture, text = os.path.join(folder, "move.svg"), os.path.join(folder, "move.txt")
            status, out, err = run("move", "llama-3-70b-3d", *there, "--state", "all", "-o", picture)
            self.assertEqual((status, out), (0, ""))
            with open(picture, encoding="utf-8") as f:
                drawn = f.read()
            for words in ("Which axis makes it move?", "its optimizer states", "Of the 8 GPUs of this node"):
                self.assertIn(words, drawn)
            self.assertEqual(run("move", "llama-3-70b-3d", *there, "-o", text)[:2], (0, ""))
            with open(text, encoding="utf-8") as f:
                self.assertIn("Which axis makes it move", f.read())

    def test_groups_hold_every_rank_once_and_axes_can_be_chosen(self):
        out = run_json("groups", "mesh-8", "--axis", "tp", "--axis", "dp", "--json")[1]
        self.assertEqual([a["axis"] for a in out["axes"]], ["tp", "dp"])
        for axis in out["axes"]:
            self.assertEqual(sorted(r for g in axis["ranks"] for r in g), list(range(8)))

    def test_several_axes_follow_one_option_and_text_lists_every_group_with_its_ranks(self):
        out = run_json("groups", "mesh-8", "--axis", "tp", "dp", "--json")[1]
        self.assertEqual([a["axis"] for a in out["axes"]], ["tp", "dp"])
        self.assertEqual(run_json("groups", "mesh-8", "--axis", "dp", "tp", "tp", "--json")[1], out)
        text = run("groups", "mesh-8", "--axis", "tp")[1]
        for group in out["axes"][0]["ranks"]:
            self.assertIn("  " + ", ".join(str(r) for r in group) + "\n", text)
        self.assertNotIn("0, 1\n", run("groups", "mesh-8", "--axis", "tp", "--summary")[1])
        folded = run("groups", "llama-3.1-405b-16k", "--axis", "dp")[1]
        self.assertIn(" \u2026 ", folded)

    def test_an_impossible_plan_has_no_figures_in_any_section(self):
        for command in ("report", "groups", "memory", "comm", "timeline"):
            status, out, _ = run(command, "llama-3-70b-3d", "--set", "layout.tp=7")
            self.assertEqual(status, 1, command)
            self.assertIn("\u2014: ", out, command)
            figures = out.replace("GB/s", "").split("Problems and advice")[-1]
            self.assertIsNone(re.search(r"\d (s|ms|GiB|MiB|GB|%|TFLOP)", figures), command)
        groups = run_json("groups", "llama-3-70b-3d", "--set", "layout.tp=7", "--json")[1]
        self.assertEqual(groups["axes"], [])

    def test_the_json_of_an_impossible_plan_has_null_where_a_figure_would_stand(self):
        def numbers(value):
            if isinstance(value, dict):
                return [n for v in value.values() for n in numbers(v)]
            if isinstance(value, list):
                return [n for v in value for n in numbers(v)]
            return [value] if isinstance(value, (int, float)) else []
        for command in ("memory", "comm", "timeline", "groups"):
            status, out = run_json(command, "llama-3-70b-3d", "--set", "layout.tp=7", "--json")[:2]
            self.assertEqual(status, 1)
            self.assertIs(out.pop("valid"), False)
            self.assertIn("tp = 7", out.pop("problems")[0]["message"])
            self.assertEqual(numbers(out), [], command)
        report = run_json("report", "llama-3-70b-3d", "--set", "layout.tp=7", "--json")[1]
        for part in ("memory", "comm", "timeline", "groups"):
            self.assertEqual(numbers(report[part]), [], part)
        self.assertIsNone(report["step"])

    def test_a_title_that_set_makes_false_is_not_printed(self):
        title = run_json("report", "llama-3-70b-3d", "--json")[1]["plan"]["name"]
        larger = ("--set", "cluster.gpus=512", "--set", "layout.dp_replicate=2")
        _, out, err = run("report", "llama-3-70b-3d", *larger)
        self.assertTrue(out.startswith("Llama 3 70B, 512 H100, tp 8 pp 4\n"), out[:60])
        self.assertEqual(err, f'pentamesh: The title "{title}" and its notes no longer hold and are gone\n')
        _, out, err = run("report", "llama-3-70b-3d", "--set", "training.global_batch=512")
        self.assertTrue(out.startswith("Llama 3 70B, tp 8 × pp 4"), out[:60])
        self.assertEqual(err, "")
        self.assertEqual(run("report", "llama-3-70b-3d", *larger, "--set", "name=mine")[2], "")

    def test_a_rank_is_in_the_groups_that_the_groups_command_lists(self):
        rank = run_json("rank", "deepseek-v3-2048", "77", "--json")[1]
        groups = {a["axis"]: a["ranks"] for a in run_json("groups", "deepseek-v3-2048", "--json")[1]["axes"]}
        for group in rank["groups"]:
            self.assertIn(77, group["ranks"])
            self.assertEqual(groups[group["axis"]][group["group"]], group["ranks"])
        self.assertEqual(run("rank", "mesh-8", "8", "--json")[0], 1)

    def test_tensors_name_their_placement(self):
        tensors = run_json("tensors", "llama-3-8b-fsdp", "--json")[1]["tensors"]
        at_rest = [t for t in tensors if t["state"] == "parameters" and t["moment"] == "at_rest"]
        self.assertTrue(at_rest)
        self.assertTrue(all(t["axes"]["dp_shard"]["placement"] == "cut" for t in at_rest))
        self.assertTrue(all(t["bytes_per_rank"] < t["bytes"] for t in at_rest))

    def test_a_timeline_takes_costs_of_ones_own(self):
        out = run_json("timeline", "-", "--costs", "F=1,I=1,W=1,comm=0", "--json", plan=PLAN)[1]
        m, p = out["microbatches"], out["stages"]
        self.assertAlmostEqual(out["makespan"], (m + p - 1) * 3)
        self.assertEqual(sum(len(d["ops"]) for d in out["devices"]), 2 * m * p)

    def test_a_trace_is_a_chrome_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "trace.json")
            status, out, err = run("timeline", "llama-3-70b-3d", "--trace", file)
            self.assertEqual((status, out), (0, ""), err)
            with open(file, encoding="utf-8") as f:
                events = json.load(f)["traceEvents"]
            self.assertTrue(any(e["ph"] == "X" for e in events))

    def test_every_event_of_a_trace_has_the_fields_that_the_format_documents(self):
        number = (int, float)
        needed = {
            "X": {"name": str, "cat": str, "ts": number, "dur": number, "pid": int, "tid": int},
            "M": {"name": str, "args": dict, "pid": int, "tid": int},
            "C": {"name": str, "ts": number, "pid": int, "args": dict},
            "s": {"name": str, "cat": str, "id": int, "ts": number, "pid": int, "tid": int},
            "f": {"name": str, "cat": str, "id": int, "ts": number, "pid": int, "tid": int, "bp": str},
        }
        for plan in ("llama-3-70b-3d", "deepseek-v3-2048"):
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "trace.json")
                self.assertEqual(run("timeline", plan, "--trace", file)[0], 0)
                with open(file, encoding="utf-8") as f:
                    trace = json.load(f)
            self.assertEqual(trace["displayTimeUnit"], "ms")
            slices, flows, names = {}, {}, {}
            for event in trace["traceEvents"]:
                for field, kind in needed[event["ph"]].items():
                    self.assertIsInstance(event[field], kind, event)
                if event["ph"] == "X":
                    self.assertGreaterEqual(min(event["ts"], event["dur"]), 0)
                    slices.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
                if event["ph"] == "M":
                    self.assertIn(event["name"], ("process_name", "process_sort_index", "thread_name",
                                                  "thread_sort_index"))
                    if event["name"] == "process_name":
                        names[event["pid"]] = event["args"]["name"]
                if event["ph"] == "C":
                    self.assertTrue(all(isinstance(v, number) for v in event["args"].values()))
                if event["ph"] in "sf":
                    flows.setdefault(event["id"], {})[event["ph"]] = event
            stages = run_json("timeline", plan, "--json")[1]["stages"]
            self.assertEqual(sorted(names), list(range(stages)))
            self.assertRegex(names[0], "stage 0, layers 0–.*embedding.*nodes? 0")
            begins = {track: sorted(x[0] for x in list_) for track, list_ in slices.items()}
            lasts = {track: {x[0]: x[1] for x in list_} for track, list_ in slices.items()}
            self.assertTrue(flows)
            for flow in flows.values():  # both ends, of one name, each inside a slice of its track
                self.assertEqual(sorted(flow), ["f", "s"])
                self.assertEqual((flow["s"]["name"], flow["s"]["cat"]), (flow["f"]["name"], flow["f"]["cat"]))
                self.assertLess(flow["s"]["ts"], flow["f"]["ts"] + 0.0011)
                for end in flow.values():
                    track = (end["pid"], end["tid"])
                    at = begins[track][bisect.bisect_right(begins[track], end["ts"] + 1e-6) - 1]
                    self.assertLessEqual(end["ts"], at + lasts[track][at] + 1e-6, end)

    def test_a_timeline_is_written_as_csv(self):
        status, out, err = run("timeline", "llama-3-70b-3d", "--csv")
        self.assertEqual(status, 0, err)
        rows = list(csv.DictReader(io.StringIO(out)))
        timeline = run_json("timeline", "llama-3-70b-3d", "--json")[1]
        self.assertEqual(len(rows), sum(len(d["ops"]) for d in timeline["devices"]))
        self.assertEqual(max(float(r["end_s"]) for r in rows), timeline["makespan"])
        self.assertEqual({r["op"] for r in rows}, {"F", "B"})

    def test_a_timeline_names_its_bubbles(self):
        costs = ["--costs", "F=1,I=1,W=1,comm=0", "--json"]
        change = ["--set", "layout.schedule=zb-h2", "--set", "layout.virtual_stages=1"]
        out = run_json("timeline", "llama-3-70b-3d", *change, *costs)[1]
        self.assertAlmostEqual(out["bubble"]["makespan"], 3)
        self.assertAlmostEqual(out["bubble"]["span"], 0)
        self.assertAlmostEqual(out["bubble"]["back_to_back"], 0)
        self.assertTrue(out["bubble"]["closed_form"]["holds"])
        self.assertEqual(out["bubble"]["closed_form"]["measure"], "span")
        out = run_json("timeline", "llama-3-70b-3d", "--json")[1]
        self.assertAlmostEqual(out["bubble"]["fraction"], out["bubble_fraction"])
        self.assertFalse(out["bubble"]["closed_form"]["holds"])

    def test_a_report_can_be_written_to_a_file_in_every_form(self):
        with tempfile.TemporaryDirectory() as folder:
            for form, begins in ((["--json"], "{"), (["--markdown"], "# "), (["--html"], "<!doctype html>"), ([], "")):
                file = os.path.join(folder, "report")
                status, out, err = run("report", "mesh-8", *form, "-o", file)
                self.assertEqual((status, out), (0, ""), err)
                with open(file, encoding="utf-8") as f:
                    text = f.read()
                self.assertTrue(text.startswith(begins))
                self.assertEqual(text, run("report", "mesh-8", *form)[1])
                self.assertEqual(os.listdir(folder), ["report"])

    def test_set_changes_the_plan_before_it_is_read(self):
        out = run_json("report", "-", "--set", "layout.tp=4", "--set", "/layout/dp_shard=8", "--json", plan=PLAN)[1]
        self.assertEqual((out["plan"]["layout"]["tp"], out["plan"]["layout"]["dp_shard"]), (4, 8))
        self.assertTrue(out["valid"])

    def test_params_takes_a_preset_a_config_and_a_model_object(self):
        self.assertEqual(run_json("params", "llama-3-8b", "--json")[1]["total"], 8030261248)
        config = os.path.join(SOURCE, "tests/golden/hf_configs/llama-3-8b.json")
        self.assertEqual(run_json("params", config, "--json")[1]["total"], 8030261248)
        shipped = os.path.join(SOURCE, "presets/models/llama-3-8b.json")
        self.assertEqual(run_json("params", shipped, "--json")[1]["total"], 8030261248)
        out = run_json("params", "deepseek-v3", "--json")[1]
        self.assertEqual(sum(out["by_kind"].values()), out["total"])

    def test_a_preset_of_ones_own_is_listed_as_own_and_used_by_its_id(self):
        own = os.path.join(os.environ["XDG_CONFIG_HOME"], "pentamesh")
        files = {"models/ours.json": {"preset": "llama-3-8b", "layers": 16, "name": "Ours"},
                 "models/llama-3-8b.json": {"preset": "llama-3-8b", "layers": 1},
                 "clusters/room.json": {"preset": "h100-sxm-ib", "gpus": 16, "gpu": "mine"},
                 "gpus/mine.json": {"preset": "h100-sxm", "hbm_bytes": 141e9},
                 "gpus/broken.json": {"hbm": 1}}
        try:
            for name, value in files.items():
                os.makedirs(os.path.dirname(os.path.join(own, name)), exist_ok=True)
                with open(os.path.join(own, name), "w", encoding="utf-8") as f:
                    json.dump(value, f)
            listed = run_json("presets", "--json")[1]
            mine = {e["id"]: e for kind in ("models", "gpus", "clusters") for e in listed[kind] if e.get("own")}
            self.assertEqual(sorted(mine), ["broken", "llama-3-8b", "mine", "ours", "room"])
            self.assertIn("broken.json", mine["broken"]["broken"])
            self.assertIn("ships", mine["llama-3-8b"]["broken"])
            self.assertNotIn("broken", mine["ours"])
            self.assertIn("your own: Ours", run("presets")[1])
            self.assertEqual(run_json("params", "llama-3-8b", "--json")[1]["total"], 8030261248)
            whole = run_json("params", "ours", "--json")[1]
            self.assertEqual(whole["model"], "ours")
            self.assertLess(whole["total"], 8030261248)
            plan = dict(PLAN, model="ours", cluster={"preset": "room", "gpus": 64})
            out = run_json("report", "-", "--json", plan=plan)[1]
            self.assertEqual(out["parameters"]["total"], whole["total"])
            self.assertEqual(run_json("memory", "-", "--json", plan=plan)[1]["hbm"], int(141e9))
            out = run_json("report", "-", "--json", "--set", "cluster.gpu=mine", plan=PLAN)[1]
            self.assertTrue(out["valid"])
            script = "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1"
            out = run_json("import", "-", "--from", "megatron", "--model", "ours", "--cluster", "room", "--json",
                           plan=script.encode())[1]
            self.assertEqual((out["plan"]["model"], out["plan"]["cluster"]["preset"]), ("ours", "room"))
        finally:
            shutil.rmtree(own)

    def test_the_schema_knows_every_key_of_the_plans_that_ship(self):
        schema = json.loads(run("schema", "plan")[1])
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        for name in plan_presets():
            with open(os.path.join(SOURCE, "presets/plans", name + ".plan.json"), encoding="utf-8") as f:
                self.assertTrue(fits(json.load(f), schema), name)
        self.assertFalse(fits(changed("/layout/tp", 0), schema))
        self.assertFalse(fits(changed("/layout/tpp", 1), schema))
        self.assertFalse(fits(changed("/layout/schedule", "2f2b"), schema))
        self.assertFalse(fits(changed("/cluster", {"preset": "h100-sxm-ib", "gpu": {}}), schema))

    def test_a_picture_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "mesh.png")
            status, out, err = run("screenshot", "mesh-8", "--view", "mesh", "--size", "400x300", "-o", file)
            if status == 3 and "EGL" in err:
                self.skipTest(err)
            self.assertEqual((status, out), (0, ""), err)
            with open(file, "rb") as f:
                self.assertEqual(f.read(8), b"\x89PNG\r\n\x1a\n")


class Pictures(unittest.TestCase):
    def test_a_picture_moves_with_an_edit(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "edit.png")
            edit = ["--edit", "layout.tp=1", "--edit", "layout.dp_shard=4", "--size", "800x500"]
            status, _, err = run("screenshot", "mesh-8", *edit, "-o", file)
            if status == 3 and "EGL" in err:
                self.skipTest(err)
            self.assertEqual(status, 0, err)
            with open(file, "rb") as f:
                data = f.read()
            self.assertGreater(data.count(b"fcTL"), 3)
            self.assertEqual(run("report", file, "--json")[0], 0)  # the plan before the edit stands in it
            status, _, err = run("screenshot", "mesh-8", *edit, "--view", "mesh", "-o", file)
            self.assertEqual(status, 2)
            self.assertIn("dashboard", err)

    def test_words_are_whole_in_a_picture_as_pdf(self):
        # A reader of PDF parts words where letters stand apart: a narrow "1" in the middle of its column did so.
        if shutil.which("pdftotext") is None:
            self.skipTest("pdftotext is not installed (Debian: poppler-utils)")
        with tempfile.TemporaryDirectory() as folder:
            for plan, view in (("llama-3-70b-3d", "dashboard"), ("mesh-8", "step"), ("llama-3.1-405b-16k", "memory")):
                pdf, svg = os.path.join(folder, "x.pdf"), os.path.join(folder, "x.svg")
                for file in (pdf, svg):
                    status, _, err = run("screenshot", plan, "--view", view, "-o", file)
                    if status == 3 and "Cairo" in err:
                        self.skipTest(err)
                    self.assertEqual(status, 0, err)
                read = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, check=True).stdout.decode()
                with open(svg, encoding="utf-8") as f:
                    drawn = [html.unescape(t) for t in re.findall(r"<text[^>]*>([^<]*)</text>", f.read())]
                figures = {word for text in drawn for word in text.split() if re.search(r"\d\d", word)}
                self.assertGreater(len(figures), 20)
                self.assertEqual([w for w in sorted(figures) if w not in read], [], (plan, view))

    def test_a_pdf_is_tagged(self):
        # What is read aloud: a document with its language, a heading on each page, figures with words of their own.
        if shutil.which("pdfinfo") is None:
            self.skipTest("pdfinfo is not installed (Debian: poppler-utils)")

        def read(*options):
            return subprocess.run(["pdfinfo", *options], capture_output=True, check=True).stdout.decode()
        with tempfile.TemporaryDirectory() as folder:
            file, again = os.path.join(folder, "x.pdf"), os.path.join(folder, "y.pdf")
            for command, heads, figures in (
                    (("review", "mesh-8"), 3, ("what a GPU of each stage holds", "Map of the GPUs", "what each axis sends")),
                    (("screenshot", "mesh-8", "--view", "mesh"), 0, ("Two nodes of four",)),
                    (("lesson", "01-two-walls", "--pdf"), 5, ("Picture: memory.",))):
                with self.subTest(command=command):
                    for out in (file, again):
                        status, _, err = run(*command, "-o", out)
                        if status in (1, 3) and ("EGL" in err or "Cairo" in err):
                            self.skipTest(err)
                        self.assertEqual(status, 0, err)
                    with open(file, "rb") as f, open(again, "rb") as g:
                        data = f.read()
                        self.assertEqual(data, g.read())
                    self.assertRegex(read(file), r"Tagged:\s+yes")
                    self.assertIn(b"/Lang (en)", data)
                    tree = read("-struct", file)
                    self.assertTrue(tree.startswith("Document"), tree[:80])
                    self.assertEqual(len(re.findall(r"^\S", tree, re.M)), 1)  # one piece holds all others
                    self.assertGreaterEqual(len(re.findall(r"^\s*H1 ", tree, re.M)), heads)
                    words = [bytes.fromhex(w.decode()).decode("utf-16-be") for w in re.findall(rb"/Alt <FEFF([0-9A-F]*)>", data)]
                    self.assertEqual(len(words), len(re.findall(r"^\s*Figure", tree, re.M)))
                    for figure in figures:
                        self.assertTrue(any(figure in w for w in words), (figure, words))

    def shot(self, folder, *args, status=0):
        file = os.path.join(folder, "x.svg")
        got, _, err = run("screenshot", "llama-3-70b-3d", "-o", file, *args)
        if got == 3 and ("EGL" in err or "Cairo" in err):
            self.skipTest(err)
        self.assertEqual(got, status, err)
        if status != 0:
            return err
        with open(file, encoding="utf-8") as f:
            return f.read()

    def test_a_scene_and_a_selection_are_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = json.loads(run("report", "llama-3-70b-3d", "--json")[1])["plan"]
            plan["scene"] = {"view": "memory", "page": 1}
            scene = os.path.join(folder, "scene.plan.json")
            with open(scene, "w", encoding="utf-8") as f:
                json.dump(plan, f)
            saved = self.shot(folder, "--scene", scene)
            self.assertIn("from the whole model on one to this plan", saved)
            self.assertNotIn(">stage</text>", saved)
            plain = self.shot(folder, "--view", "memory")
            self.assertIn(">stage</text>", plain)
            self.assertNotEqual(plain, self.shot(folder, "--view", "memory", "--select", "stage 2"))
            self.assertIn("no such thing", self.shot(folder, "--select", "stage 99", status=2))

    def embedded(self, folder, *args, status=0, plan="mesh-8"):
        file = os.path.join(folder, "figure.html")
        got, out, err = run("embed", plan, "-o", file, *args)
        if got == 3 and ("EGL" in err or "Cairo" in err):
            self.skipTest(err)
        self.assertEqual(got, status, err)
        if not os.path.exists(file):
            return out, err
        with open(file, encoding="utf-8") as f:
            return out, f.read()

    def test_a_figure_without_the_program_is_the_picture_in_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            line, text = self.embedded(folder, "--view", "memory", "--page", "sheds", "--size", "800x500", "--theme", "light",
                                       "--set", "layout.zero=1", "--static")
            self.assertRegex(line, r'^<iframe src="figure.html" width="800" height="500" style="border: 0" title="[^"]+"></iframe>$')
            self.assertRegex(text, r"^<!DOCTYPE html>\n<html lang=\"en\">")
            self.assertIn("<figure>\n<svg", text)
            self.assertNotIn("<?xml", text)
            self.assertNotIn("<script", text)
            self.assertNotIn("src=\"http", text)
            svg = os.path.join(folder, "x.svg")
            run("screenshot", "mesh-8", "-o", svg, "--view", "memory", "--page", "sheds", "--size", "800x500", "--theme", "light",
                "--set", "layout.zero=1")
            with open(svg, encoding="utf-8") as f:
                picture = f.read()
            self.assertIn(picture[picture.find("<svg"):], text)
            self.assertEqual(sorted(os.listdir(folder)), ["figure.html", "x.svg"])

    def test_a_figure_that_cannot_be_says_why_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for args, words in ((("--view", "dashboard"), "there are map, mesh"), (("--view", "review"), "there are map, mesh"),
                                (("--view", "memory", "--page", "shed"), "stages, saved, sheds"),
                                (("--size", "800xauto"), "a frame has a height"), (("--theme", "pink"), "high-contrast"),
                                (("--select", "stage 99"), "no such thing")):
                with self.subTest(args=args):
                    self.assertIn(words, self.embedded(folder, "--static", *args, status=2)[1])
            self.assertIn("NAME.html", run("embed", "mesh-8", "-o", os.path.join(folder, "x.svg"), "--static")[2])
            self.assertEqual(os.listdir(folder), [])

    def test_a_live_figure_needs_the_page_and_says_so(self):
        page = os.path.join(SOURCE, "build", "web", "pentamesh.html")
        with tempfile.TemporaryDirectory() as folder:
            if not os.path.exists(page):
                err = self.embedded(folder, "--view", "mesh", status=3)[1]
                self.assertIn("scripts/web builds the page", err)
                self.assertIn("--static", err)
                self.assertEqual(os.listdir(folder), [])
            else:
                text = self.embedded(folder, "--view", "mesh", "--rank", "3")[1]
                self.assertRegex(text, r'<script type="application/json" id="start">\{"link":"#plan=[\w-]+&view=mesh&bare&theme=dark"\}')
                self.assertIn('<img id="still" alt="', text)

    def test_text_is_text_unless_outlines_are_asked_for_and_a_dashboard_is_small(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.shot(folder)
            self.assertIn("</text>", text)
            self.assertLess(len(text.encode()), 500000)
            self.assertNotIn("<text", self.shot(folder, "--outlines"))


def figures_of(markdown):
    """Returns the cells of all tables of a report that are figures, as people read them."""
    cells = [c.strip() for line in markdown.splitlines() if line.startswith("|") for c in line.strip("|").split("|")]
    return {c for c in cells if re.fullmatch(r"[0-9][0-9,.]*( ?(s|ms|µs|ns|%|[KMGT]?i?B))?", c)}


def section(markdown, title):
    at = markdown.index("## " + title)
    end = markdown.find("\n## ", at + 1)
    return markdown[at:end if end > 0 else None]


class Review(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def review(self, *args, name="review.pdf", status=0, plan=None):
        file = os.path.join(self.folder.name, name)
        got, out, err = run("review", *args, "-o", file, plan=plan)
        if got == 3 and "Cairo" in err:
            self.skipTest(err)
        self.assertEqual((got, out), (status, ""), err)
        return file

    def text_of(self, file):
        if shutil.which("pdftotext") is None:
            self.skipTest("pdftotext is not installed (Debian: poppler-utils)")
        return subprocess.run(["pdftotext", "-layout", file, "-"], capture_output=True, check=True).stdout.decode()

    def test_a_pdf_has_every_figure_of_the_report_as_text(self):
        for name in ("mesh-8", "llama-3.1-405b-16k", "deepseek-v3-2048"):
            report = run("report", name, "--markdown")[1]
            for paper in ("16:9", "a4"):
                text = " ".join(self.text_of(self.review(name, "--paper", paper, "--pages", "all")).split())
                for title in ("What does each GPU hold?", "What do they say to each other?", "Who talks to whom"):
                    figures = figures_of(section(report, title))
                    self.assertTrue(figures)
                    self.assertEqual([f for f in sorted(figures) if f not in text], [], (name, paper, title))

    def test_every_figure_of_the_plan_on_a_page_is_in_its_report(self):
        unit = {"s": 1, "ms": 1e-3, "µs": 1e-6, "TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "GB": 1e9, "MB": 1e6,
                "kB": 1e3, "GPU-hours": 1}

        def numbers(x):
            if isinstance(x, (dict, list)):
                if isinstance(x, dict) and "time_s" in x and "exposed_s" in x:
                    yield x["time_s"] - x["exposed_s"]  # what compute hides
                for y in x.values() if isinstance(x, dict) else x:
                    yield from numbers(y)
            elif isinstance(x, (int, float)) and not isinstance(x, bool):
                yield abs(x)

        for name in ("llama-3-70b-3d", "deepseek-v3-2048"):
            known = list(numbers(run_json("report", name, "--json")[1]))
            text = self.text_of(self.review(name, "--pages", "placement,memory,communication"))
            figures = r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) (%s)(?![\w/])" % "|".join(unit)
            # The picture of lanes says what `lanes` says; its own are the marks below it and the length of its scale.
            lanes = run_json("lanes", name, "--json")[1]
            self.assertIn(lanes["title"], " ".join(text.split()))
            self.assertIn(lanes["sentence"], " ".join(text.split()))
            of_lanes = set(re.findall(figures, lanes["title"] + " " + lanes["sentence"]))
            text, marks = re.subn(r"(?:first gathers?|last reductions?): [\d.]+ m?s", "", text)
            self.assertGreaterEqual(marks, 2)
            text, scales = re.subn(r"(?m)^ *(?:[^\d\n]*  )?[125]0*(?:\.0+)? m?s$", "", text)
            self.assertEqual(scales, 1)
            found = [f for f in re.findall(figures, text) if f not in of_lanes]
            self.assertGreater(len(found), 100)
            for figure, of in found:
                digits = figure.replace(",", "")
                half = 0.5 * 10.0 ** (-len(digits.partition(".")[2]) if "." in digits else max(0, len(digits) - 3))
                self.assertTrue(any(abs(float(digits) - k / unit[of]) <= half * 1.01 for k in known),
                                (name, figure, of))

    def test_the_ranges_the_room_of_buffers_the_loss_of_a_node_and_the_formulas_are_in_the_report(self):
        sets = [x for s in ("training.tokens_total=1e12", "cluster.price_per_gpu_hour=2", "cluster.gpu_watts=900")
                for x in ("--set", s)]
        keys = {"step": "time_s", "tokens/s, whole cluster": "tokens_per_s", "MFU": "mfu", "MFU (causal)": "mfu_causal",
                "HFU": "hfu", "model FLOPs per GPU": "tflops_per_gpu", "a billion tokens": "gpu_hours_per_billion",
                "the training, without a failure": "days", "GPU time": "gpu_hours", "cost": "cost", "energy": "energy_kwh"}
        scale = {"%": 0.01, "ms": 1e-3}
        for name in ("llama-3.1-405b-16k", "deepseek-v3-2048"):
            with open(self.review(name, *sets, name="review.md"), encoding="utf-8") as f:
                text = f.read()
            report = run_json("report", name, *sets, "--json")[1]
            ranges = report["step"]["ranges"] | report["cost"]["ranges"]
            rows = dict(re.findall(r"^\| ([^|]*) \| [^|]* \| ([^|]* – [^|]*) \|$", text, re.M))
            seen = {keys[row]: ends for row, ends in rows.items() if row in keys}
            self.assertGreaterEqual(set(seen), set(keys.values()) - {"mfu_causal"}, name)
            for key, ends in seen.items():
                for end, written in zip(("low", "high"), ends.split(" – ")):
                    digits, _, unit = written.replace(",", "").partition(" ")
                    value = ranges[key][end] / scale.get(unit, 1)
                    self.assertLessEqual(abs(float(digits) / value - 1), 0.005, (name, key, end, written))
            room = re.search(r"buffers stay under ([0-9.]+) GiB", text)
            self.assertEqual(room is None, name != "llama-3.1-405b-16k")
            if room:
                self.assertAlmostEqual(report["memory"]["room_for_buffers"] / 2**30, float(room.group(1)), delta=0.005)
            told = [[re.sub(r"\\([*<>`\[\]\\|])", r"\1", c.strip()) for c in line.strip("|").replace("−", "-").split(" | ")]
                    for line in text.splitlines() if " | = " in line]
            self.assertGreater(len(told), 20)
            for row in told:
                self.assertIn(row, [list(x.values()) for x in report["explanations"]])
            self.assertNotRegex(text, r"all_(gather|reduce|to_all)|reduce_scatter")
            self.assertGreater(len(report["tried"]), 3)
            for tried in report["tried"]:
                row = re.search(rf"^\| {re.escape(tried['change'])} \| ([^|]*) \|", text, re.M)
                digits, unit = row.group(1).split()
                self.assertLessEqual(abs(float(digits) * {"s": 1, "ms": 1e-3}[unit] / tried["step_s"] - 1), 0.005)
            pages = " ".join(self.text_of(self.review(name, "--paper", "a4", "--pages", "placement")).split())
            self.assertIn(f"no step ends: {report['failure']['waiting']:,} other GPUs wait", pages)
            for axis in report["failure"]["axes"]:
                self.assertIn(f"{axis['waiting']:,}", pages)
        impossible = run_json("report", "mesh-8", "--set", "layout.tp=3", "--json")[1]
        self.assertFalse(impossible["valid"])
        self.assertNotIn("failure", impossible)
        self.assertNotIn("explanations", impossible)

    def test_a_plan_that_does_not_fit_says_what_makes_it_fit(self):
        full = ("report", "llama-3-70b-3d", "--set", "layout.tp=4", "--set", "layout.dp_shard=16")
        report = run_json(*full, "--json")[1]
        self.assertFalse(report["memory"]["fits"])
        self.assertEqual(len(report["mends"]), 3)
        text = run(*full)[1]
        self.assertIn("What makes it fit?", text)
        for mend in report["mends"]:
            sets = [word for edit in mend["set"] for word in ("--set", edit)]
            then = run_json(*full, *sets, "--json")[1]
            self.assertTrue(then["memory"]["fits"], mend)
            self.assertEqual(then["step"]["time_s"], mend["step_s"], mend)
            self.assertEqual(mend["step_before_s"], report["step"]["time_s"])
            self.assertIn(mend["change"], text)
            self.assertIn(mend["gives_up"], text)
        kept = [mend["keeps_numerics"] for mend in report["mends"]]
        self.assertEqual(kept, sorted(kept, reverse=True))
        self.assertNotIn("mends", run_json("report", "mesh-8", "--json")[1])

    def test_collectives_are_written_one_way_for_people_and_keep_their_names_in_json(self):
        operations = run_json("report", "deepseek-v3-2048", "--json")[1]["comm"]["operations"]
        names = {o["collective"] for o in operations}
        self.assertGreaterEqual(names, {"all_gather", "reduce_scatter", "all_to_all", "send_recv"})
        for args in (["comm"], ["report"], ["report", "--markdown"], ["layer"], ["blame"]):
            more = ["0"] if args == ["blame"] else []
            text = run(args[0], "deepseek-v3-2048", *more, *args[1:])[1]
            lines = [line for line in text.splitlines() if "(" not in line or args[0] != "layer"]  # a call is code
            self.assertNotRegex("\n".join(lines), r"all_(gather|reduce|to_all)|reduce_scatter", args)
            self.assertIn("all-to-all", text, args)

    def test_a_plan_that_may_fit_and_changes_that_do_are_said_in_the_same_words(self):
        memory = run_json("memory", "llama-3-8b-fsdp", "--json")[1]
        stage = memory["stages"][0]
        hbm = memory["peak"] - (stage["buffers"] - stage["buffers_low"]) // 2
        text = self.text_of(self.review("llama-3-8b-fsdp", "--set", f"cluster.gpu.hbm_bytes={hbm}", "--pages", "all"))
        self.assertIn("which may not fit", text)
        self.assertIn("hatched: does not fit, or fits only if buffers stay small.", " ".join(text.split()))

    def test_fonts_of_a_pdf_are_embedded(self):
        if shutil.which("pdffonts") is None:
            self.skipTest("pdffonts is not installed (Debian: poppler-utils)")
        rows = subprocess.run(["pdffonts", self.review("mesh-8")], capture_output=True, check=True).stdout.decode()
        self.assertGreater(len(rows.splitlines()), 2)
        for row in rows.splitlines()[2:]:
            self.assertRegex(row, r" yes +yes +yes +\d+ +\d+$", "embedded, a subset, with characters")

    def test_a_review_is_a_plan_again_and_names_it_by_its_checksum(self):
        import hashlib
        file = self.review("-", plan=PLAN)
        text = self.text_of(file)
        with open(file, "rb") as f:
            data = f.read()
        inside = data[data.rindex(b"/Type /EmbeddedFile "):]
        inside = inside[inside.index(b"stream\n") + 7:inside.index(b"\nendstream")]
        self.assertIn(hashlib.sha256(inside).hexdigest()[:12], text)
        figures = [run_json("report", p, "--json", plan=PLAN)[1]["step"] for p in ("-", file)]
        self.assertEqual(figures[0], figures[1])

    def test_html_is_one_file_and_a_folder_has_a_picture_a_page(self):
        with open(self.review("mesh-8", name="review.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertNotRegex(page, r'src=|href="(?!#)')
        self.assertIn("break-after:page", page)
        self.assertIn("</text>", page)
        folder = self.review("mesh-8", "--pages", "summary,memory", name="pages")
        names = sorted(os.listdir(folder))
        self.assertEqual(len(names), len({n[:2] for n in names}) * 2)
        self.assertTrue(all(n.endswith((".svg", ".png")) for n in names), names)

    def test_markdown_has_the_figures_of_the_report_and_names_files_that_are_there(self):
        file = self.review("llama-3.1-405b-16k", name="review.md")
        with open(file, encoding="utf-8") as f:
            text = f.read()
        for name in re.findall(r"\]\((review_files/[^)]+)\)", text):
            self.assertTrue(os.path.isfile(os.path.join(self.folder.name, name)), name)
        step = run_json("report", "llama-3.1-405b-16k", "--json")[1]["step"]
        self.assertIn(f"{step['time_s']:.2f} s", text)
        self.assertIn(f"{100 * step['mfu']:.1f} %", text)
        again = self.review(os.path.join(self.folder.name, "review_files", "plan.json"), name="again.md")
        with open(again, encoding="utf-8") as f:
            self.assertEqual(f.read().replace("again_files", "review_files"), text)

    def test_the_date_is_today_or_as_it_is_given(self):
        day = dict(os.environ, SOURCE_DATE_EPOCH="1777766400")
        text = self.text_of(self.review("mesh-8", "--pages", "memory"))
        self.assertRegex(text, r"· +\d+ [A-Z][a-z]+ 20\d\d")
        file = os.path.join(self.folder.name, "old.html")
        subprocess.run([PROGRAM, "review", "mesh-8", "--pages", "memory", "-o", file], check=True, env=day)
        with open(file, encoding="utf-8") as f:
            self.assertIn("3 May 2026", f.read())
        text = self.text_of(self.review("mesh-8", "--pages", "memory", "--date", "in spring"))
        self.assertIn("in spring", text)

    def test_a_run_of_the_plan_stands_beside_its_estimate(self):
        folder = os.path.join(SOURCE, "tests/golden/measured/run2602-00")
        plan, trace = os.path.join(folder, "plan.json"), os.path.join(folder, "rank42.pt.trace.json.gz")
        took = run_json("measured", trace, "--plan", plan, "--json")[1]["step"]["measured_s"]
        text = " ".join(self.text_of(self.review(plan, "--run", trace)).split())
        self.assertIn(f"run: {took:.2f} s", text)
        self.assertIn("What was measured", text)
        status, _, err = run("review", plan, "--run", plan, "-o", os.path.join(self.folder.name, "x.pdf"))
        self.assertEqual((status, os.path.exists(os.path.join(self.folder.name, "x.pdf"))), (1, False), err)

    def test_an_impossible_plan_exits_with_1_and_is_written_all_the_same(self):
        text = self.text_of(self.review("-", status=1, plan=changed("/layout/tp", 3)))
        pages = text.split("\f")[:-1]
        for page in pages:
            self.assertIn("This plan is impossible", page)
        self.assertIn("tp = 3", pages[0])

    def test_the_second_plan_is_named_or_the_first_with_other_settings(self):
        text = self.text_of(self.review("llama-3-70b-3d", "--set-b", "layout.zero=2", "--pages", "7"))
        self.assertRegex(text, r"(?m)^zero +1 +2 ")
        text = self.text_of(self.review("llama-3-70b-3d", "hsdp-64", "--set-b", "layout.zero=0", "--set",
                                        "layout.zero=2", "--pages", "7"))
        row = next(line for line in text.splitlines() if line.startswith("zero "))
        self.assertEqual(row.split()[:3], ["zero", "2", "0"])
        status, _, err = run("review", "-", "--set-b", "layout.zero=2", "-o",
                             os.path.join(self.folder.name, "x.pdf"), plan=PLAN)
        self.assertEqual(status, 2)
        self.assertIn("standard input", err)

    def test_what_is_asked_wrongly_says_what_there_is(self):
        for args, words in ((("--paper", "a3"), "16:9, a4, letter"), (("--theme", "blue"), "light, dark"),
                            (("--pages", "11"), "1 summary"), (("--pages", "7"), "second plan")):
            status, _, err = run("review", "mesh-8", "-o", os.path.join(self.folder.name, "x.pdf"), *args)
            self.assertEqual(status, 2)
            self.assertIn(words, err)


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def fits(value, schema):
    """Checks by the part of JSON Schema that the plan's schema uses."""
    if "anyOf" in schema and not any(fits(value, s) for s in schema["anyOf"]):
        return False
    names = schema.get("type", [])
    if names and not any(is_type(value, n) for n in ([names] if isinstance(names, str) else names)):
        return False
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        return False
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value) or "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            return False
    if isinstance(value, list):
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and all(
            fits(v, schema.get("items", {})) for v in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        if any(k not in value for k in schema.get("required", [])):
            return False
        if schema.get("additionalProperties") is False and any(k not in known for k in value):
            return False
        return all(fits(v, known[k]) for k, v in value.items() if k in known)
    return True


if __name__ == "__main__":
    left_out.main(sys.argv[3:])
