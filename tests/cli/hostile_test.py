#!/usr/bin/env python3
"""hostile_test.py PROGRAM SOURCE_FOLDER: checks what the built program does with careless and hostile input: names and
words out of files, packed nonsense, pipes, outputs that would replace what was read."""
import csv
import gzip
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
import zlib

import left_out
from cli_test import JOB, PLAN, PROGRAM, SOURCE, run, run_json

try:
    import resource
except ImportError:  # not on Windows
    resource = None

MIB = 1 << 20
ESCAPES = "\x1b]0;pwn\x07\x1b[31m\x9b2J\u202e\x7f"


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path


def plan_with(**parts):
    plan = json.loads(json.dumps(PLAN))
    plan.update(parts)
    return plan


def bytes_of(*args, plan=None, env=None, folder=None):
    text = None if plan is None else json.dumps(plan).encode()
    r = subprocess.run([PROGRAM, *args], input=text, capture_output=True, timeout=60, cwd=folder,
                       env={**os.environ, **(env or {})})
    return r.returncode, r.stdout, r.stderr


def text_in(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def has_controls(output):
    text = output.decode()  # fails where it is no UTF-8
    return [c for c in text if (ord(c) < 32 and c not in "\n\t\r") or 0x7f <= ord(c) < 0xa0 or c == "\u202e"]


class Names(unittest.TestCase):
    """Words of files and of the command line: shown as what they are."""

    def test_a_name_that_is_no_utf8_ends_no_report(self):
        with tempfile.TemporaryDirectory() as folder:
            good = json.dumps(PLAN).encode()
            write(folder, "a.json", good)
            try:
                with open(os.path.join(folder.encode(), b"\xff\x01<.json"), "wb") as f:
                    f.write(good)
            except OSError:
                self.skipTest("this file system takes no such name")
            junit, page = os.path.join(folder, "out", "j.xml"), os.path.join(folder, "out", "p.html")
            os.mkdir(os.path.join(folder, "out"))
            status, out, err = bytes_of("check", folder, "--json", "--junit", junit, "--html", page)
            self.assertEqual((status, err), (0, b""))
            self.assertEqual(len(json.loads(out)["checked"]), 2)
            cases = xml.etree.ElementTree.parse(junit).getroot().findall("testcase")
            self.assertEqual(len(cases), 2)
            self.assertIn("\ufffd", "".join(c.get("classname") for c in cases))
            with open(page, "rb") as f:
                f.read().decode()
            for form in ([], ["--csv"], ["--markdown"], ["--why"]):
                status, out, _ = bytes_of("check", folder, *form)
                self.assertEqual((status, has_controls(out)), (0, []), form)

    def test_nothing_out_of_a_file_reaches_the_terminal_as_a_command(self):
        plan = plan_with(name=ESCAPES + "name", notes=ESCAPES + "notes")
        plan["model"] = {"preset": "llama-3-8b", "name": ESCAPES + "model"}
        plan["cluster"]["tiers"] = [
            {"name": ESCAPES + "fast", "kind": "nvlink", "domain": 8, "bytes_per_s": 4.5e11, "latency_s": 2e-6},
            {"name": ESCAPES + "slow", "kind": "ib", "bytes_per_s": 5e10, "latency_s": 5e-6}]
        for command in (["report", "-"], ["layer", "-"], ["comm", "-"], ["groups", "-"], ["rank", "-", "0"], ["memory", "-"],
                        ["sensitivity", "-"], ["scale", "-"], ["sweep", "-", "--vary", "layout.tp=1,2"],
                        ["compare", "-", "llama-3-8b-fsdp"], ["blame", "-", "0,1"], ["export", "-", "--to", "torchtitan"],
                        ["export", "-", "--to", "megatron"]):
            for form in ([], ["--csv"], ["--markdown"]):
                status, out, err = bytes_of(*command, *(form if command[0] != "export" else []), plan=plan)
                if not form:
                    self.assertNotEqual(status, 2, (command, err))
                self.assertEqual((has_controls(out), has_controls(err)), ([], []), command + form)
        status, out, _ = bytes_of("report", "-", plan=plan)
        self.assertIn("<U+001B>]0;pwn<U+0007>", out.decode())
        # JSON keeps the values, in its own escapes.
        status, out, _ = bytes_of("report", "-", "--json", plan=plan)
        self.assertEqual(has_controls(out), [])
        self.assertEqual(json.loads(out)["plan"]["name"], plan["name"])

    def test_settings_dumps_and_messages_are_shown_without_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            script = write(folder, "s.sh", JOB.replace("$LAYERS", "8").replace("$TP", "1").replace(
                "--bf16", "--bf16 --\x1b[31mfoo 3 --lr \x1b[32m"))
            for args in (["import", script], ["import", script, "--json"], ["check", script, "--why"]):
                _, out, err = bytes_of(*args)
                self.assertEqual((has_controls(out), has_controls(err)), ([], []), args)
            for rank in range(2):
                write(folder, f"d/rank_{rank}", json.dumps({
                    "version": "2.9", "pg_status": {}, "entries": [{
                        "record_id": 1, "process_group": ["0", ESCAPES], "collective_seq_id": 1 + rank,
                        "profiling_name": "nccl:" + ESCAPES, "state": "started"}],
                    "pg_config": {"0": {"name": "0", "desc": ESCAPES, "ranks": "[0, 1]"}}}))
            for form in ([], ["--json"]):
                status, out, err = bytes_of("hang", os.path.join(folder, "d"), *form)
                self.assertEqual((status, has_controls(out), has_controls(err)), (0, [], []), form)
            _, out, err = bytes_of("mark", os.path.join(folder, "\x1b[31m.json"))
            self.assertEqual((has_controls(out), has_controls(err)), ([], []))

    def test_markdown_has_no_marks_of_a_file(self):
        plan = plan_with(name="<script>x</script> [a](javascript:1)", notes="![i](http://x) `y`")
        for command in (["report", "-"], ["compare", "-", "llama-3-8b-fsdp"]):
            out = run(*command, "--markdown", plan=plan)[1]
            self.assertNotRegex(out, r"(?<!\\)<script>", command)
            self.assertNotRegex(out, r"(?<!\\)\[[a-z]\\?\]\(", command)
        self.assertIn(r"\<script\>", run("report", "-", "--markdown", plan=plan)[1])

    def test_a_word_is_no_formula_of_a_spreadsheet(self):
        for name in ('=HYPERLINK("http://x","y")', "+cmd|x", "-2+3", "@SUM(1)", "\tx"):
            out = run("report", "-", "--csv", plan=plan_with(name=name, notes=name))[1]
            cells = [row[1] for row in csv.reader(io.StringIO(out)) if len(row) > 1 and row[0] in ("/plan/name", "/plan/notes")]
            self.assertEqual(cells, ["'" + name] * 2)
        # Numbers are numbers, also those below 0.
        rows = list(csv.reader(io.StringIO(run("report", "llama-3-8b-fsdp", "--csv")[1])))
        self.assertTrue(any(re.fullmatch(r"-?[0-9.e+-]+", row[1]) for row in rows))
        self.assertFalse([row for row in rows if re.match(r"'[-+]?[0-9.]+$", row[1])])

    def test_words_of_the_command_line_that_are_no_utf8_are_said_to_be(self):
        status, _, err = bytes_of("report", "mesh-8", "--set", b"name=\xff")
        self.assertEqual(status, 2)
        self.assertIn(b"is not UTF-8", err)
        with tempfile.TemporaryDirectory() as folder:
            for form in ("md", "html", "pdf"):
                file = os.path.join(folder, "r." + form)
                status, _, err = bytes_of("review", "mesh-8", "--title", b"\xff a", "-o", file)
                self.assertEqual((status, err), (0, b""), form)
                if form != "pdf":
                    with open(file, "rb") as f:
                        self.assertIn("\ufffd a", f.read().decode())


class Files(unittest.TestCase):
    """What is read and what is written."""

    def test_no_output_takes_the_place_of_what_was_read(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = write(folder, "p.json", json.dumps(PLAN))
            script = write(folder, "s.sh", JOB.replace("$LAYERS", "8").replace("$TP", "1"))
            link = os.path.join(folder, "link")
            os.symlink("p.json", link)
            kept = {f: text_in(f) for f in (plan, script)}
            for args in (["report", plan, "-o", plan], ["report", plan, "--json", "-o", link],
                         ["export", plan, "--to", "megatron", "-o", plan], ["import", script, "-o", script],
                         ["check", plan, "--junit", plan], ["check", folder, "--html", script],
                         ["compare", plan, "mesh-8", "-o", plan], ["timeline", plan, "--trace", plan]):
                status, _, err = run(*args)
                self.assertEqual(status, 2, (args, err))
                self.assertIn("was read", err, args)
            self.assertEqual(kept, {f: text_in(f) for f in kept})
            # A plan may be given its tier in its own file.
            self.assertEqual(run("report", plan, "--json", "-o", os.path.join(folder, "new.json"))[0], 0)

    def test_two_forms_are_two_files(self):
        with tempfile.TemporaryDirectory() as folder:
            plan, out = write(folder, "p.json", json.dumps(PLAN)), os.path.join(folder, "out")
            for args in (["--junit", out, "--html", os.path.join(folder, ".", "out")], ["--junit", out, "-o", out]):
                status, _, err = run("check", plan, *args)
                self.assertEqual(status, 2, err)
                self.assertIn("both write to", err)
                self.assertFalse(os.path.exists(out))

    def test_a_review_that_cannot_be_written_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "n_files", "mine")
            status, _, err = run("review", "mesh-8", "-o", os.path.join(folder, "n.md"))
            self.assertEqual(status, 3)
            self.assertIn("n_files", err)
            self.assertEqual(os.listdir(folder), ["n_files"])

    @unittest.skipUnless(hasattr(os, "mkfifo"), "the system has no pipes with names")
    def test_a_pipe_to_which_nobody_writes_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "x.json")
            os.mkfifo(pipe)
            os.makedirs(os.path.join(folder, "pentamesh", "models"))
            os.mkfifo(os.path.join(folder, "pentamesh", "models", "mine.json"))
            for args in (["report", pipe], ["import", pipe], ["check", pipe], ["measured", pipe], ["calibrate", pipe],
                         ["mark", pipe], ["hang", folder], ["lesson", pipe], ["report", "mesh-8", "--constants", pipe],
                         ["timeline", "mesh-8", "--costs", pipe], [pipe]):
                r = subprocess.run([PROGRAM, *args], capture_output=True, timeout=8, stdin=subprocess.DEVNULL)
                self.assertNotEqual(r.returncode, 0 if args[0] != "hang" else 99, args)
            r = subprocess.run([PROGRAM, "presets"], capture_output=True, timeout=8,
                               env={**os.environ, "XDG_CONFIG_HOME": folder})
            self.assertEqual(r.returncode, 0)
            # One that is written to is read, also where its writer takes its time.
            writer = subprocess.Popen(["sh", "-c", 'exec 3<>"$1"; sleep 0.3; cat "$2" >&3; sleep 0.3', "sh", pipe,
                                       write(folder, "p", json.dumps(PLAN))])
            while writer.poll() is None and not open_to_write(pipe):
                time.sleep(0.01)
            status, out, err = run("report", pipe, "--json")
            writer.wait()
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(json.loads(out)["plan"]["name"], "test")

    def test_wrong_causes_are_not_named(self):
        with tempfile.TemporaryDirectory() as folder:
            answers = write(folder, "a.json", "{}")
            status, _, err = run("mark", answers, "--lesson", os.path.join(folder, "nosuch"))
            self.assertEqual(status, 3)
            self.assertIn("nosuch", err)
            if os.path.exists("/dev/null"):
                status, _, err = run("review", "mesh-8", "-o", os.path.join(folder, "r.md"), "--run", "/dev/null")
                self.assertEqual(status, 3)
                self.assertIn("is no plain file", err)

    def test_the_date_of_a_review_is_the_users(self):
        with tempfile.TemporaryDirectory() as folder:
            env = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
            for zone in ("XXX12", "XXX-14"):
                here = {**env, "TZ": zone}
                file = os.path.join(folder, "r.md")
                days = [time_in(here)]
                self.assertEqual(subprocess.run([PROGRAM, "review", "mesh-8", "-o", file], env=here).returncode, 0)
                days.append(time_in(here))  # midnight may come between
                with open(file, encoding="utf-8") as f:
                    text = f.read()
                self.assertTrue(any(day in text for day in days), (zone, days))

    def test_hosts_that_are_a_mistyped_file_are_asked_about(self):
        with tempfile.TemporaryDirectory() as folder:
            for hosts in ("hosts.txtt", "runs/hosts", "node1"):
                status, _, err = run("blame", "llama-3-70b-3d", "0,1", "--hosts", hosts, folder=folder)
                self.assertEqual(status, 3, (hosts, err))
                self.assertIn("there is no such file", err)
            one_node = plan_with(cluster={"preset": "h100-sxm-ib", "gpus": 8},
                                 layout={"tp": 2, "pp": 2, "dp_shard": 2, "dp_replicate": 1, "zero": 1})
            for host in ("node1", "node1.rack2.example.org"):
                self.assertEqual(run("blame", "-", "0,1", "--hosts", host, plan=one_node, folder=folder)[::2], (0, ""))


