#!/usr/bin/env python3
"""command_line_test.py PROGRAM SOURCE_FOLDER: checks what the command line says of itself: help, examples, completions, the
man page; and what it understands whatever the order."""
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import fcntl
    import struct
    import termios
except ImportError:  # not on Windows
    pass

import docs_test
import left_out
from cli_test import PLAN, PROGRAM, run, run_json

COMMANDS = re.findall(r"^  ([a-z]+) ", run("--help")[1].split("Exit status:")[0], re.M)
COMMANDS = [c for c in COMMANDS if c != "pentamesh"]


def options_of(command):
    """Returns the options that a command's --help lists."""
    lines = re.findall(r"(?m)^  (-\S+)", run(command, "--help")[1].split("Examples:")[0])
    return sorted({name for names in lines for name in names.split(",")})


def examples_of(command):
    text = run(command, "--help")[1]
    return [line.strip() for line in text.partition("Examples:\n")[2].splitlines() if line.strip()]


class Help(unittest.TestCase):
    def test_commands_stand_under_headings_with_exit_statuses(self):
        text = run("--help")[1]
        self.assertGreater(len(COMMANDS), 25)
        for heading in ("A plan in figures:", "Which layout, and why:", "The program:", "Exit status:"):
            self.assertIn(heading, text)
        self.assertNotIn("complete", text)
        self.assertEqual(run("help")[1], text)

    def test_help_of_a_command_is_its_help(self):
        for command in COMMANDS:
            status, out, err = run("help", command)
            self.assertEqual((status, err), (0, ""), command)
            self.assertEqual(out, run(command, "--help")[1])
        status, out, err = run("help", "serach")
        self.assertEqual((status, out), (2, ""))
        self.assertIn('"search"', err)

    def test_every_example_works(self):
        with tempfile.TemporaryDirectory() as folder:
            docs_test.write_fixtures(folder)
            with open(os.path.join(folder, "ds_config.json"), "w", encoding="utf-8") as f:
                f.write('{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3},'
                        ' "bf16": {"enabled": true}}')
            for command in COMMANDS:
                examples = examples_of(command)
                self.assertTrue(examples, command)
                for line in examples:
                    if command == "bench":
                        continue  # it takes minutes; Bench, below, runs the quick one
                    with self.subTest(example=line):
                        self.assertIn(f"pentamesh {command}", line)
                        words = shlex.split(line, comments=True)
                        at = words.index("pentamesh")
                        text = " ".join(words[1:at - 1]).encode() if words[0] == "echo" else None
                        r = subprocess.run([PROGRAM, *words[at + 1:]], input=text, capture_output=True, cwd=folder, timeout=300)
                        self.assertEqual(r.returncode, 0, r.stderr.decode())

    def test_the_help_of_search_names_fields_and_their_values(self):
        text = run("search", "--help")[1]
        for field in run_json("search", "mesh-8", "--json")[1]["space"]:
            self.assertRegex(text, rf"(?m)^  {field} +\S")
        for value in ("1f1b", "zb-v", "none, selective, full", "Megatron"):
            self.assertIn(value, text)


