#!/usr/bin/env python3
"""A real window is killed at random moments while its plan is edited and saved: the file is always whole, and what was
not saved is offered.

usage: kill_test.py PENTAMESH WHERE OFFERED SOURCE_DIR [ROUNDS] [SEED]   (10 rounds; tests/run_long has 50)
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

program, where, offered, source = sys.argv[1:5]
rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 10
seed = int(sys.argv[6]) if len(sys.argv) > 6 else random.SystemRandom().randrange(1 << 32)
print(f"kill_test: {rounds} rounds, seed {seed}", flush=True)
chance = random.Random(seed)
KEPT_WITHIN_S = 1.0  # what is older than this is kept
LATE_S = 0.1         # a machine later than this in doing next to nothing cannot tell how late the window was
LONGEST_S = 1.6      # from the first edit to the end


def wait_for(what, done):
    for _ in range(6000):
        value = done()
        if value:
            return value
        time.sleep(0.01)
    sys.exit(f"kill_test: waited a minute for {what}")


class Lateness:
    """Returns the longest time that this machine took, since `begin`, to wake up a thread and write a line to disk."""

    def __init__(self, folder):
        self.file, self.longest_s, self.ended = folder / "line", 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.ended.is_set():
            begun = time.monotonic()
            self.ended.wait(0.01)
            with open(self.file, "w", encoding="utf-8") as line:
                line.write(str(begun))
                line.flush()
                os.fsync(line.fileno())
            self.longest_s = max(self.longest_s, time.monotonic() - begun - 0.01)

    def begin(self):
        self.longest_s = 0.0

    def end(self):
        self.ended.set()
        self.thread.join()


def xdotool(*arguments):
    run = subprocess.run(["xdotool", *map(str, arguments)], capture_output=True, text=True, check=False)
    return run.stdout.strip()


def find_window():
    names = xdotool("search", "--onlyvisible", "--name", "Pentamesh").split()
    return names[0] if names and "Two nodes" in xdotool("getwindowname", names[0]) else None


def play(folder, at):
    """Runs one window from start to end. Returns seconds from an edit that was seen, and not saved, to the kill.

    Where nothing is saved one button alone is clicked: the other would bring back the plan as it was opened, and then
    there is nothing to keep."""
    plan = folder / "a.plan.json"
    shutil.copy(pathlib.Path(source) / "presets/plans/mesh-8.plan.json", plan)
    environment = dict(os.environ, XDG_CONFIG_HOME=str(folder / "config"), PENTAMESH_FILE_DIALOG="own")
    with open(folder / "log", "w", encoding="utf-8") as log:
        window = subprocess.Popen([program, str(plan)], stdout=log, stderr=log, env=environment)
    try:
        name = wait_for("the window", find_window)
        xdotool("windowmove", name, 0, 0)
        saves = chance.random() < 0.6
        at = at if saves else [chance.choice(at)]
        killed_at = []

        def kill():
            killed_at.append(time.monotonic())
            os.kill(window.pid, signal.SIGKILL)

        killer = threading.Timer(chance.uniform(0, LONGEST_S), kill)
        killer.start()
        marked_at = None
        while window.poll() is None:
            xdotool("mousemove", "--window", name, *at[chance.randrange(len(at))], "click", 1)
            if saves and chance.random() < 0.4:
                xdotool("key", "--window", name, "ctrl+s")
            elif not saves:
                title = xdotool("getwindowname", name)
                if " * " not in title and title:
                    marked_at = None
                elif title and marked_at is None:
                    marked_at = time.monotonic()
        killer.join()
        return killed_at[0] - marked_at if marked_at else None
    finally:
        if window.poll() is None:
            window.kill()
        window.wait()


def check(folder, unsaved_s, late_s):
    """Returns how many plans are offered, and whether it could be judged that enough was kept."""
    said = json.loads(subprocess.run([offered, str(folder / "config/pentamesh"), str(folder / "a.plan.json")], check=True,
                                     capture_output=True, text=True).stdout)
    if not said["file_whole"]:
        sys.exit(f"kill_test: the file is broken: {(folder / 'a.plan.json').read_text()!r}")
    if said["broken"]:
        sys.exit(f"kill_test: what was kept cannot be read: {said}")
    old = unsaved_s is not None and unsaved_s > KEPT_WITHIN_S
    if old and said["offered"] != 1:
        late = f"an edit {unsaved_s:.2f} s old is not offered; the machine was up to {late_s:.2f} s late"
        if late_s < LATE_S:
            sys.exit(f"kill_test: {late}")
        print(f"kill_test: not judged: {late}", flush=True)
    if said["offered"] > 1:
        sys.exit(f"kill_test: one window left {said['offered']} plans")
    return said["offered"], old and late_s < LATE_S


# It is in memory where there is such a folder: a disk that is busy with another's work may take longer than the second.
in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
with tempfile.TemporaryDirectory(dir=in_memory) as temporary:
    work = pathlib.Path(temporary)
    read, write = os.pipe()
    xvfb = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-noreset", "-nolisten", "tcp"],
                            pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        os.environ["DISPLAY"] = ":" + os.read(read, 16).decode().strip()
        os.environ.pop("WAYLAND_DISPLAY", None)
        spots = subprocess.run([where, f"{source}/presets/plans/mesh-8.plan.json", "1440x900", "layout.tp.minus",
                                "layout.tp.plus"], check=True, capture_output=True, text=True,
                               env=dict(os.environ, EGL_PLATFORM="surfaceless")).stdout
        at = [line.split() for line in spots.splitlines()]
        os.environ["EGL_PLATFORM"] = "surfaceless"
        recovered = judged = 0
        lateness = Lateness(work)
        for i in range(rounds):
            folder = work / str(i)
            folder.mkdir()
            lateness.begin()
            unsaved_s = play(folder, at)
            kept, was_judged = check(folder, unsaved_s, lateness.longest_s)
            recovered += kept
            judged += was_judged
        lateness.end()
        print(f"kill_test: {rounds} times killed, {recovered} times something to recover, every file whole; "
              f"{judged} times an edit was more than {KEPT_WITHIN_S:g} s old on a machine that was in time")
        if rounds >= 20 and recovered == 0:
            sys.exit("kill_test: nothing was ever kept")
    finally:
        xvfb.terminate()
        xvfb.wait()
