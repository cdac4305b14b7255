#!/usr/bin/env python3
"""docs_test.py PROGRAM SOURCE_FOLDER: holds what the documents promise. Each command that README.md and docs/*.md show runs, in
code blocks and between backticks, with each choice of a line of usage; each Python block runs; each path and each name in
code type is there; each number that is counted from data is that of the data; tables that the program writes are what it
writes (PENTAMESH_REFRESH_DOCS=1 writes them anew). Files that only a reader has are made here, one for each row of
docs/examples.md."""
import ast
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import cli_test
import left_out
from cli_test import PROGRAM, SOURCE

sys.dont_write_bytecode = True

# These commands cannot run here, each with the reason.
NOT_RUN = {
    "node tests/web/node_test.mjs": "a test of the program in a browser, with a build of its own",
    "echo '{": "a request in a pipe: tests/cli/serve_test.py and mcp_test.py send such lines",
    "pentamesh my-lesson.md": "it opens the window",
    "pentamesh embed mesh-8 --view mesh -o figure.html": "the page need not be built: tests/scripts/installed_test.sh runs it",
    "pentamesh lesson --course half-a-day --web": "the page need not be built: tests/scripts/installed_test.sh runs it",
}

# A word in capitals (docs/examples.md), by the option or the command before it.
CHOSEN = {
    "PLAN": "mesh-8", "PLAN_B": "llama-3-8b-fsdp", "A": "llama-3.1-405b-16k", "B": "llama-3.1-405b-8k",
    "C": "llama-3-70b-3d", "DIR": "page", "N": "64", "R": "3", "WORDS": "8", "CONSTRAINT": "micro_batch=1,2",
    "SOFTWARE": "megatron", "KIND": "megatron", "TABLE": "all_reduce.txt", "POINTER=VALUE": "layout.zero=1",
    "NAME=VALUE": "TP=4", "NAME": "llama3_8b_pretrain_8gpu_h100_config", "-o PLAN": "made.plan.json", "-o FILE": "made.txt",
    "--run FILE": "rank0.pt.trace.json.gz", "--junit FILE": "made.xml", "--html FILE": "made.html",
    "--model ID": "llama-3-8b", "--cluster ID": "h100-sxm-ib", "import FILE": "train.sh", "check FILE": "train.sh",
    "check FOLDER": "recipes", "lesson FILE": "my-lesson.md", "mark FOLDER": "handed-in", "--lessons FOLDER": "recipes", "-o FOLDER": "made",
    "--tools NAME": "roll", "-o FILE.pdf": "made.pdf", "-o FILE.html": "made.html", "-o FILE.md": "made.md",
}

TRAIN = """#!/bin/bash
TP=${TP:-8}
torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py $1 \\
  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention \\
  --num-query-groups 8 --swiglu --normalization RMSNorm --position-embedding-type rope --disable-bias-linear \\
  --untie-embeddings-and-output-weights --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256 \\
  --micro-batch-size 1 --global-batch-size 128 --bf16 --use-distributed-optimizer --use-flash-attn \\
  --tensor-model-parallel-size $TP --sequence-parallel
"""
LESSON = "---\ntitle: Mine\nminutes: 5\nsummary: One question.\n---\n\n## One\nopen: mesh-8\nview: mesh\n\nWords.\n\n" \
         "```ask\nnumber: groups tp\nprompt: How many groups?\nwhy: There are {{groups tp}}.\n```\n"

# An instrumented program takes ten times as long: of each line of usage only the first choice runs then.
FIRST_CHOICE_ONLY = bool(os.environ.get("PENTAMESH_FIRST_CHOICE_ONLY"))

NUMBERS = dict(zip("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
                   "eighteen nineteen twenty".split(), range(1, 21)))


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def documents():
    return ["README.md", *sorted(os.path.relpath(p, SOURCE) for p in glob.glob(os.path.join(SOURCE, "docs/*.md")))]