class Order(unittest.TestCase):
    def test_set_may_stand_before_the_command(self):
        wanted = run("memory", "-", "--set", "layout.zero=3", "--set", "layout.tp=4", "--set", "layout.dp_shard=8", plan=PLAN)
        self.assertEqual(wanted[0], 0)
        self.assertEqual(run("--set", "layout.zero=3", "--set=layout.tp=4", "memory", "-", "--set", "layout.dp_shard=8", plan=PLAN), wanted)
        status, out, err = run("--set", "foo=1", "presets")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("--set", err)

    def test_a_field_may_be_called_by_its_own_name(self):
        self.assertEqual(run("memory", "-", "--set", "zero=3", "--set", "global_batch=128", plan=PLAN),
                         run("memory", "-", "--set", "layout.zero=3", "--set", "training.global_batch=128", plan=PLAN))
        status, _, err = run("report", "mesh-8", "--set", "tq=4")
        self.assertEqual(status, 1)
        self.assertIn("tq", err)

    def test_the_option_of_a_lesson_is_a_field_of_a_plan(self):
        status, _, err = run("report", "mesh-8", "--software", "torchtitan")
        self.assertEqual(status, 2)
        self.assertIn("--set software=torchtitan", err)
        status, out, _ = run("report", "mesh-8", "--set", "software=torchtitan")
        self.assertEqual(status, 0)
        self.assertIn("torchtitan (training.software)", out)

    def test_a_wrong_value_is_named_by_its_set(self):
        for wrong in ("layout.tp=0", "tp=0", "layout.nonsense=1"):
            status, _, err = run("report", "mesh-8", "--set", wrong)
            self.assertEqual(status, 1, wrong)
            self.assertIn("--set " + wrong, err)
            self.assertNotIn("plan.json", err)

    def test_a_misspelt_command_is_told_the_closest_one_with_words_behind_it(self):
        for words in (("reprot", "mesh-8"), ("reprot", "mesh-8", "--json"), ("--set", "layout.tp=2", "reprot", "mesh-8")):
            status, out, err = run(*words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertIn('"report"', err)
        self.assertNotIn("closest", run("xxxxxxxxxxxx")[2])

    def test_a_typo_is_told_its_place_and_the_closest_word(self):
        for words, told in ((("report", "mesh-8", "--sett", "tp=2"), '--sett is no option of report; the closest is --set\n'),
                            (("search", "mesh-8", "--headrom=5%"), "--headrom is no option of search; the closest is --headroom\n"),
                            (("import", "a.sh", "b.sh", "--args", "--foo 1"), "not expected: b.sh\n"),
                            (("export", "mesh-8", "--to", "megatorn"), 'the closest is "megatron"'),
                            (("screenshot", "mesh-8", "--view", "mseh", "-o", "x.png"), 'the closest is "mesh"'),
                            (("report", "mesh-8", "--set", "cluster=h100-sx"), 'the closest is "h100-sxm-ib"'),
                            (("report", "mesh-8", "--set", "model=Mixtral"), 'the closest is "mixtral-'),
                            (("report", "mesh-8", "--set", "seq=1"), 'is "sequence_length"'),
                            (("screenshot", "mesh-8", "--view", "mesh", "--rank", "99", "-o", "x.png"), "ranks 0 to 7"),
                            (("embed", "mesh-8", "--view", "mesh", "--rank", "8", "-o", "x.html"), "ranks 0 to 7"),
                            (("compare", "mesh-8", "--set-b", "tpp=2"), "--set-b tpp=2: /tpp: unknown key"),
                            (("move", "mesh-8", "--set-b", "tpp=2"), "--set-b tpp=2: /tpp: unknown key"),
                            (("compare", "mesh-8", "--set", "tpp=2", "--set-b", "tp=2"), "--set tpp=2: /tpp: unknown key")):
            with self.subTest(words=words):
                status, out, err = run(*words)
                self.assertIn(status, (1, 2))
                self.assertEqual(out, "")
                self.assertIn(told, err)


class Forms(unittest.TestCase):
    PLANS = {"report": (), "memory": (), "comm": (), "timeline": (), "groups": (), "rank": ("3",), "tensors": (), "layer": (),
             "sensitivity": (), "scale": ("--to", "16"), "blame": ("3", "7"), "search": ("--vary", "pp=1", "--for", "megatron"),
             "sweep": ("--vary", "zero=0,1"), "compare": ("hsdp-64",)}

    def test_each_form_is_written_by_each_command_and_to_a_file(self):
        commands = [(c, "mesh-8", *more) for c, more in self.PLANS.items()] + [("params", "llama-3-8b"), ("presets",)]
        with tempfile.TemporaryDirectory() as folder:
            for words in commands:
                for form in ((), ("--json",), ("--csv",), ("--markdown",)):
                    with self.subTest(command=words[0], form=form):
                        status, out, err = run(*words, *form)
                        self.assertEqual((status, err), (0, ""))
                        if form == ("--json",):
                            json.loads(out)
                        elif form == ("--csv",):
                            rows = list(csv.reader(io.StringIO(out)))
                            self.assertGreater(len(rows), 1)
                            self.assertEqual({len(r) for r in rows}, {len(rows[0])})
                        elif form == ("--markdown",):
                            self.assertIn("| ", out)
                        file = os.path.join(folder, "out.txt")
                        self.assertEqual(run(*words, *form, "-o", file), (0, "", ""))
                        with open(file, encoding="utf-8", newline="") as f:
                            written = f.read()
                        if words[0] != "search":  # which says how long it took
                            self.assertEqual(written, out)
                        else:
                            self.assertEqual(len(written.splitlines()), len(out.splitlines()))
                status, out, _ = run(*words, "--csv", "--json")
                self.assertEqual((status, out), (2, ""), words)

    def test_the_csv_of_a_report_has_each_figure_by_its_place(self):
        rows = dict(list(csv.reader(io.StringIO(run("report", "mesh-8", "--csv")[1])))[1:])
        report = run_json("report", "mesh-8", "--json")[1]
        self.assertEqual(float(rows["/step/time_s"]), report["step"]["time_s"])
        self.assertEqual(int(rows["/memory/stages/0/total"]), report["memory"]["stages"][0]["total"])
        self.assertEqual(rows["/valid"], "true")

    def test_compare_begins_with_its_verdict_and_what_is_faster(self):
        words = "compare", "llama-3.1-405b-8k", "llama-3.1-405b-16k"
        out = run(*words)[1]
        self.assertEqual(out.splitlines()[1].strip(), run_json(*words, "--json")[1]["verdict"])
        tie = run_json("compare", "llama-3-70b-3d", "--set-b", "virtual_stages=2", "--json")[1]
        self.assertEqual((tie["take"], tie["sure"]), (0, False))
        self.assertRegex(tie["verdict"], r"^Take A if it measures faster: B is ([\d.]+ %) slower by the estimate\. .*"
                         r"A difference of \1 is less than the estimate's own range of [\d.]+ %\.$")
        found = run_json("search", "llama-3-70b-3d", "--hold", "tp", "--hold", "pp", "--json")[1]
        self.assertRegex(found["verdict"], "^The fastest (is|takes) ")
        self.assertRegex(out.splitlines()[2], r"B is [\d.]+ m?s (faster|slower): .*")
        self.assertNotRegex(out.partition("The figures")[2].partition("Why")[0], r"\d{7}")
        self.assertIn("trains most", run("compare", "hsdp-64", "llama-3-8b-fsdp", "hsdp-64")[1])


@unittest.skipUnless(os.name == "posix", "asks for a terminal")
class Terminal(unittest.TestCase):
    def on_terminal(self, *words, columns=80):
        """Returns what the program writes to a terminal of so many columns."""
        try:
            ours, its = os.openpty()
        except OSError as error:
            self.skipTest(f"this system gives no terminal ({error}): /dev/pts is not mounted")
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        end = b"\x04the program has ended\x04"
        process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=its, stderr=its)

        # A terminal that its last writer has closed may drop what was not read yet. This test holds it open too,
        # and writes a mark behind the program's last word.
        def mark_the_end():
            process.wait()
            os.write(its, end)

        marker = threading.Thread(target=mark_the_end)
        marker.start()
        text = b""
        while not text.endswith(end):
            text += os.read(ours, 65536)
        marker.join()
        os.close(its)
        os.close(ours)
        self.assertEqual(process.returncode, 0)
        return text.removesuffix(end).decode().replace("\r\n", "\n")

    def test_tables_are_as_wide_as_the_terminal_and_lose_no_word(self):
        wide = run("comm", "deepseek-v3-2048")[1]
        narrow = self.on_terminal("comm", "deepseek-v3-2048", columns=100)
        table = narrow.split("Nothing")[0].splitlines()[2:]
        self.assertGreater(max(map(len, wide.splitlines()[2:])), 100)
        self.assertLess(max(map(len, table)), max(map(len, wide.splitlines()[2:])))
        self.assertEqual(sorted(narrow.split()), sorted(wide.split()))
        search = ("compare", "llama-3.1-405b-8k", "llama-3.1-405b-16k")
        lines = self.on_terminal(*search, columns=120).partition("What differs")[2].splitlines()
        self.assertLessEqual(max(map(len, lines)), 120)
        self.assertEqual(self.on_terminal("memory", "mesh-8", columns=500), run("memory", "mesh-8")[1])

    def test_long_work_says_how_far_it_is_and_leaves_no_trace(self):
        out = self.on_terminal("search", "llama-3.1-405b-16k", "--vary", "tp=4,8", "--for", "any")
        if "search: " in out:  # it took more than half a second
            self.assertIn("\r\x1b[K", out)
            self.assertRegex(out, r"search: [\d,]+ layouts evaluated")
        self.assertIn("Layouts, fastest first", out)


