#!/usr/bin/env python3
"""serve_test.py PROGRAM SOURCE_FOLDER: checks `pentamesh serve`: an answer a line, whatever the line is."""
import json
import os
import random
import re
import subprocess
import tempfile
import unittest

import docs_test
import left_out
import serve_page
from cli_test import PLAN, PROGRAM, SOURCE, run, run_json


def serve(lines, timeout=300):
    """Sends lines, which are bytes or requests; returns the answers as the program wrote them, and its status."""
    text = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    r = subprocess.run([PROGRAM, "serve"], input=text, capture_output=True, timeout=timeout)
    answers = r.stdout.decode().splitlines()
    return [json.loads(a) for a in answers], r.returncode, r.stderr.decode()


class Serve(unittest.TestCase):
    def test_an_answer_is_what_the_command_writes(self):
        answers, status, err = serve([{"id": "a", "command": "report", "args": ["mesh-8", "--json"]},
                                      {"id": 2, "command": "memory", "args": ["mesh-8"]},
                                      {"command": "rank", "args": ["mesh-8", 5, "--json"]}])
        self.assertEqual((status, err, [a["id"] for a in answers]), (0, "", ["a", 2, None]))
        self.assertEqual([a["status"] for a in answers], [0, 0, 0])
        self.assertEqual(answers[0]["result"], run_json("report", "mesh-8", "--json")[1])
        self.assertEqual(answers[1]["result"], run("memory", "mesh-8")[1])
        self.assertEqual(answers[2]["result"]["rank"], 5)
        self.assertNotIn("error", answers[0])

    def test_a_plan_stands_as_an_object_or_in_the_input(self):
        answers, _, _ = serve([{"id": 1, "command": "report", "args": [PLAN, "--json", "--set", "layout.zero=3"]},
                               {"id": 2, "command": "report", "args": ["-", "--json", "--set", "layout.zero=3"], "input": json.dumps(PLAN)},
                               {"id": 3, "command": "compare", "args": [PLAN, "mesh-8", "--json"]},
                               {"id": 4, "command": "report", "args": ["-", "--json"]}])
        self.assertEqual(answers[0]["result"], answers[1]["result"])
        self.assertEqual(answers[0]["result"]["plan"]["layout"]["zero"], 3)
        self.assertEqual(answers[2]["result"]["plans"][0], "test")
        self.assertEqual(answers[3]["status"], 1)  # its input is empty

    def test_what_goes_wrong_is_an_answer_and_the_next_line_is_read(self):
        bad = dict(PLAN, layout=dict(PLAN["layout"], tp=3))
        answers, status, err = serve([{"id": 1, "command": "report", "args": [bad, "--json"]},
                                      {"id": 2, "command": "report", "args": ["no-such-plan"]},
                                      {"id": 3, "command": "report", "args": ["mesh-8", "--nonsense"]},
                                      {"id": 4, "command": "reprot", "args": ["mesh-8"]},
                                      {"id": 5, "command": "mesh-8"},
                                      {"id": 6, "command": "serve"},
                                      {"id": 7, "command": "--version"},
                                      {"id": 8, "command": "groups", "args": ["mesh-8", "--summary", "--json"]}])
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([a["status"] for a in answers], [1, 3, 2, 2, 2, 2, 0, 0])
        self.assertFalse(answers[0]["result"]["valid"])
        for answer, word in zip(answers[:6], ("tp", "no-such-plan", "--nonsense", '"report"', "command is missing", "running already")):
            self.assertIn(word, answer["error"])
        self.assertEqual(answers[7]["result"], run_json("groups", "mesh-8", "--summary", "--json")[1])

    def test_a_line_that_is_no_request_is_an_answer_too(self):
        deep = b'{"id": 1, "args": ' + b"[" * 100000 + b"]" * 100000 + b"}"
        lines = [b"", b"   ", b"{", b"[]", b"null", b"\xff\xfe", b'"text"', b'{"id": 7}', b'{"id": [], "command": "report"}', deep,
                 b'{"id": 8, "command": 5}', b'{"id": 9, "command": "report", "args": {"a": 1}}',
                 b'{"id": 10, "command": "report", "args": [null]}', b'{"id": 11, "command": "report", "extra": 1}',
                 b'{"id": 12, "command": "report", "input": 1}', b'{"id": 13, "id": 14, "command": "report"}', b"\x00\x01",
                 b'{"id": 15, "command": "report", "args": ["\\u0000"]}',
                 b'{"id": 16, "command": "report", "args": ["mesh-8", "-o", "/nonexistent/x"]}']
        answers, status, err = serve([*lines, {"id": "end", "command": "params", "args": ["llama-3-8b", "--json"]}])
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(len(answers), len(lines) - 2 + 1)  # blank lines have none
        self.assertEqual({a["status"] for a in answers[:-3]}, {2})
        for answer in answers[:-1]:
            self.assertNotEqual(answer["status"], 0)
            self.assertTrue(answer["error"])
        self.assertEqual([a["id"] for a in answers if a["id"] is not None], [7, 8, 9, 10, 11, 12, 15, 16, "end"])
        self.assertEqual(answers[-1]["result"]["total"], 8030261248)

    def test_a_line_without_an_end_is_bounded(self):
        huge = b'{"id": 1, "command": "' + b"x" * (70 << 20) + b'"}'
        answers, status, _ = serve([huge, {"id": 2, "command": "params", "args": ["llama-3-8b", "--json"]}])
        self.assertEqual((status, [a["status"] for a in answers]), (0, [2, 0]))
        self.assertIn("a request has at most", answers[0]["error"])

    def test_changed_bytes_of_requests_never_end_it(self):
        rng = random.Random(39)
        whole = [json.dumps({"id": 1, "command": "report", "args": [PLAN, "--json", "--set", "layout.tp=4"]}).encode(),
                 json.dumps({"id": 2, "command": "search", "args": ["mesh-8", "--vary", "pp=1..8", "--hold", "memory<=70GiB"]}).encode(),
                 json.dumps({"id": 3, "command": "groups", "args": ["mesh-8", "--axis", "tp"], "input": "x"}).encode()]
        lines = []
        for _ in range(150):
            line = bytearray(rng.choice(whole))
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(line))
                kind = rng.randrange(3)
                if kind == 0:
                    line[at] = rng.randrange(256)
                elif kind == 1:
                    del line[at:at + rng.randint(1, 20)]
                else:
                    line[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 5)))
                if not line:
                    line = bytearray(b"{")
            lines.append(bytes(line).replace(b"\n", b" "))
        lines = [line for line in lines if line.strip(b" \t\r")]
        answers, status, err = serve([*lines, {"id": "end", "command": "--version"}])
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(len(answers), len(lines) + 1)
        self.assertTrue(all(a["status"] == 0 or a["error"] for a in answers))
        self.assertEqual(answers[-1]["id"], "end")

    def test_it_ends_with_its_input_and_with_its_reader(self):
        self.assertEqual(serve([]), ([], 0, ""))
        r = subprocess.run([PROGRAM, "serve"], input=b'{"id": 1, "command": "--version"}', capture_output=True, timeout=60)
        self.assertEqual(json.loads(r.stdout)["status"], 0)  # without a line break at its end
        process = subprocess.Popen([PROGRAM, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        process.stdin.write(b'{"command": "report", "args": ["mesh-8"]}\n' * 3)
        process.stdin.close()
        self.assertEqual((process.wait(60), process.stderr.read()), (0, b""))
        process.stderr.close()


class Sweep(unittest.TestCase):
    def test_a_row_is_what_report_says_of_the_variant(self):
        rows = run_json("sweep", "-", "--vary", "layout.tp=1,2,3", "--vary", "training.micro_batch=1,2", "--json", plan=PLAN)[1]["rows"]
        self.assertEqual([r["set"] for r in rows], [{"layout.tp": tp, "training.micro_batch": b} for tp in (1, 2, 3) for b in (1, 2)])
        for row in rows:
            sets = [w for k, v in row["set"].items() for w in ("--set", f"{k}={v}")]
            report = run_json("report", "-", "--json", *sets, plan=PLAN)[1]
            self.assertEqual(row["valid"], report["valid"])
            if row["valid"]:
                self.assertEqual((row["step_s"], row["mfu"]), (report["step"]["time_s"], report["step"]["mfu"]))
                self.assertEqual((row["memory_bytes"], row["fits"]), (report["memory"]["peak"], report["memory"]["fits"]))
            else:
                self.assertIn(row["reason"], [p["message"] for p in report["problems"]])
        self.assertFalse(rows[4]["valid"])

    def test_points_are_a_list_and_a_wrong_one_is_a_row(self):
        points = [{"zero": 3}, {"layout.tp": 0}, {}, {"zero": 7}, {"schedule": "1f1b", "layout.tp": 3}]
        status, out, err = run("sweep", "hsdp-64", "--points", "-", "--json", plan=points)
        rows = json.loads(out)["rows"]
        self.assertEqual((status, err, [r["valid"] for r in rows]), (0, "", [True, False, True, False, False]))
        self.assertIn("/layout/tp", rows[1]["reason"])
        status, out, _ = run("sweep", "hsdp-64", "--vary", "zero=1,2", "--csv")
        self.assertEqual(out.split("\r\n")[0], "zero,step_s,tokens_per_s,mfu,memory_bytes,fits,reason")
        for wrong in ((), ("--vary", "tp"), ("--vary", "tp=1", "--points", "x"), ("--vary", "a=" + "1," * 500, "--vary", "b=" + "1," * 500)):
            self.assertEqual(run("sweep", "mesh-8", *wrong)[:2], (2, ""), wrong[:1])
        self.assertEqual(run("sweep", "mesh-8", "--points", "-", plan=b'{"a": 1}')[0], 1)
        self.assertEqual(run("sweep", "mesh-8", "--points", "-", plan=[1])[0], 1)


class Page(unittest.TestCase):
    """docs/serve.md has a section for each request; PENTAMESH_REFRESH_SERVE=1 writes its tables anew."""
    FILE = os.path.join(SOURCE, "docs", "serve.md")

    def page(self):
        with open(self.FILE, encoding="utf-8") as f:
            return f.read()

    @staticmethod
    def commands():
        groups = serve_page.described(run("complete", "man")[1])
        return [c for _, commands in groups for c in commands if c["name"] not in serve_page.NOT_REQUESTS]

    def test_each_request_has_its_words(self):
        page, commands = self.page(), self.commands()
        if os.environ.get("PENTAMESH_REFRESH_SERVE"):
            for c in commands:
                old = serve_page.sections(page)[c["name"]][1]
                head, body = re.split(rf"(?=^### `{c['name']}`$)", page, maxsplit=1, flags=re.M)
                page = head + (body.replace(old, serve_page.table(c), 1) if old else body)
            with open(self.FILE, "w", encoding="utf-8") as f:
                f.write(page)
        found = serve_page.sections(page)
        self.assertEqual(sorted(found), sorted(c["name"] for c in commands))
        self.assertGreater(len(commands), 20)
        for c in commands:
            with self.subTest(request=c["name"]):
                self.assertEqual(found[c["name"]][1], serve_page.table(c))

    def test_each_example_is_answered(self):
        found, here = serve_page.sections(self.page()), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            docs_test.write_fixtures(folder)
            os.chdir(folder)
            try:
                for name, (lines, _) in found.items():
                    with self.subTest(request=name):
                        self.assertTrue(lines, "it has no example")
                        requests = [json.loads(line) for line in lines]
                        answers, status, err = serve(requests)
                        self.assertEqual((status, err, [a["id"] for a in answers]), (0, "", [r["id"] for r in requests]))
                        for request, answer in zip(requests, answers):
                            self.assertEqual(request["command"], name)
                            self.assertEqual(answer["status"], 0, answer.get("error"))
                            if "--json" in request["args"]:
                                self.assertIsInstance(answer["result"], (dict, list))
            finally:
                os.chdir(here)

    def test_neither_server_runs_inside_the_other(self):
        answers, status, _ = serve([{"id": 1, "command": "mcp"}, {"id": 2, "command": "--version"}])
        self.assertEqual((status, [a["status"] for a in answers]), (0, [2, 0]))
        self.assertIn("running already", answers[0]["error"])


if __name__ == "__main__":
    left_out.main()
