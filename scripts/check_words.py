#!/usr/bin/env python3
"""Checks the words of C++ files: each comment is a sentence, in words that readers know whose English is a second language;
identifiers and what users read do without a few words too.

usage: scripts/check_words.py   (from the repository's root; prints what breaks a rule and exits 1 above a limit)

A comment that begins with What, Of, Whether, Where, How or Who is taken for a noun clause. One that begins with When is a
sentence only if its first sentence has a comma and an end ("When a GPU has two links, the faster one is used."). One that
begins with Is or Are has no subject. Names of tests are read by nobody else, so strings of tests may hold any word.
"""
import pathlib
import re
import subprocess
import sys

# The most that may be found of each kind.
LIMITS = {"noun clause": 0, "no subject": 0, "word": 0, "identifier": 0, "text": 0}

WORDS = re.compile(r"\b(alone|[Ww]hatever|[Ww]hoever|is none|[Bb]esides?|alike|lit|told|Said|tends?|veil(?:s|ed)?)\b")

# Components of identifiers: highlighted, not lit; a call set or a group, not a lot; update, not tend.
IDENTIFIER = re.compile(r"\b\w*(?:(?<![A-Za-z])lit(?![a-z])|Lit(?![a-z]))\w*|\btend(?:s|_\w+)?\b|\b(?:Lot|lots?(?:_of)?|list_lot)\b"
                        r"|\bmakes_again\b")
# "dp alone" is the name of a page that lessons show, "alone" a key of presets/frameworks.
TEXT = re.compile(r"\b(?:alone|besides|is none|lit)\b")
NAME = re.compile(r'"alone"|"(?:dp|zero|fsdp|tp|cp|pp|ep) alone(?: \(DDP\))?"')

# A literal is matched before a comment, so that "//" within it begins none; 1'000 holds no character.
TOKEN = re.compile(
    r'R"(?P<mark>[^ ()\\\t\n]*)\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|\b\d[\w.']*"
    r"|'(?:[^'\\\n]|\\.)+'"
    r"|(?P<block>/\*.*?\*/)"
    r"|(?P<line>//[^\n]*)", re.DOTALL)


def comments(text):
    """Returns (line number, words) of each comment; lines that follow each other in one column are one comment."""
    found = []
    last_line = last_column = -1
    for token in TOKEN.finditer(text):
        if token.lastgroup not in ("block", "line"):
            continue
        start = token.start()
        begins = text.rfind("\n", 0, start) + 1
        line, column = text.count("\n", 0, start) + 1, start - begins
        words = token[0].strip("/*! \n")
        goes_on = line == last_line + 1 and column == last_column and not text[begins:start].strip()
        if token.lastgroup == "line" and goes_on:
            found[-1] = (found[-1][0], found[-1][1] + " " + words)
        else:
            found.append((line, words))
        last_line, last_column = (line, column) if token.lastgroup == "line" else (-1, -1)
    return found


def code_and_texts(text):
    """Returns (line number, words) of what is neither comment nor literal, a line each, and of each text in quotes."""
    code, texts = list(text), []
    for token in TOKEN.finditer(text):
        if token[0].startswith(("R", '"')):
            texts.append((text.count("\n", 0, token.start()) + 1, token[0]))
        code[token.start():token.end()] = [c if c == "\n" else " " for c in token[0]]
    return list(enumerate("".join(code).split("\n"), 1)), texts


def is_noun_clause(comment):
    first = re.match(r"(What|Of|Whether|Where|How|When|Who)\b", comment)
    if not first:
        return False
    sentence = re.split(r"(?<=[.:;])\s", comment, maxsplit=1)[0]
    return first[1] != "When" or "," not in sentence or not sentence.endswith((".", ":", ";"))


def faults(comment):
    """Returns the kind and the words of each fault. Names between backquotes are code, not words."""
    found = [("noun clause", comment[:60])] if is_noun_clause(comment) else []
    if re.match(r"(Is|Are)\b", comment):
        found.append(("no subject", comment[:60]))
    return found + [("word", word) for word in WORDS.findall(re.sub(r"`[^`]*`", "", comment))]


def main():
    counts = dict.fromkeys(LIMITS, 0)
    listed = subprocess.run(["git", "ls-files", "-z", "*.cpp", "*.h"], check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        text = pathlib.Path(name).read_text(encoding="utf-8")
        found = [(line, fault) for line, comment in comments(text) for fault in faults(comment)]
        code, texts = code_and_texts(text)
        found += [(line, ("identifier", word)) for line, words in code for word in IDENTIFIER.findall(words)]
        if not name.startswith("tests/"):
            found += [(line, ("text", words)) for line, words in texts if TEXT.search(words) and not NAME.fullmatch(words)]
        for line, (kind, words) in found:
            counts[kind] += 1
            print(f"{name}:{line}: {kind}: {words}")
    for kind, limit in LIMITS.items():
        print(f"{kind}: {counts[kind]}, at most {limit}")
    return any(counts[kind] > limit for kind, limit in LIMITS.items())


if __name__ == "__main__":
    sys.exit(main())
