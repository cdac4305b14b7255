#!/usr/bin/env python3
"""Checks the words of comments in C++ files: a comment is a sentence, in words that a second-language reader knows.

usage: scripts/check_words.py   (from the repository's root; prints each comment that breaks a rule, exits 1 above a limit)

A comment that begins with What, Of, Whether, How or Who is a noun clause; one that begins with Where or When is a
sentence only if its first sentence has a comma ("Where a GPU has two links, the faster one is used.").
"""
import pathlib
import re
import subprocess
import sys

# The most that may be found of each kind.
LIMITS = {"noun clause": 0, "word": 0}

WORDS = re.compile(r"\b(alone|[Ww]hatever|is none|[Bb]esides?|alike|[Ww]hoever|lit|told|Said|tend|tends|veil|veils|veiled)\b")

# Literals are matched first, so that `//` within one begins no comment; 1'000 has no character literal.
TOKEN = re.compile(
    r'(?P<raw>R"(?P<mark>[^ ()\\\t\n]*)\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<number>\b\d[\w.']*)"
    r"|(?P<char>'(?:[^'\\\n]|\\.)+')"
    r"|(?P<block>/\*.*?\*/)"
    r"|(?P<line>//[^\n]*)", re.DOTALL)


def comments(text):
    """Returns (line number, column, text) of each comment; lines that follow each other in one column are one."""
    found, last_line = [], None
    for token in TOKEN.finditer(text):
        if token.lastgroup not in ("block", "line"):
            continue
        begins = text.rfind("\n", 0, token.start()) + 1
        line, column = text.count("\n", 0, token.start()) + 1, token.start() - begins
        stands_by_itself = not text[begins:token.start()].strip()
        words = token[0].strip("/*! \n")
        if token.lastgroup == "line" and found and stands_by_itself and last_line == line - 1 and found[-1][1] == column:
            found[-1] = (*found[-1][:2], found[-1][2] + " " + words)
        else:
            found.append((line, column, words))
        last_line = line if token.lastgroup == "line" else None
    return found


def is_noun_clause(comment):
    first = re.match(r"(What|Of|Whether|Where|How|When|Who)\b(?!\?)", comment)
    if not first:
        return False
    sentence = re.split(r"(?<=[.:;])\s", comment, maxsplit=1)[0]
    return first[1] not in ("Where", "When") or "," not in sentence or not comment.endswith((".", ":", "?"))


def faults(comment):
    """Returns the kind and the words of each fault; names of code, within ` `, are no words."""
    found = [("noun clause", comment[:60])] if is_noun_clause(comment) else []
    return found + [("word", word) for word in WORDS.findall(re.sub(r"`[^`]*`", "", comment))]


def main():
    counts = dict.fromkeys(LIMITS, 0)
    listed = subprocess.run(["git", "ls-files", "-z", "*.cpp", "*.h"], check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        for line, _, comment in comments(pathlib.Path(name).read_text(encoding="utf-8")):
            for kind, words in faults(comment):
                counts[kind] += 1
                print(f"{name}:{line}: {kind}: {words}")
    for kind, limit in LIMITS.items():
        print(f"{kind}: {counts[kind]}, at most {limit}")
    return any(counts[kind] > limit for kind, limit in LIMITS.items())


if __name__ == "__main__":
    sys.exit(main())