def parts(text):
    """Returns a document's code blocks (language, text), with indented ones, and its text without them."""
    blocks = [(m[2], m[3]) for m in re.finditer(r"^(```+)([a-z]*)\n(.*?)^\1$", text, re.M | re.S)]
    rest = re.sub(r"^(```+)[a-z]*\n.*?^\1$", "", text, flags=re.M | re.S)
    blocks += [("", line) for line in re.findall(r"^    (.*)$", rest, re.M)]
    return blocks, re.sub(r"^    .*$", "", rest, flags=re.M)


def code_spans(text):
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", parts(text)[1])]


def commands():
    """Returns (file, command) of each line of a code block that calls the program, and of each such piece of code type."""
    for path in documents():
        text = read(path)
        for language, block in parts(text)[0]:
            for line in block.splitlines():
                command, _, comment = line.strip().partition(" #")
                if language != "python" and re.search(r"(^|/| )pentamesh ", command):
                    yield path, line.strip()
                if language != "python" and (named := re.search(r"\bpentamesh [a-z].*", comment)):
                    yield path, named[0]
        for span in code_spans(text):
            if span.startswith("pentamesh "):
                # A name in a sentence is no whole command: its help is asked for.
                yield path, span + " --help" if re.fullmatch(r"pentamesh [a-z]+", span) else span


def choices(words):
    """Returns each way to choose between what bars part, each bar by itself: all others stay at their first choice."""
    each = [[c.rstrip("….") for c in w.split("|")] for w in words if w not in ("...", "…")]
    first = [c[0] for c in each]
    return [first] + [first[:i] + [other] + first[i + 1:] for i, c in enumerate(each) for other in c[1:]]


def filled(words):
    """Returns the words with those in capitals replaced by what is chosen for them."""
    out = []
    for i, word in enumerate(words):
        value = CHOSEN.get(f"{words[i - 1]} {word}", CHOSEN.get(word)) if i else word
        if word == "FILE" and "--recipe" in words:
            value = "recipes/llama.py"
        if word == "PLAN" and "moe" in words:
            value = "deepseek-v3-2048"
        out.append(word if value is None else value)
    # No preset has a price: docs/decide.md says that this goal needs one.
    return out + (["--set", "cluster.price_per_gpu_hour=2"] if words[-2:] == ["--goal", "cost"] else [])


def runnable(line):
    """Returns the commands that a line stands for: without what is optional, and with each optional part by itself."""
    line = re.sub(r"\s#.*$", "", line)
    optional = re.findall(r"\[([^\]]*)\]", line)
    base = shlex.split(re.sub(r"\[[^\]]*\]", "", line))
    found = choices(base)
    for part in optional:
        found += [found[0] + way for way in choices(shlex.split(part))]
    return [filled(words) for words in (found[:1] if FIRST_CHOICE_ONLY else found)]


def write_fixtures(folder):
    """Makes a file for each row of docs/examples.md."""
    step = json.loads(cli_test.run("report", "llama-3-8b-fsdp", "--json")[1])["step"]
    table = {"cases": [{"id": "mine", "plan": "llama-3-8b-fsdp", "measured": {"iteration_s": step["time_s"] * 1.2}}]}
    plan = read("presets/plans/llama-3-8b-fsdp.plan.json")
    tps = step["tokens_per_s"] / json.loads(plan)["cluster"]["gpus"]
    titan = "".join(f"[titan] step: {i}  loss: 8.1  tps: {round(tps * 0.9):,}  tflops: 300.1  mfu: 30.3%\n"
                    for i in range(1, 8))
    for name in ("recipes", "inspector", "handed-in"):
        os.mkdir(os.path.join(folder, name))
    cli_test.write_dumps(os.path.join(folder, "dumps"))
    measured = os.path.join(SOURCE, "tests/golden/measured")
    for real, name in (("run2602-09/rank22.pt.trace.json.gz", "rank0.pt.trace.json.gz"),
                       ("run2602-09/rank22.pt.trace.json.gz", "rank1.pt.trace.json.gz"),
                       ("run2602-03/node2-pid1639469.log.gz", "inspector/node0.log"),
                       ("run2602-03/node2-pid1639470.log.gz", "inspector/node1.log")):
        shutil.copy(os.path.join(measured, real), os.path.join(folder, name))
    for name, text in (("recipes/llama.py", cli_test.RECIPES), ("runs.json", json.dumps(table)),
                       ("train.log", cli_test.Calibration.megatron_log()), ("job.plan.json", plan), ("titan.log", titan),
                       ("all_reduce.txt", cli_test.Calibration.nccl_table(300e9)), ("train.sh", TRAIN), ("my-lesson.md", LESSON),
                       ("handed-in/ada.json", '{"format": "pentamesh-hand-in", "learner": "Ada", "lessons": []}')):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    if cli_test.run("calibrate", "runs.json", "-o", "constants.json", folder=folder)[0] != 0:
        raise RuntimeError("no constants could be made of the runs")


