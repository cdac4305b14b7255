"""Pentamesh from Python: plans of training runs, evaluated by the program `pentamesh`.

    import pentamesh
    plan = pentamesh.import_("train.sh", gpus=64)
    plan.report().memory.peak
    plan.set(tp=4, zero=1).report().step.time_s
    plan.search(hold={"tp": 8}, vary={"pp": "1..8"}).results[0].layout
    plan                                        # a notebook shows its picture

This file is all of it: it needs Python 3.9 and the program, which it finds beside itself where both are
installed, by the variable PENTAMESH, or in PATH. docs/python.md describes it.
"""
import atexit
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading

__all__ = ["Error", "Plan", "Record", "plan", "import_", "presets", "params", "run"]


class Error(Exception):
    """The program did not do what was asked. `status` is its exit status, `result` what it wrote all the same."""

    def __init__(self, message, status=1, result=None):
        super().__init__(message)
        self.status = status
        self.result = result


class Record(dict):
    """An object of the program's JSON, whose keys are attributes too: `report.memory.peak`."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} in {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *(k for k in self if k.isidentifier())]


def _find_program():
    named = os.environ.get("PENTAMESH")
    if named:
        return named
    here = os.path.dirname(os.path.abspath(__file__))  # PREFIX/share/pentamesh/python
    beside = os.path.join(here, "..", "..", "..", "bin", "pentamesh")
    for file in (beside, beside + ".exe"):
        if os.path.isfile(file):
            return os.path.normpath(file)
    found = shutil.which("pentamesh")
    if found:
        return found
    raise Error("the program pentamesh is neither beside this file nor in PATH; the variable PENTAMESH names it", 3)


class _Server:
    """`pentamesh serve`, started with the first request and again where it has ended."""

    def __init__(self):
        self._process = None
        self._lock = threading.Lock()
        self._number = 0

    def _start(self):
        self.close()
        try:
            self._process = subprocess.Popen([_find_program(), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as e:
            raise Error(f"the program cannot be started: {e}", 3) from None

    def close(self):
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()
        process.stdout.close()
        process.wait()

    def ask(self, command, words, text):
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._number += 1
            request = {"id": self._number, "command": command, "args": words}
            if text is not None:
                request["input"] = text
            try:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
                answer = json.loads(line, object_hook=Record) if line else None
            except BaseException as e:  # an interrupted answer would be taken for the next one
                process, self._process = self._process, None
                process.kill()
                process.wait()
                if isinstance(e, OSError):
                    raise Error(f"the program does not answer: {e}", 3) from None
                raise
            if answer is None:
                self.close()
                raise Error(f"the program ended while it ran {command}", 3)
            return answer


_server = _Server()
atexit.register(_server.close)


def _word(value):
    if isinstance(value, Plan):
        return value.document
    return value if isinstance(value, (dict, int, float)) and not isinstance(value, bool) else str(value)


def run(command, *words, input=None):
    """Runs any command of the program with these words; returns its JSON as Records, or its text.

    A Plan may be a word, a keyword-free option is written as on the command line:
    run("blame", plan, 3, 7, "--json")."""
    answer = _server.ask(command, [_word(w) for w in words], input)
    if answer.status != 0:
        raise Error(answer.error, answer.status, answer.get("result"))
    return answer.get("result")


def _constraints(option, given):
    """Turns {"tp": 8, "pp": "1..8"} or ["tp", "pp<=8"] into words; one text is one constraint."""
    if given is None:
        return []
    if isinstance(given, str):
        given = [given]
    if isinstance(given, dict):
        given = [f"{name}={_values(v)}" for name, v in given.items()]
    return [word for text in given for word in (option, text)]


def _values(value):
    if isinstance(value, (list, tuple, range)):
        return ",".join(str(v) for v in value)
    return str(value)


def _field(name):
    return name.replace("__", ".")


def _report_of(source, *words):
    """Returns the report of a plan, of an impossible one too."""
    try:
        return run("report", source, "--json", *words)
    except Error as e:
        if not isinstance(e.result, Record) or "plan" not in e.result:
            raise
        return e.result


def _reported(report):
    out = Plan(report.plan)
    out._report = report
    return out


def _settings(option, given):
    """Turns {"layout.tp": 4} into words, each value as JSON or as the text that it is."""
    return [w for k, v in given.items() for w in (option, f"{k}={v if isinstance(v, str) else json.dumps(v)}")]


def _option(name, value):
    return [] if value is None else [name, value]


class Plan:
    """A plan: a model, a cluster, a layout and how it is trained. `document` is its JSON (`pentamesh schema plan`).

    A Plan does not change: set() returns another one."""

    def __init__(self, document):
        if not isinstance(document, dict):
            raise TypeError("a plan's document is a dict; pentamesh.plan() reads files and presets")
        self.document = document
        self.imported = None  # what import_() says: mapped, ignored, unmapped, problems
        self._report = None

    def __repr__(self):
        layout = self.document.get("layout", {})
        factors = ", ".join(f"{k} {layout[k]}" for k in ("tp", "cp", "pp", "ep", "dp_shard", "dp_replicate") if layout.get(k, 1) != 1)
        return f"<Plan {self.document.get('name') or 'without a name'!r}: {factors or 'no factors'}>"

    def __eq__(self, other):
        return isinstance(other, Plan) and self.document == other.document

    __hash__ = None

    def run(self, command, *words):
        """Runs a command on this plan: plan.run("rank", 5, "--json")."""
        return run(command, self, *words)

    def report(self):
        """The whole evaluation, of an impossible plan too: report().valid, .problems, .memory.peak, .step.time_s."""
        if self._report is None:
            self._report = _report_of(self)
        return self._report

    def memory(self):
        return self.run("memory", "--json")

    def comm(self):
        return self.run("comm", "--json")

    def groups(self, *axes):
        return self.run("groups", "--json", *(("--axis", *axes) if axes else ()))

    def rank(self, number):
        return self.run("rank", number, "--json")

    def timeline(self):
        return self.run("timeline", "--json")

    def layer(self, *words):
        return self.run("layer", "--json", *words)

    def sensitivity(self):
        return self.run("sensitivity", "--json")

    def set(self, fields=None, **more):
        """Returns the plan with other fields: set(tp=4), set({"training.global_batch": 512}), set(cluster__gpus=64)."""
        sets = {**(fields or {}), **{_field(k): v for k, v in more.items()}}
        return _reported(_report_of(self, *_settings("--set", sets)))

    def search(self, vary=None, hold=None, goal=None, within=None, headroom=None, top=None, software=None):
        """The best layouts, as `pentamesh search`: hold={"tp": 8}, vary={"pp": "1..8"}, hold=["pp<=8", "memory<=70GiB"]."""
        return self.run("search", "--json", *_constraints("--vary", vary), *_constraints("--hold", hold),
                        *_option("--goal", goal), *_option("--within", within), *_option("--headroom", headroom),
                        *_option("--top", top), *_option("--for", software))

    def with_layout(self, result):
        """Returns the plan with a layout that search() found."""
        document = dict(self.document, layout=result["layout"])
        document["training"] = {**document.get("training", {}), **result.get("training", {})}
        return Plan(document)

    def sweep(self, points=None, **values):
        """Figures of many variants: sweep(tp=[1, 2, 4], global_batch=[256, 512]), or sweep([{"tp": 2, "pp": 4}, ...]).

        Returns a list of Records: set, valid, step_s, tokens_per_s, mfu, memory_bytes, fits; reason where not valid."""
        if points is None:
            names = [_field(k) for k in values]
            lists = [[v] if isinstance(v, (str, int, float, dict)) else v for v in values.values()]  # one value is a list of it
            points = [dict(zip(names, combination)) for combination in itertools.product(*lists)]
        return run("sweep", self, "--points", "-", "--json", input=json.dumps(list(points))).rows

    def compare(self, *others):
        return run("compare", self, *others, "--json")

    def scale(self, *words):
        """How far the plan scales: scale("--weak"), scale("--over", "batch")."""
        return self.run("scale", "--json", *words)

    def export(self, to, lossy=False):
        """Returns the settings of a framework as a text."""
        return self.run("export", "--to", to, *(["--lossy"] if lossy else []))

    def save(self, file):
        """Writes a plan file."""
        with open(file, "w", encoding="utf-8") as f:
            json.dump(self.document, f, indent=2, ensure_ascii=False)
            f.write("\n")

    def picture(self, file=None, view="dashboard", size="1200x760", theme="light", **options):
        """Draws a view into a file (.png, .svg or .pdf); without one returns the SVG as a text."""
        words = ["--view", view, "--size", size, "--theme", theme]
        for name, value in options.items():
            words += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
        if file is not None:
            return self.run("screenshot", "-o", os.fspath(file), *words)
        with tempfile.TemporaryDirectory() as folder:
            drawn = os.path.join(folder, "plan.svg")
            try:
                self.run("screenshot", "-o", drawn, *words)
            except Error:
                if not os.path.exists(drawn):  # an impossible plan is drawn all the same
                    raise
            with open(drawn, encoding="utf-8") as f:
                return f.read()

    def _repr_svg_(self):
        return self.picture()


def plan(source):
    """Reads a plan: a file, a preset's id, a config.json, or a dict."""
    return _reported(_report_of(source if isinstance(source, dict) else os.fspath(source)))


def import_(file, gpus=None, model=None, cluster=None, framework=None, recipe=None, variables=None, sets=None):
    """Makes a plan of a launch script, a configuration file or a log. `imported` of it says what became of each setting."""
    words = ["import", os.fspath(file), "--json"]
    for option, value in (("--gpus", gpus), ("--model", model), ("--cluster", cluster), ("--from", framework), ("--recipe", recipe)):
        words += _option(option, value)
    words += _settings("--var", variables or {}) + _settings("--set", sets or {})
    made = run(*words)
    if made.plan is None:
        raise Error("no plan came out: " + "; ".join(p.message for p in made.problems), 1, made)
    out = Plan(made.plan)
    out.imported = made
    return out


def presets():
    """The models, GPUs, clusters and plans that there are, each with its id."""
    return run("presets", "--json")


def params(model):
    """Counts the parameters of a model: a preset's id or a file."""
    return run("params", os.fspath(model), "--json")