class Bench(unittest.TestCase):
    def test_each_case_is_said_when_it_is_measured(self):
        begun = time.monotonic()
        with subprocess.Popen([PROGRAM, "bench", "--quick", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as bench:
            first = bench.stderr.readline()
            self.assertIsNone(bench.poll(), "the first case is said when all is over")
            first_s = time.monotonic() - begun
            rest, out = bench.stderr.readlines(), json.load(bench.stdout)
        all_s = time.monotonic() - begun
        print(f"bench --quick: the first line after {first_s:.1f} s, all of it {all_s:.1f} s", file=sys.stderr)
        self.assertEqual(bench.returncode, 0, rest)
        self.assertTrue(out["quick"])
        plans = [row["plan"] for row in out["evaluate"]]
        said = [line.split(": ")[1] for line in [first, *rest] if line.startswith("bench: ")]
        self.assertEqual(said[:len(plans)], plans)
        self.assertLess(first_s, all_s / 2)
        if "frame" in out:
            self.assertEqual(len(said), len(plans) + 2 + len(out["frame"]) + len(out["timeline_frame"]))


class Completions(unittest.TestCase):
    def test_each_names_every_command_and_option(self):
        for what, option in (("bash", "{}"), ("zsh", "{}"), ("man", "{}"), ("fish", None)):
            status, text, err = run("complete", what)
            self.assertEqual((status, err), (0, ""), what)
            plain = text.replace("\\-", "-")
            for command in COMMANDS:
                self.assertIn(command, plain)
                names = options_of(command)
                self.assertIn("--help", names)
                for name in names:
                    if option is None:  # fish has its own form
                        form = f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
                        at = "__fish_seen_subcommand_from " + command
                        self.assertTrue(any(at in line and form + " " in line for line in text.splitlines()), (command, name))
                    else:
                        self.assertIn(name, plain, (what, command))
            self.assertIn("high-contrast", plain)

    def test_ids_of_presets_are_listed(self):
        self.assertIn("mesh-8\n", run("complete", "plans")[1])
        self.assertIn("llama-3-8b\n", run("complete", "models")[1])
        self.assertIn("h100-sxm-ib\n", run("complete", "clusters")[1])

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash_completes_commands_options_values_and_presets(self):
        def complete(*words):
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(PROGRAM, os.path.join(folder, "pentamesh"))
                script = (f'PATH={shlex.quote(folder)}:$PATH; source /dev/stdin <<< "$(pentamesh complete bash)"; COMP_WORDS=('
                          + " ".join(map(shlex.quote, words)) + f"); COMP_CWORD={len(words) - 1}; _pentamesh; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
                r = subprocess.run(["bash", "-c", script], capture_output=True, cwd=folder, timeout=60)
                self.assertEqual(r.stderr.decode(), "")
                return r.stdout.decode().split()

        self.assertEqual(complete("pentamesh", "sens"), ["sensitivity"])
        self.assertIn("mesh-8", complete("pentamesh", "report", "me"))
        self.assertEqual(complete("pentamesh", "search", "mesh-8", "--goal", "me"), ["memory"])
        self.assertEqual(complete("pentamesh", "search", "mesh-8", "--wit"), ["--within"])
        self.assertIn("h100-sxm-ib", complete("pentamesh", "search", "--cluster", "h1"))
        self.assertEqual(complete("pentamesh", "help", "bla"), ["blame"])

    def reads_its_completions(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        r = subprocess.run([shell, "-n"], input=run("complete", shell)[1].encode(), capture_output=True, timeout=60)
        self.assertEqual((r.returncode, r.stderr), (0, b""), shell)

    def test_zsh_reads_its_completions(self):
        self.reads_its_completions("zsh")

    def test_fish_reads_its_completions(self):
        self.reads_its_completions("fish")

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed (Debian: groff-base)")
    def test_the_man_page_is_set_without_a_warning(self):
        r = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=run("complete", "man")[1].encode(), capture_output=True, timeout=60)
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        self.assertIn("SYNOPSIS", re.sub(".\x08", "", r.stdout.decode()))


if __name__ == "__main__":
    left_out.main()