def example_names():
    """Returns the names of files, and the words in capitals, that docs/examples.md lists."""
    names = [n for row in re.findall(r"^\| (`[^|]*) \|", read("docs/examples.md"), re.M) for n in re.findall(r"`([^`]+)`", row)]
    return [n for n in names if not n.isupper() and n != "PLAN_B"], [n for n in names if n.isupper()]


def source_files():
    """Returns the paths of the tree, without what was built."""
    found = set()
    for root, folders, files in os.walk(SOURCE):
        folders[:] = [f for f in folders if f != ".git" and (root != SOURCE or f not in ("build", "out"))]
        for name in folders + files:
            found.add(os.path.relpath(os.path.join(root, name), SOURCE).replace(os.sep, "/"))
    return found


def pattern(path):
    """Returns the expression of a path in which * and a word in capitals stand for a name, and {a,b} for one of them."""
    out = ""
    for piece in re.findall(r"\{[^}]*\}|(?<![A-Z])(?:NAME|ID)(?![A-Z])|\*|.", path):
        if piece in ("*", "NAME", "ID"):
            out += "[^/]*"
        elif piece[0] == "{":
            out += "(?:" + "|".join(map(re.escape, piece[1:-1].split(","))) + ")"
        else:
            out += re.escape(piece)
    return re.compile(out + "$")


def is_there(paths, tree):
    if any(p in tree for p in paths):
        return True
    forms = [pattern(p) for p in paths]
    return any(form.match(t) for form in forms for t in tree)


