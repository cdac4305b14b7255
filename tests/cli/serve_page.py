"""Holds docs/serve.md to what the program says of its commands: a section for each request, a row for each of its words."""
import re

# These words mean the same in every request: the head of the page has them once.
FORMS = ("--help", "--json", "--csv", "--markdown", "--html", "--output")
NOT_REQUESTS = ("serve", "mcp")  # they read lines themselves


def plain(text):
    """Returns a line of the man page as text."""
    return re.sub(r"\\f[BIR]|\\:|\\&", "", text).replace("\\-", "-").replace("\\e", "\\")


def described(man):
    """Returns [(heading, [{name, help, words: [(names, type, help)]}])] of the man page that the program writes."""
    groups = []
    for part in re.split(r"^\.SH ", man, flags=re.M)[1:]:
        commands = []
        for section in re.split(r"^\.SS ", part, flags=re.M)[1:]:
            name, text, rest = section.split("\n", 2)
            words = [(re.findall(r"\\fB(.*?)\\fR", head), re.search(r"\\fI(.*)\\fR", head), help_)
                     for head, help_ in re.findall(r"^\.TP\n(.*)\n(.*)$", rest, re.M)]
            commands.append({"name": name, "help": plain(text).rstrip("."),
                             "words": [([plain(n) for n in names], plain(of[1]) if of else "", plain(help_)) for names, of, help_ in words]})
        if commands:
            heading = part.split("\n")[0].strip('"')
            same = [rows for title, rows in groups if title == heading]
            if same:
                same[0].extend(commands)
            else:
                groups.append((heading, commands))
    return groups


def table(command):
    """Returns the table of a request's words; empty where it has only those of the head."""
    rows = []
    for names, of, text in command["words"]:
        if names[-1] in FORMS:
            continue
        word = names[-1] + (f" {of}" if of else "")
        rows.append(f"| `{word.replace('|', ' or ')}` | {text.replace('|', ' or ')} |\n")
    return "| word | |\n|---|---|\n" + "".join(rows) if rows else ""


def sections(page):
    """Returns {request: (its example lines, its table)} of the page."""
    out = {}
    for part in re.split(r"^### ", page, flags=re.M)[1:]:
        name = re.match(r"`([a-z-]+)`\n", part)
        if name:
            body = part.split("\n## ")[0]
            block = re.search(r"^```json\n(.*?)^```", body, re.M | re.S)
            rows = re.search(r"^\| word \|.*?(?=\n\n|\Z)", body + "\n", re.M | re.S)
            out[name[1]] = (block[1].splitlines() if block else [], rows[0].strip() + "\n" if rows else "")
    return out
