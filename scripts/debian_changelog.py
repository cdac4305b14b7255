#!/usr/bin/env python3
"""Writes the two changelogs of a Debian package out of CHANGELOG.md.

usage: scripts/debian_changelog.py CHANGELOG.md MAINTAINER FOLDER   (FOLDER gets changelog.gz and changelog.Debian.gz)
"""
import datetime
import email.utils
import gzip
import pathlib
import re
import sys
import textwrap

REVISION = 1  # of the package, as CPACK_DEBIAN_PACKAGE_RELEASE says


def releases(text):
    """Returns (version, date, paragraphs) of each section, the newest first."""
    found = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        head = re.match(r"(\d+(?:\.\d+)*) \((\d{4}-\d{2}-\d{2})\)\n", section)
        if not head:
            sys.exit(f"CHANGELOG.md: a section wants '## VERSION (YEAR-MONTH-DAY)', this begins: ## {section.splitlines()[0]}")
        found.append((head[1], datetime.date.fromisoformat(head[2]), section[head.end():].strip()))
    return found


def debian_lines(words):
    """Returns a section's lines in the form of deb-changelog(5): a heading in brackets, an entry a star."""
    lines = []
    for paragraph in re.split(r"\n(?=[-#])|\n\n", words):
        text = " ".join(paragraph.replace("`", "").split())
        if text.startswith("### "):
            lines += ["", f"  [ {text[4:]} ]"]
        elif text:
            lines += textwrap.wrap(text.removeprefix("- "), 76, initial_indent="  * ", subsequent_indent="    ")
    return lines


def debian_text(found, maintainer):
    out = []
    for version, date, words in found:
        noon = datetime.datetime.combine(date, datetime.time(12), datetime.timezone.utc)
        out += [f"pentamesh ({version}-{REVISION}) unstable; urgency=medium", *debian_lines(words), "",
                f" -- {maintainer}  {email.utils.format_datetime(noon)}", ""]
    return "\n".join(out)


def write(path, text):
    # Neither the name nor the time of packing stands in the file: a second run writes the same bytes.
    with open(path, "wb") as raw, gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=0) as packed:
        packed.write(text.encode())


source, maintainer, folder = sys.argv[1:]
changes = pathlib.Path(source).read_text(encoding="utf-8")
write(pathlib.Path(folder, "changelog.gz"), changes)
write(pathlib.Path(folder, "changelog.Debian.gz"), debian_text(releases(changes), maintainer))