class Commands(unittest.TestCase):
    def test_each_command_of_the_documents_works(self):
        ran = {}
        with tempfile.TemporaryDirectory() as folder:
            write_fixtures(folder)
            for where, line in commands():
                if any(line.startswith(start) for start in NOT_RUN):
                    continue
                for words in runnable(line):
                    if tuple(words) in ran:
                        continue
                    with self.subTest(file=where, line=line, command=shlex.join(words)):
                        self.assertEqual(words[0], "pentamesh", line)
                        r = subprocess.run([PROGRAM, *words[1:]], capture_output=True, cwd=folder, timeout=300,
                                           stdin=subprocess.DEVNULL)
                        ran[tuple(words)] = r.returncode
                        self.assertEqual(r.returncode, 0, r.stderr.decode())
        self.assertGreater(len(ran), 50 if FIRST_CHOICE_ONLY else 100)

    def test_what_a_comment_says_of_options_is_true(self):
        asked = 0
        for where, line in commands():
            command, _, comment = line.partition(" #")
            options = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", comment.split("(")[0])
            if not options or not command.startswith("pentamesh "):
                continue
            text = cli_test.run(*command.split()[1:2], "--help")[1]
            for option in options:
                with self.subTest(file=where, line=line, option=option):
                    self.assertRegex(text, rf"(?<![\w-]){option}\b")
                    asked += 1
        self.assertGreater(asked, 5)

    def test_names_of_examples_are_those_of_the_table(self):
        files, words = example_names()
        text = "".join(read(p) for p in documents() if p != "docs/examples.md")
        with tempfile.TemporaryDirectory() as folder:
            write_fixtures(folder)
            for name in files:
                self.assertTrue(os.path.exists(os.path.join(folder, name)), f"no file is made for {name}")
                self.assertIn(name, text, "no document uses this name")
            made = {os.path.relpath(os.path.join(root, f), folder) for root, _, found in os.walk(folder) for f in found}
        for name in sorted(made):
            self.assertTrue(name in files or name.split("/")[0] in files, f"docs/examples.md has no row for {name}")
        for word in words:
            self.assertRegex(text, rf"\b{word}\b")
        for key in CHOSEN:
            for word in re.findall(r"\b[A-Z_]+\b", key):
                self.assertIn(word, words, "docs/examples.md does not say what this word stands for")

    def test_each_block_of_python_runs(self):
        os.environ["PENTAMESH"] = PROGRAM
        sys.path.insert(0, os.path.join(SOURCE, "app", "python"))
        here, ran = os.getcwd(), 0
        with tempfile.TemporaryDirectory() as folder:
            write_fixtures(folder)
            os.chdir(folder)
            try:
                for path in documents():
                    for language, block in parts(read(path))[0]:
                        if language != "python":
                            continue
                        names = {}
                        exec("import pentamesh", names)
                        for statement in ast.parse(block).body:
                            with self.subTest(file=path, line=ast.unparse(statement)):
                                exec(compile(ast.Module([statement], []), path, "exec"), names)
                                ran += 1
                        names["pentamesh"]._server.close()
            finally:
                os.chdir(here)
        self.assertGreater(ran, 10)


class Names(unittest.TestCase):
    DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "tests/README.md"]

    def test_each_path_is_there(self):
        tree = source_files()
        top = {p.split("/")[0] for p in tree if "/" in p} | {"run", "check"}
        built = "".join(read(p) for p in tree if re.search(r"CMakeLists\.txt$|\.cmake$|^scripts/|^\.ci/run$", p)
                        and os.path.isfile(os.path.join(SOURCE, p)))
        looked = 0
        for document in sorted({*self.DOCUMENTS, *documents()}):
            folder = os.path.dirname(document)
            text = read(document)
            words = [w.strip("(),;:") for span in code_spans(text) for w in span.split()]
            for block in parts(text)[0]:
                words += re.findall(r"(?:^|\s)((?:\./)?(?:scripts|tests|tools|docs|presets)/[\w./-]+|\./\w+(?=\s|$))", block[1])
            for word in words:
                path = re.sub(r"^\./", "", word).rstrip("/")
                if not re.fullmatch(r"[\w.*{},/+-]+", path):
                    continue
                first = path.split("/")[0]
                with self.subTest(document=document, path=word):
                    if first == "build" and "/" in path:
                        name = re.sub(r"[*].*", "", path.rsplit("/", 1)[1]).split("VERSION")[0]
                        self.assertTrue(name in built or path in built or name == "", "nothing builds this")
                    elif "/" in path and first in top or word.startswith("./"):
                        near = [path, os.path.join(folder, path)]
                        self.assertTrue(is_there(near, tree), "there is no such path")
                        looked += 1
                    elif document == "docs/code.md" and re.search(r"\.(cpp|h|mjs)$", path):
                        self.assertTrue(any(pattern(path).match(t.rsplit("/", 1)[-1]) or t.endswith("/" + path) for t in tree),
                                        "no file of the tree has this name")
                        looked += 1
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
                with self.subTest(document=document, link=link):
                    self.assertTrue(os.path.exists(os.path.join(SOURCE, folder, link)), "this link leads nowhere")
                    looked += 1
        self.assertGreater(looked, 250)

    def test_each_name_of_the_code_is_in_it(self):
        tree = source_files()
        texts = [read(p) for p in tree if re.search(r"\.(cpp|h|py|mjs|js|json|cmake|txt|sh)$|^(run|check)$|^scripts/", p)
                 and os.path.isfile(os.path.join(SOURCE, p)) and not p.startswith("tests/golden/")]
        names = {w for text in texts for w in re.findall(r"[A-Za-z_]\w*", text)} | {os.path.basename(p).split(".")[0] for p in tree}
        looked = 0
        for span in code_spans(read("docs/code.md")):
            for name in re.findall(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*\*?", span):
                if "_" not in name and "::" not in name:
                    continue
                for piece in name.split("::"):
                    with self.subTest(name=name):
                        if re.search(r"NAME|\*$|^_", piece):
                            free = re.compile(re.sub(r"NAME|\*", r"\\w+", piece) if not piece.startswith("_") else r"\w+" + piece)
                            self.assertTrue(any(free.fullmatch(n) for n in names), "no name of the code is of this form")
                        else:
                            self.assertTrue(piece in names, "this name is nowhere in the code")
                        looked += 1
        self.assertGreater(looked, 250)

    def test_model_families_are_those_that_are_read_and_refused(self):
        def rows(kind):
            found = []
            for text in [read(p) for p in sorted(source_files()) if re.fullmatch(r"core/io/hf_\w+\.cpp", p)]:
                for start in re.finditer(rf"constexpr std::array<{kind}, \d+> k\w+", text):
                    depth, first = 0, False
                    for piece in re.finditer(r'[{};]|"[^"]*"', text[start.end():]):
                        depth += {"{": 1, "}": -1}.get(piece[0], 0)
                        if piece[0] == ";" and depth == 0:
                            break
                        if piece[0] == "{":
                            first = depth == 3
                        elif piece[0][0] == '"' and first:
                            found.append(piece[0][1:-1])
                            first = False
            return found

        section = read("docs/frameworks.md").split("## Model families\n")[1]
        listed, refused = section.split("\nRead: ")[1].split("\n| `model_type` | has |\n")
        read_types = {*rows("Family"), *rows("Wrapper"), *rows("Alias")}
        self.assertGreater(len(read_types), 130)
        self.assertEqual(set(re.findall(r"`([^`]+)`", listed.split("\n\n")[0])), read_types)
        self.assertEqual(sorted(k for row in refused.splitlines() if row.startswith("| `")
                                for k in re.findall(r"`([^`]+)`", row)), sorted(rows("Refused")))


class Numbers(unittest.TestCase):
    """Numbers that documents count are those of the data."""

    def holds(self, document, expression, *wanted):
        found = re.search(expression, read(document), re.M)
        self.assertIsNotNone(found, f"{document} no longer says {expression!r}")
        said = [NUMBERS[w.lower()] if w.lower() in NUMBERS else float(w.replace(",", "")) for w in found.groups()]
        self.assertEqual(said, list(wanted), f"{document}: {found[0]}")

    def test_lessons_courses_and_tasks(self):
        lessons = {p: read(p) for p in sorted(source_files()) if re.fullmatch(r"assets/lessons/[^/]*\.md", p)}
        titles = {p: re.search(r"^title: (.*)$", text, re.M)[1] for p, text in lessons.items()}
        tasks = {p: len(re.findall(r"^```task$", text, re.M)) for p, text in lessons.items()}
        grades = [p for p in lessons if titles[p].startswith("Tasks")]
        plain = [p for p in lessons if p not in grades and not titles[p].startswith("Tour")]
        courses = [p for p in source_files() if re.fullmatch(r"assets/lessons/courses/[^/]*\.md", p)]
        self.holds("README.md", r"Learn has (\w+) lessons", len(plain))
        self.holds("README.md", r"(\w+) courses of them", len(courses))
        self.holds("README.md", r"tasks with hints: (\d+) in (\w+) grades, (\w+) more in lessons",
                   sum(tasks[p] for p in grades), len(grades), sum(tasks[p] for p in plain))

    def test_schedules_and_plans(self):
        schema = json.dumps(json.loads(cli_test.run("schema", "plan")[1]))
        schedules = json.loads(re.search(r'"schedule": \{[^{}]*"enum": (\[[^\]]*\])', schema)[1])
        self.holds("README.md", r"(\w+) pipeline schedules", len(schedules))
        self.holds("docs/building.md", r"of the (\d+) plans that ship", len(cli_test.plan_presets()))

    def test_measured_runs(self):
        cases = [c for name in ("measured", "measured_2026") for c in json.loads(read(f"tests/golden/{name}.json"))["cases"]]
        frameworks = {c["framework"] for c in cases} - {"own"}
        self.holds("README.md", r"(\d+) measured runs of (\w+) frameworks", len(cases), len(frameworks))
        self.holds("docs/accuracy.md", r"^(\d+) runs of (\w+) frameworks from (\d+) sources", len(cases), len(frameworks),
                   len({c["family"] for c in cases}))
        self.holds("CHANGELOG.md", r"(\d+) measured runs are compared", len(cases))
        with_peak = [c for c in cases if any("peak" in key or "stages" in key for key in c["measured"])]
        self.holds("docs/memory.md", r"Peaks of (\d+) runs", len(with_peak))

    def test_layouts_of_the_picture_of_a_search(self):
        counts = json.loads(cli_test.run("search", "llama-3.1-405b-16k", "--json")[1])["counts"]
        self.holds("README.md", r"([\d.]+) million layouts of Llama 3.1 405B", round((counts["layouts"] + counts["left_out"]) / 1e6, 2))

    def test_the_version_is_one(self):
        version = cli_test.run("--version")[1].split()[-1]
        head = re.search(r"^## (\S+) \((\S+)\)$", read("CHANGELOG.md"), re.M)
        self.assertEqual(head[1], version)
        cited = dict(re.findall(r"^(version|date-released): (\S+)$", read("CITATION.cff"), re.M))
        self.assertEqual((cited["version"], cited["date-released"]), (head[1], head[2]))


class Made(unittest.TestCase):
    """Tables that the program writes stand between two comments of a document."""

    def test_the_tables_of_tools(self):
        status, out, err = cli_test.run("import", "--tools", "--markdown")
        self.assertEqual((status, err), (0, ""))
        text = made = read("docs/frameworks.md")
        tables = dict(zip(("tools", "spellings"), out.strip().split("\n\n")))
        self.assertEqual(len(tables), 2)
        for name, table in tables.items():
            head, begin, rest = made.partition(f"<!-- {name} -->\n")
            _, end, tail = rest.partition(f"<!-- end of {name} -->")
            self.assertTrue(begin and end, f"docs/frameworks.md has no place for the table of {name}")
            made = head + begin + table + "\n" + end + tail
        if os.environ.get("PENTAMESH_REFRESH_DOCS"):
            with open(os.path.join(SOURCE, "docs/frameworks.md"), "w", encoding="utf-8") as f:
                f.write(made)
        else:
            self.assertEqual(text, made, "PENTAMESH_REFRESH_DOCS=1 writes it anew")

    def test_the_list_of_a_tool_has_what_the_tables_count(self):
        tools = {t["tool"]: t for t in json.loads(cli_test.run("import", "--tools", "--json")[1])["tools"]}
        self.assertEqual(set(tools), {t["tool"] for t in json.loads(read("presets/frameworks/words.json"))["tools"] if "reader" in t})
        for name in ("megatron", "roll", "hf"):
            one = json.loads(cli_test.run("import", "--tools", name, "--json")[1])
            listed = [row["is"] for row in one.pop("settings")]
            self.assertEqual(one, tools[name])
            self.assertEqual({k: listed.count(k) for k in ("fields", "cannot_hold", "ignored")},
                             {k: one[k] for k in ("fields", "cannot_hold", "ignored")})
            text = cli_test.run("import", "--tools", name)[1]
            self.assertIn(f"{one['fields']} settings are in the plan", text)
        status, out, err = cli_test.run("import", "--tools", "rol")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("roll-megatron", err)

    def test_what_code_reads_is_listed(self):
        """A reader asks for a setting with the field that it means: the list of its tool has both."""
        asked = re.compile(r'\.(?:integer|flag|text|number)\(\s*"([a-z_0-9.]+)",\s*"(/[a-z_/]+)"')
        inner = {"micro_batches_of_a_step", "micro_tokens", "step_is_split_by_ep"}  # dialects make these
        looked = 0
        for tool, sources in (("bridge", ("megatron", "megatron_model")), ("torchtitan", ("torchtitan",))):
            settings = json.loads(cli_test.run("import", "--tools", tool, "--json")[1])["settings"]
            listed = {row["setting"] for row in settings if row["is"] == "fields"}
            for source in sources:
                for name, field in asked.findall(read(f"core/interop/{source}.cpp")):
                    if name not in inner:
                        with self.subTest(tool=tool, field=field):
                            self.assertIn(name, listed, "a row under code_reads of its presets/frameworks is missing")
                            looked += 1
        self.assertGreater(looked, 60)


if __name__ == "__main__":
    left_out.main(sys.argv[3:])
