#!/usr/bin/env python3
"""Writes dated predictions of Megatron-Bridge's recipes for a GPU whose results are not published yet.

scripts/predict_recipes.py RECIPES [--gpu vr200] [--bin PENTAMESH] > docs/predictions.md

RECIPES is the folder perf_recipes of a checkout of Megatron-Bridge. Each recipe is imported, without a line of
it run, and its plan is reported. When figures appear, they are laid beside these.
"""

import argparse
import datetime
import json
import pathlib
import subprocess


def ask(program: str, *words: str, text: str | None = None) -> dict | None:
    """Returns the JSON answer of a command; None where it has no answer."""
    done = subprocess.run([program, *words, "--json"], input=text, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def recipes_of(program: str, file: pathlib.Path, gpu: str) -> list[str]:
    made = ask(program, "import", str(file)) or {}
    names = made.get("recipes", [])
    return [n for n in names if f"_{gpu}_" in n]


def layout_words(plan: dict) -> str:
    layout = plan["layout"]
    degrees = [(axis, layout.get(axis, 1)) for axis in ("tp", "cp", "pp", "ep")]
    words = [f"{axis} {n}" for axis, n in degrees if isinstance(n, int) and n > 1]
    return ", ".join([*words, f"ZeRO-{layout['zero']}"])


def row_of(program: str, file: pathlib.Path, recipe: str) -> tuple[str, str]:
    """Returns a row of the table, or the reason why there is none."""
    made = ask(program, "import", str(file), "--recipe", recipe)
    plan = made and made["plan"]
    if not plan:
        errors = [p["message"] for p in (made or {}).get("problems", []) if p["severity"] == "error"]
        return "", f"`{recipe}`: {errors[0] if errors else 'it cannot be read'}"
    found = ask(program, "report", "-", text=json.dumps(plan))
    if not found or not found["valid"]:
        problems = [p["message"] for p in (found or {}).get("problems", [])]
        return "", f"`{recipe}`: {problems[0] if problems else 'it cannot be evaluated'}"
    step, memory = found["step"], found["memory"]
    gpus, time, most = plan["cluster"]["gpus"], step["time_s"], 1 + step["error_90"]
    tokens = step["tokens_per_step"] / gpus
    if not memory["may_fit"]:
        needs = f"{memory['peak'] / 1e9:,.0f} GB of {memory['hbm'] / 1e9:,.0f}"
        return "", f"`{recipe}`: the estimate needs {needs}, so something of it is not read or not estimated well"
    fit = "" if memory["fits"] else " (may not fit)"
    cells = [
        recipe.removesuffix("_config"),
        str(gpus),
        layout_words(plan),
        f"{time:.3g}",
        f"{time / most:.3g} to {time * most:.3g}",
        f"{tokens / time:,.0f}",
        f"{tokens / time / most:,.0f} to {tokens / time * most:,.0f}",
        f"{memory['peak'] / 1e9:,.0f} of {memory['hbm'] / 1e9:,.0f}{fit}",
        f"{100 * step['below_peak']['starts_s'] / time:.0f} %",
        str(len(made["not_known"])),
    ]
    return "| " + " | ".join(cells) + " |", ""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("recipes", type=pathlib.Path)
    words.add_argument("--gpu", default="vr200")
    words.add_argument("--bin", default="build/release/bin/pentamesh")
    words.add_argument("--commit", default="067f987d", help="of Megatron-Bridge")
    a = words.parse_args()
    rows, reasons = [], []
    for file in sorted(a.recipes.rglob("*.py")):
        for recipe in recipes_of(a.bin, file, a.gpu) if a.gpu in file.parts else []:
            row, reason = row_of(a.bin, file, recipe)
            if row:
                rows.append(row)
            else:
                reasons.append(reason)
    day = datetime.date.today().strftime("%-d %B %Y")
    print(f"""# Predictions

Made on {day}, before any result of these recipes was published: Megatron-Bridge's recipes for {a.gpu.upper()} at
{a.commit}, read from its `perf_recipes` folder and evaluated with the shipped constants. One command makes this page anew:
`scripts/predict_recipes.py perf_recipes > docs/predictions.md`. No run on this GPU was fitted: peaks and bandwidths
are those that its vendor announced, the share of them that is reached is GB300's.

The ranges are those into which nine of ten measured runs like each of these fell (docs/step.md). "Starts" is the share of the step
that waits for the host to start kernels: a narrower number makes it no shorter, so two recipes with other precisions may
take the same time, and one without CUDA graphs of the whole step longer than one with them. "Not known" counts settings
of a recipe that the import does not know. Tokens/s are those of one GPU.

| recipe | GPUs | layout | step, s | nine of ten | tokens/s | nine of ten | memory, GB | starts | not known |
|---|---|---|---|---|---|---|---|---|---|""")
    print("\n".join(rows))
    if reasons:
        print("\nRecipes without a prediction:\n")
        print("\n".join(f"- {r}" for r in reasons))


if __name__ == "__main__":
    main()