def open_to_write(pipe):
    """Returns true if somebody has the pipe open."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return True
    except OSError:
        return False


def time_in(env):
    now = subprocess.run(["date", "+%-d %B %Y"], env={**env, "LC_ALL": "C"}, capture_output=True, check=True)
    return now.stdout.decode().strip()


class Numbers(unittest.TestCase):
    def test_numbers_that_no_figure_comes_of_are_refused(self):
        for field in ("cluster.tiers.0.bytes_per_s", "cluster.gpu.flops.bf16", "cluster.gpu.hbm_bytes_per_s",
                      "cluster.gpu.efficiency.gemm", "cluster.gpu.efficiency.hbm"):
            status, out, err = run("report", "llama-3-8b-fsdp", "--set", field + "=1e-320")
            self.assertEqual((status, out), (1, ""), field)
            self.assertIn("at least 1e-30", err)
            status, out, err = run("report", "llama-3-8b-fsdp", "--set", field + "=1e-30")
            self.assertEqual(status, 0, (field, err))
            self.assertNotIn("nan", re.sub(r"[a-z]+nan|nan[a-z]+", "", out))

    def test_an_impossible_run_says_why(self):
        log = b" iteration 3/ 10 | elapsed time per iteration (ms): 2236.4 |\n"
        with tempfile.TemporaryDirectory() as folder:
            file = write(folder, "log", log)
            status, out, err = run_json("measured", file, "--plan", "llama-3-70b-3d", "--json")
            self.assertEqual((status, out["step"]["possible"]), (1, False))
            self.assertRegex(err, r"would be \d+ % of the bf16 peak")
            self.assertIn("impossible-run", [p["code"] for p in out["problems"]])


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, *chunks):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IEND", b"")


def packed_zeros(count, pattern=b"\0"):
    """Packs a pattern so many times without holding it."""
    packer, out = zlib.compressobj(9), []
    block = pattern * (MIB // len(pattern))
    for _ in range(count // len(block)):
        out.append(packer.compress(block))
    return b"".join(out) + packer.flush()


def gzipped(count, pattern, head=b""):
    packer, out = zlib.compressobj(9, zlib.DEFLATED, 31), []
    out.append(packer.compress(head))
    block = pattern * (MIB // len(pattern))
    for _ in range(count // len(block)):
        out.append(packer.compress(block))
    return b"".join(out) + packer.flush()


# All files by all commands take some minutes: tests/run_long asks for them. A check takes a few packed ones, and each
# text by the first command that reads it.
ALL_NONSENSE = bool(os.environ.get("PENTAMESH_ALL_NONSENSE"))


def some_of(files):
    """Returns the first two and the last of a table of files, or all."""
    return files if ALL_NONSENSE else dict([*list(files.items())[:2], list(files.items())[-1]])


@unittest.skipUnless(resource, "the system has no limits of memory")
@unittest.skipIf(os.environ.get("PENTAMESH_SANITIZED"), "a program with sanitizers takes more memory and time than these limits")
class Nonsense(unittest.TestCase):
    """Files of at most 10 MiB of nonsense: an answer in 5 s of work, twice that on a machine whose cores are shared; in 512 MiB."""

    def check_file(self, name, data, *commands):
        self.assertLessEqual(len(data), 10 * MIB + 65536, name)
        with tempfile.TemporaryDirectory() as folder:
            file = write(folder, name, data)
            for command in commands:
                args = [a.replace("FILE", file).replace("FOLDER", folder) for a in command]
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                child = subprocess.Popen([PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                         stdin=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
                out = child.stdout.read()
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                child.stdout.close()
                seconds, mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
                if os.environ.get("PENTAMESH_SHOW"):
                    print(f"{name:22} {' '.join(command):40} {child.returncode:3} {seconds:6.2f} s {mib:7.0f} MiB"
                          f" {len(out):9}  {out[:110]!r}", flush=True)
                self.assertIn(child.returncode, (0, 1, 2, 3), (name, command, out[-300:]))
                self.assertLess(seconds, 10, (name, command))
                self.assertLess(mib, 512, (name, command))

    def test_packed_dumps(self):
        hang = ["hang", "FOLDER"]
        for name, data in some_of({
                "containers": lambda: gzipped(60_000_000, b"}", b"\x80\x02"),
                "marks": lambda: gzipped(120_000_000, b"(", b"\x80\x02"),
                "kept": lambda: gzipped(120_000_000, b"\x94", b"\x80\x02N"),
                "values": lambda: gzipped(120_000_000, b"N", b"\x80\x02"),
                "pushed": lambda: gzipped(120_000_000, b"h\0", b"\x80\x02]q\0"),
                "lists": lambda: gzipped(120_000_000, b"[],", b'{"version":"2.9","a":['),
                "objects": lambda: gzipped(120_000_000, b'{"a":1},', b'{"version":"2.9","entries":['),
                "texts": lambda: gzipped(120_000_000, b'"aaaaaaaaaa",', b'{"version":"2.9","entries":['),
                "zeros": lambda: gzipped(4_000 * MIB, b"\0" * 64)}).items():
            self.check_file("rank_0", data(), hang)

    def test_pickles_that_name_one_value_often(self):
        def text(s):
            return b"X" + struct.pack("<I", len(s)) + s
        entry = b"}q\0(" + text(b"record_id") + b"K\1" + text(b"collective_seq_id") + b"K\1" + text(b"process_group") \
            + b"](" + text(b"0") + b"e" + text(b"profiling_name") + text(b"nccl:x") + b"u"
        head = b"\x80\2}(" + text(b"version") + text(b"2.9") + text(b"pg_config") + b"}(" + text(b"0") + b"}(" \
            + text(b"desc") + text(b"d") + text(b"ranks") + text(b"[0, 1]") + b"uu" + text(b"entries") + b"](" + entry
        for count in (900_000, 4_000_000):
            self.check_file("rank_0", head + b"h\0" * count + b"eu.", ["hang", "FOLDER"])

    def test_packed_runs(self):
        event = b'{"ph":"X","name":"k","ts":1,"dur":1,"pid":0,"tid":0},'
        for name, data in some_of({
                "trace.json.gz": lambda: gzipped(600 * MIB, event, b'{"traceEvents":['),
                "deep.json.gz": lambda: gzipped(600 * MIB, b"[" * 64, b'{"traceEvents":['),
                "log.gz": lambda: gzipped(1_500 * MIB, b"\n" * 64),
                "line.gz": lambda: gzipped(1_500 * MIB, b"a" * 64),
                "iterations.gz": lambda: gzipped(600 * MIB, b" iteration 3/ 10 | elapsed time per iteration (ms): 2236.4 |\n"),
                "inspector.gz": lambda: gzipped(600 * MIB, b'{"header":{"inspector_output_format_version":"v4.0","rank":0},'
                                        b'"coll_perf":{"coll":"A","coll_msg_size_bytes":1,"coll_exec_time_us":1}}\n'),
                "braces.gz": lambda: gzipped(600 * MIB, b"{" * 64, b'{"inspector_output_format_version":"v4.0"}\n'),
                "bomb.gz": lambda: gzipped(8_000 * MIB, b"\0" * 64)}).items():
            self.check_file(name, data(), ["measured", "FILE"])
        if ALL_NONSENSE:
            self.check_file("log.gz", gzipped(600 * MIB, b"a\n" * 64), ["calibrate", "FILE"], ["import", "FILE"])

    def test_pictures(self):
        text = packed_zeros(63 * MIB)
        bombs = chunk(b"zTXt", b"k\0\0" + text) * 100
        plan = chunk(b"zTXt", b"pentamesh.plan\0\0" + text)
        for name, data in some_of({
                "texts.png": lambda: png(1, 1, bombs, chunk(b"IDAT", zlib.compress(b"\0" * 5))),
                "plan.png": lambda: png(1, 1, plan, chunk(b"IDAT", zlib.compress(b"\0" * 5))),
                "pixels.png": lambda: png(65535, 65535, chunk(b"IDAT", packed_zeros(6_000 * MIB))),
                "rows.png": lambda: png(1, 65535, chunk(b"IDAT", packed_zeros(6_000 * MIB))),
                "svg.svg": lambda: b'<svg xmlns="http://www.w3.org/2000/svg">' + b'<metadata id="pentamesh.plan' * 300_000
                           + b'">' + b"A" * MIB + b"</metadata></svg>",
                "many.svg": lambda: b"<svg>" + b'<metadata id="pentamesh.plan">e30=</metadata>' * 200_000,
                "pairs.pdf": lambda: b"%PDF-1.5\nstream\n" + b"a" * 5_000_000 + b"\n% pentamesh.plan" + b" 0 5000000" * 100_000 + b"\n",
                "short.pdf": lambda: b"%PDF-1.5\nstream\n" + b"\n% pentamesh.plan" + b" 0 1" * 2_000_000 + b"\n"}).items():
            self.check_file(name, data(), ["report", "FILE"], ["import", "FILE"], ["check", "FILE"])

    def test_texts(self):
        texts = {
            "brackets.json": lambda: b"[" * 10 * MIB, "objects.json": lambda: b'{"a":' * 2 * MIB,
            "numbers.json": lambda: b'{"train_batch_size":1,"a":[' + b"1," * 5_000_000 + b"1]}",
            "empty.json": lambda: b'{"train_batch_size":1,"a":[' + b"[]," * 3_400_000 + b"[]]}",
            "maps.json": lambda: b'{"train_batch_size":1,"a":[' + b"{}," * 3_400_000 + b"{}]}",
            "keys.json": lambda: b'{"train_batch_size":1' + b"".join(b',"k%d":1' % i for i in range(700_000)) + b"}",
            "model.json": lambda: b'{"model_type":"llama","a":[' + b'{"a":1},' * 1_200_000 + b"1]}",
            "plan.json": lambda: b'{"format":"pentamesh.plan/1","a":[' + b'{"a":1},' * 1_200_000 + b"1]}",
            "nan.json": lambda: b'{"model_type":"llama","a":[' + b"NaN," * 2_500_000 + b"1]}",
            "flow.yaml": lambda: b"parallelism:\n  dp: 1\ntokens:\n  a: " + b"[" * 9 * MIB,
            "list.yaml": lambda: b"parallelism:\n  dp: 1\ntokens:\n" + b"- a\n" * 2_400_000,
            "map.yaml": lambda: b"parallelism:\n  dp: 1\ntokens:\n" + b"".join(b"  k%d: 1\n" % i for i in range(800_000)),
            "anchors.yaml": lambda: b"parallelism:\n  dp: 1\ntokens:\n" + b"".join(b"- &a%d x\n" % i for i in range(150_000)),
            "merge.yaml": lambda: b"parallelism: &p\n" + b"".join(b"  k%d: 1\n" % i for i in range(90_000))
                          + b"tokens:\n" + b"".join(b"  t%d:\n    <<: *p\n" % i for i in range(2)),
            "tabs.yaml": lambda: b"parallelism:\n  dp: 1\ntokens: |\n" + b"  a\n" * 2_400_000,
            "quoted.yaml": lambda: b"parallelism:\n  dp: 1\ntokens: \"" + b"\\x41" * 2_500_000 + b"\"\n",
            "deep.toml": lambda: b"[parallelism]\na = " + b"[" * 9 * MIB,
            "tables.toml": lambda: b"[parallelism]\n" + b"".join(b"[a.b%d]\nx=1\n" % i for i in range(300_000)),
            "dots.toml": lambda: b"[parallelism]\n" + b"a" + b".a" * 5_000_000 + b" = 1\n",
            "inline.toml": lambda: b"[parallelism]\nx = [" + b"{a=1}," * 1_600_000 + b"]\n",
            "flags.sh": lambda: b"pretrain_gpt.py " + b"".join(b"--flag-%d %d " % (i, i) for i in range(500_000)),
            "quotes.sh": lambda: b"pretrain_gpt.py " + b"'\"" * 4_900_000,
            "dollars.sh": lambda: b"A=a\npretrain_gpt.py --num-layers " + b"$A" * 4_900_000,
            "doubling.sh": lambda: b"A=aaaaaaaaaa\n" + b"A=$A$A\n" * 60 + b"pretrain_gpt.py --num-layers $A\n",
            "loops.sh": lambda: b"for i in 1 2 3 4 5 6 7 8 9; do\n" * 12 + b"A=$A$i\n" + b"done\n" * 12 + b"pretrain_gpt.py --num-layers 1\n",
            "parens.sh": lambda: b"pretrain_gpt.py --num-layers $((" + b"(" * 9 * MIB,
            "braces.sh": lambda: b"pretrain_gpt.py --num-layers " + b"{" * 9 * MIB,
            "lines.sh": lambda: b"pretrain_gpt.py \\\n" + b"--a \\\n" * 1_500_000,
            "functions.sh": lambda: b"f() { f; f; }\nf\npretrain_gpt.py --num-layers 1\n",
            "heredoc.sh": lambda: b"cat <<A\n" + b"x\n" * 4_000_000 + b"A\npretrain_gpt.py --num-layers 1\n",
            "parens.py": lambda: b"import megatron.bridge\nx = " + b"(" * 9 * MIB,
            "calls.py": lambda: b"import megatron.bridge\ncfg.model.num_layers = " + b"f(" * 4 * MIB,
            "lines.py": lambda: b"import megatron.bridge\n" + b"".join(b"cfg.model.a%d = %d\n" % (i, i) for i in range(400_000)),
            "sum.py": lambda: b"import megatron.bridge\ncfg.model.num_layers = 1" + b"+1" * 4_500_000 + b"\n",
            "lists.py": lambda: b"import megatron.bridge\na = [1]\n" + b"a = a + a\n" * 100_000 + b"cfg.model.num_layers = 1\n",
            "functions.py": lambda: b"import megatron.bridge\n" + b"".join(b"def f%d():\n    f%d()\n    f%d()\n" % (i, i + 1, i + 1)
                                                                   for i in range(60)) + b"f0()\n",
            "nccl.txt": lambda: b"# nThread 1 nGpus 8\n#       size         count      type   redop    root     time   algbw   busbw\n"
                        + b"        8      2     float     sum      -1    12.05    0.00    0.00      0    11.9\n" * 100_000,
            "topo.txt": lambda: b"\tGPU0\tGPU1\n" + b"GPU0\t X \tNV18\n" * 700_000,
            "lesson.md": lambda: b"---\nformat: pentamesh.lesson/1\n---\n" + b"# step\n" * 1_400_000,
            "lesson2.md": lambda: b"---\n" + b"a: b\n" * 2_000_000 + b"---\n",
            "hand_in.json": lambda: b'{"format":"pentamesh.handin/1","lessons":[' + b'{"title":"a","steps":[]},' * 400_000 + b"{}]}",
            "runs.csv": lambda: b"plan,step_s\n" + b"mesh-8,1.0\n" * 800_000,
            "quoted.csv": lambda: b"plan,step_s\n" + b'"' * 9 * MIB,
            "noise": lambda: random.Random(7).randbytes(10 * MIB), "zeros": lambda: b"\0" * 10 * MIB, "lines": lambda: b"\n" * 10 * MIB, "spaces": lambda: b" " * 10 * MIB,
            "pickle": lambda: b"\x80\x02" + b"}" * 10 * MIB}
        wanted = os.environ.get("PENTAMESH_ONLY", "")
        for name, data in texts.items():  # made one by one: a child begins with the memory of this program
            if wanted not in name:
                continue
            commands = [["import", "FILE"], ["report", "FILE"], ["check", "FILE"], ["measured", "FILE"], ["calibrate", "FILE"]]
            if name.endswith(".md"):
                commands = [["lesson", "FILE"], ["mark", "FILE", "--lesson", "FILE"], ["report", "FILE"]]
            if name.startswith("hand_in"):
                commands = [["mark", "FILE"]]
            if name.endswith(".json"):
                commands += [["report", "mesh-8", "--constants", "FILE"],
                             ["params", "FILE"]]
            with self.subTest(name=name):
                self.check_file(name, data()[:10 * MIB], *(commands if ALL_NONSENSE else commands[:1]))


if __name__ == "__main__":
    left_out.main(sys.argv[3:])
