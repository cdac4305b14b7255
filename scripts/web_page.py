#!/usr/bin/env python3
"""Packs the page's program, script and style into one file. usage: web_page.py SOURCE_FOLDER BUILD_FOLDER OUTPUT"""
import base64
import gzip
import hashlib
import json
import pathlib
import sys


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def packed(data):
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def main():
    source, build, output = (pathlib.Path(p) for p in sys.argv[1:])
    script = (source / "app/web/page.js").read_text() + (build / "page.js").read_text()
    if "</script" in script:
        sys.exit("the script holds </script>, which ends it early")
    style = (source / "app/web/page.css").read_text()
    program = packed((build / "page.wasm").read_bytes())
    data = build / "data"
    files = {str(f.relative_to(data)): base64.b64encode(f.read_bytes()).decode() for f in sorted(data.rglob("*")) if f.is_file()}
    icon = base64.b64encode((source / "assets/icons/pentamesh.svg").read_bytes()).decode()
    # Nothing from elsewhere is loaded, run or sent: only this script and style, and WebAssembly.
    policy = "; ".join([
        "default-src 'none'",
        "script-src 'wasm-unsafe-eval' " + digest(script),
        "style-src " + digest(style),
        "img-src data: blob:",
        "form-action 'none'",
        "base-uri 'none'",
    ])
    page = (source / "app/web/page.html").read_text()
    for name, text in [("POLICY", policy), ("STYLE", style), ("ICON", icon), ("PROGRAM", program),
                       ("DATA", packed(json.dumps(files).encode())), ("SCRIPT", script)]:
        page = page.replace("@" + name + "@", text)
    output.write_text(page)
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")


main()
