"""Builds programs with one changed file of the tree, and runs tests on them: what `run` and `mutate` share."""

import os
import shlex
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(ROOT, "build/faults")
CLI_TESTS = ["cli", "command_line", "serve", "python"]
MOST_SECONDS = 900  # a test that takes longer fails


class Build:
    """A build folder, best one in which each file of core, render and app is an object of its own."""

    def __init__(self, folder, programs, as_built=False):
        self.folder = os.path.abspath(folder)
        if not os.path.exists(os.path.join(self.folder, "build.ninja")):
            options = ["-DPENTAMESH_UNITY=TESTS", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1"]
            quick = [name for name in ("lld", "gold") if shutil.which("ld." + name)]
            if quick:
                options.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=" + quick[0])
            subprocess.run(["cmake", "--preset", "release", "-B", self.folder, *options], cwd=ROOT, check=True,
                           stdout=subprocess.DEVNULL)
        if not as_built:
            subprocess.run(["ninja", "-C", self.folder, *programs], check=True, stdout=subprocess.DEVNULL)
        self.compile, self.link, self.before, self.lock = {}, {}, {}, threading.Lock()
        for program in programs:
            for line in self.ninja("-t", "commands", program).splitlines():
                words = shlex.split(line)
                if "-c" in words:
                    self.compile[os.path.realpath(os.path.join(self.folder, words[words.index("-c") + 1]))] = words
            self.link[program] = [w for w in words if w not in ("&&", ":")]

    def ninja(self, *args):
        return subprocess.run(["ninja", "-C", self.folder, *args], check=True, capture_output=True, text=True).stdout

    def failures_before(self, program, filters):
        """Returns the cases that fail without a fault: they cannot find one."""
        with self.lock:
            known = self.before.setdefault((program, *filters), threading.Lock())
        if isinstance(known, set):
            return known
        with known:
            now = self.before[(program, *filters)]
            if not isinstance(now, set):
                now = failures(os.path.join(self.folder, "bin", program), filters)
                self.before[(program, *filters)] = now
            return now

    def unit_of(self, source):
        """Returns the command that compiles the file, and the text of the unit that includes it; None: it is its own."""
        words = self.compile.get(os.path.realpath(source))
        if words:
            return words, None
        for unit, words in self.compile.items():
            if os.path.basename(unit).startswith("unity_"):
                with open(unit, encoding="utf-8") as f:
                    text = f.read()
                if f'"{source}"' in text:
                    return ["-O1" if w == "-O3" else w for w in words], text
        raise RuntimeError("nothing compiles " + source)

    def object_of(self, file, text, into, *options, whole=False):
        """Compiles the changed copy, or the whole unit with it. Returns the paths of its object and of the right one, and
        whether it is a part of that; None where there is no unit."""
        source = os.path.join(ROOT, file)
        copy, made = os.path.join(into, os.path.basename(source)), os.path.join(into, "fault.o")
        with open(copy, "w", encoding="utf-8") as f:
            f.write(text)
        words, unit = self.unit_of(source)
        if whole and unit is None:
            return None
        words, compiled = list(words), copy
        if whole:
            compiled = os.path.join(into, "unit.cxx")
            with open(compiled, "w", encoding="utf-8") as f:
                f.write(unit.replace(f'"{source}"', f'"{copy}"'))
        right = words[words.index("-o") + 1]
        words[words.index("-c") + 1] = compiled
        words[words.index("-o") + 1] = made
        words[words.index("-MF") + 1] = os.path.join(into, "fault.d")
        words[words.index("-c"):words.index("-c")] = ["-iquote", os.path.dirname(source), *options]
        if os.path.basename(words[0]) == "ccache":  # nobody compiles this file a second time
            del words[0]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("does not compile: " + done.stderr[-600:])
        return made, right, unit is not None and not whole

    def program_with(self, program, made, right, is_part, into):
        """Links a program with the fault in it; None where the program has no such file."""
        words = list(self.link[program])
        out = words.index("-o") + 1
        words[out] = os.path.join(into, program)
        in_library = f"{right.split('/')[0]}/" in " ".join(w for w in words if w.endswith(".a"))
        if right not in words and not in_library:
            return None
        if is_part:
            words[out + 1:out + 1] = [made, "-Wl,--allow-multiple-definition"]
        elif right in words:
            words[words.index(right)] = made
        else:
            words.insert(out + 1, made)
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("does not link: " + done.stderr[-600:])
        return words[out]


def output_of(args, cpu_seconds=None):
    """Runs a program in the tree; returns what it printed and how it ended, "" and None where it takes too long."""
    env = dict(os.environ, EGL_PLATFORM="surfaceless")
    if cpu_seconds:  # time that it works, however busy the machine is
        args = ["prlimit", f"--cpu={cpu_seconds}", "--core=0", *args]
    try:
        done = subprocess.run(args, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return "", None
    return done.stdout, done.returncode


def failures(program, filters):
    """Runs a test program; returns the cases that fail, and "" where it ends otherwise than well, or not at all."""
    if os.path.basename(program) == "pentamesh":
        files = [os.path.join(ROOT, "tests/cli", name + "_test.py") for name in CLI_TESTS]
        return set().union(*(failures_of([sys.executable, file, program, ROOT]) for file in files))
    return failures_of([program, *filters])


def failures_of(args):
    out, ended = output_of(args)
    heads = ("TEST CASE:", "FAIL:", "ERROR:")  # doctest's, unittest's
    failed = {line for line in out.splitlines() if line.startswith(heads)}
    return failed | ({""} if ended != 0 else set())
