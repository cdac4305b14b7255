#!/usr/bin/env python3
"""mcp_test.py PROGRAM SOURCE_FOLDER: checks `pentamesh mcp` as a client of the Model Context Protocol does. Each message that comes is
held to the protocol's shapes (modelcontextprotocol/modelcontextprotocol, schema/2025-11-25/schema.ts and schema/2026-07-28/schema.ts)."""
import base64
import json
import os
import queue
import random
import subprocess
import threading
import unittest

import left_out
from cli_test import PLAN, PROGRAM, run, run_json

# A shape is a type, a set of values, a list of one shape, or a dict of keys; a key that ends in "?" may be missing.
INFO = {"name": str, "version": str, "title?": str}
CAPABILITIES = {"tools?": {}, "resources?": {}}
SCHEMA = {"type": {"object"}, "properties?": {}, "required?": [str]}
TOOL = {"name": str, "title?": str, "description?": str, "inputSchema": SCHEMA,
        "annotations?": {"readOnlyHint?": bool, "openWorldHint?": bool}}
RESOURCE = {"uri": str, "name": str, "title?": str, "description?": str, "mimeType?": str}
RESULTS = {
    "initialize": {"protocolVersion": str, "capabilities": CAPABILITIES, "serverInfo": INFO, "instructions?": str},
    "ping": {},
    "server/discover": {"supportedVersions": [str], "capabilities": CAPABILITIES, "instructions?": str},
    "tools/list": {"tools": [TOOL], "nextCursor?": str},
    "tools/call": {"content": [dict], "isError?": bool, "structuredContent?": {}},
    "resources/list": {"resources": [RESOURCE], "nextCursor?": str},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": str, "name": str, "mimeType?": str}]},
    "resources/read": {"contents": [{"uri": str, "mimeType?": str, "text": str}]},
}
CONTENTS = {
    "text": {"type": {"text"}, "text": str},
    "image": {"type": {"image"}, "data": str, "mimeType": str},
    "resource": {"type": {"resource"}, "resource": {"uri": str, "mimeType?": str, "text": str}},
}
ERROR = {"code": int, "message": str}
# What a result of 2026-07-28 has besides.
COMPLETE = {"resultType": {"complete"}, "_meta": {"io.modelcontextprotocol/serverInfo": INFO}}
CACHEABLE = {"ttlMs": int, "cacheScope": {"public", "private"}}
KEPT = ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read")
MODERN = "2026-07-28"


def misfit(value, shape, at=""):
    """Returns the place at which a value has not that shape; "" where it has."""
    if isinstance(shape, type):
        fits = isinstance(value, shape) and not (shape is int and isinstance(value, bool))
        return "" if fits else f"{at}: {value!r} is no {shape.__name__}"
    if isinstance(shape, set):
        return "" if value in shape else f"{at}: {value!r} is none of {shape}"
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{at}: {value!r} is no list"
        return next((m for i, v in enumerate(value) if (m := misfit(v, shape[0], f"{at}/{i}"))), "")
    if not isinstance(value, dict):
        return f"{at}: {value!r} is no object"
    for key, of in shape.items():
        name = key.rstrip("?")
        if name not in value:
            if key == name:
                return f"{at}/{name}: is missing"
        elif m := misfit(value[name], of, f"{at}/{name}"):
            return m
    return ""


class Client:
    """Speaks with one server as the protocol's stdio transport has it: a message a line."""

    def __init__(self, test, version="2025-11-25"):
        self.test, self.version, self.number = test, version, 0
        self.process = subprocess.Popen([PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if version != MODERN:
            self.info = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                                "clientInfo": {"name": "test", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def send(self, message):
        self.process.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self.process.stdin.flush()

    def answer(self):
        """Returns the next message, which must be an answer of JSON-RPC."""
        message = json.loads(self.lines.get(timeout=300))
        self.test.assertEqual(misfit(message, {"jsonrpc": {"2.0"}}), "")
        self.test.assertEqual(len({"result", "error"} & set(message)), 1, message)
        if "error" in message:
            self.test.assertEqual(misfit(message["error"], ERROR), "")
            self.test.assertTrue(message["error"]["message"])
        return message

    def message(self, method, params=None):
        """Sends a request and returns the whole answer."""
        self.number += 1
        params = dict(params or {})
        if self.version == MODERN:
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, **({"params": params} if params else {})})
        answer = self.answer()
        self.test.assertEqual(answer.get("id"), self.number)
        return answer

    def ask(self, method, params=None):
        """Returns the result, which must have the shape of its method."""
        answer = self.message(method, params)
        self.test.assertNotIn("error", answer, answer.get("error"))
        shape = dict(RESULTS[method])
        if self.version == MODERN:
            shape.update(COMPLETE, **(CACHEABLE if method in KEPT else {}))
        self.test.assertEqual(misfit(answer["result"], shape), "")
        for content in answer["result"].get("content", []):
            self.test.assertEqual(misfit(content, CONTENTS.get(content.get("type"), {"type": set(CONTENTS)})), "")
        return answer["result"]

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def refused(self, method, params=None):
        answer = self.message(method, params)
        self.test.assertIn("error", answer)
        return answer["error"]

    def close(self):
        """Ends the input; the server ends with it, and has written nothing else."""
        self.process.stdin.close()
        status = self.process.wait(60)
        self.reader.join(60)
        err = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        self.test.assertEqual((status, err, self.lines.qsize()), (0, "", 0))


class Mcp(unittest.TestCase):
    def client(self, version="2025-11-25"):
        client = Client(self, version)
        self.addCleanup(client.close)
        return client

    def test_versions_are_agreed_upon(self):
        for asked, agreed in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"),
                              ("2025-03-26", "2024-11-05"), ("2099-01-01", "2025-11-25"), ("1.0", "2025-11-25")):
            with self.subTest(asked=asked):
                client = self.client(asked)
                self.assertEqual(client.info["protocolVersion"], agreed)
                self.assertEqual(client.info["serverInfo"]["name"], "pentamesh")
                self.assertEqual(set(client.info["capabilities"]), {"tools", "resources"})
                self.assertEqual(client.ask("ping"), {})

    def test_requests_that_name_their_version_need_no_handshake(self):
        client = self.client(MODERN)
        self.assertIn(MODERN, client.ask("server/discover")["supportedVersions"])
        self.assertEqual(len(client.ask("tools/list")["tools"]), 5)
        self.assertTrue(client.call("evaluate", plan="mesh-8", keys=["step"])["structuredContent"]["valid"])
        client.ask("resources/list")
        client.ask("resources/read", {"uri": "pentamesh://schema/plan"})
        self.assertEqual(client.refused("ping")["code"], -32601)
        self.assertEqual(client.refused("initialize", {"protocolVersion": MODERN})["code"], -32601)
        self.assertEqual(client.refused("resources/read", {"uri": "pentamesh://x"})["code"], -32602)
        version, can = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
        for meta, code in (({version: "1900-01-01", can: {}}, -32022), ({version: MODERN}, -32602), ({version: 1, can: {}}, -32602)):
            client.send({"jsonrpc": "2.0", "id": "x", "method": "tools/list", "params": {"_meta": meta}})
            error = client.answer()["error"]
            self.assertEqual(error["code"], code)
            if code == -32022:
                self.assertEqual((error["data"]["requested"], MODERN in error["data"]["supported"]), ("1900-01-01", True))

    def test_tools_say_what_they_take(self):
        tools = {t["name"]: t for t in self.client().ask("tools/list")["tools"]}
        self.assertEqual(list(tools), ["evaluate", "search", "compare", "sweep", "picture"])
        commands = {"evaluate": "report", "search": "search", "compare": "compare", "sweep": "sweep", "picture": "screenshot"}
        for name, tool in tools.items():
            schema, text = tool["inputSchema"], run(commands[name], "--help")[1]
            self.assertFalse(schema["additionalProperties"])
            self.assertLessEqual(set(schema.get("required", [])), set(schema["properties"]))
            for argument, of in schema["properties"].items():
                with self.subTest(tool=name, argument=argument):
                    self.assertTrue(of["description"])
                    self.assertIn("type", of)
                    if argument not in ("plan", "plans", "keys", "format"):
                        self.assertIn("--" + argument, text)
                    if argument != "format":
                        for value in of.get("enum", []):
                            self.assertIn(value, text)
        self.assertIn("maxtext", tools["search"]["inputSchema"]["properties"]["for"]["enum"])

    def test_a_tool_answers_what_its_command_writes(self):
        client = self.client()
        report = run_json("report", "-", "--json", "--set", "layout.zero=3", plan=PLAN)[1]
        result = client.call("evaluate", plan=PLAN, set={"layout.zero": 3})
        self.assertFalse(result["isError"])
        self.assertEqual(result["structuredContent"], report)
        self.assertEqual(json.loads(result["content"][-1]["text"]), report)
        kept = client.call("evaluate", plan=PLAN, set={"layout.zero": 3}, keys=["memory"])["structuredContent"]
        self.assertEqual(kept, {k: report[k] for k in ("valid", "problems", "memory")})
        self.assertEqual(client.call("compare", plans=["mesh-8", "hsdp-64"])["structuredContent"],
                         run_json("compare", "mesh-8", "hsdp-64", "--json")[1])
        sweep = run_json("sweep", "mesh-8", "--vary", "zero=1,3", "--json")[1]
        self.assertEqual(client.call("sweep", plan="mesh-8", vary=["zero=1,3"])["structuredContent"], sweep)
        self.assertEqual(client.call("sweep", plan="mesh-8", points=[{"zero": 1}, {"zero": 3}])["structuredContent"], sweep)
        words = ("--hold", "tp=2", "--vary", "pp=1,2", "--top", "3")
        found = client.call("search", plan="mesh-8", hold=["tp=2"], vary=["pp=1,2"], top=3)["structuredContent"]
        wanted = run_json("search", "mesh-8", *words, "--json")[1]
        for key in ("goal", "space", "results", "base"):  # how many layouts are skipped differs from run to run
            self.assertEqual(found[key], wanted[key])
        found = client.call("search", model="llama-3-8b", cluster="h100-sxm-ib", gpus=8, hold=["pp=1"], top=1, **{"for": "torchtitan"})
        self.assertFalse(found["isError"], found["content"])

    def test_pictures(self):
        client = self.client()
        drawn = client.call("picture", plan="mesh-8", view="mesh", size="640x400", format="svg")
        svg = drawn["content"][-1]["resource"]
        self.assertEqual((svg["mimeType"], svg["text"].lstrip()[:5]), ("image/svg+xml", "<svg "))
        png = client.call("picture", plan="mesh-8", view="memory", size="640x400", text=1.5, theme="light")["content"][-1]
        self.assertEqual(png["mimeType"], "image/png")
        self.assertEqual(base64.b64decode(png["data"], validate=True)[:8], b"\x89PNG\r\n\x1a\n")
        bad = client.call("picture", plan=dict(PLAN, layout=dict(PLAN["layout"], tp=3)), format="svg")
        self.assertEqual((bad["isError"], [c["type"] for c in bad["content"]]), (True, ["text", "resource"]))
        self.assertTrue(client.call("picture", plan="mesh-8", page="no-such-page")["isError"])

    def test_resources(self):
        client = self.client()
        listed = client.ask("resources/list")["resources"]
        uris = [r["uri"] for r in listed]
        self.assertEqual(len(uris), len(set(uris)))
        index = run_json("presets", "--json")[1]
        want = {f"pentamesh://presets/{name}/{e['id']}" for name, entries in index.items() for e in entries}
        self.assertEqual(set(uris), want | {"pentamesh://presets", "pentamesh://schema/plan"})
        self.assertGreater(len(uris), 100)

        def text(uri):
            contents = client.ask("resources/read", {"uri": uri})["contents"]
            self.assertEqual([c["uri"] for c in contents], [uri])
            return contents[0]["text"]
        self.assertEqual(json.loads(text("pentamesh://schema/plan")), json.loads(run("schema", "plan")[1]))
        self.assertEqual(json.loads(text("pentamesh://presets")), index)
        plan = json.loads(text("pentamesh://presets/plans/mesh-8"))
        self.assertEqual(client.call("evaluate", plan=plan, keys=["step"])["structuredContent"],
                         client.call("evaluate", plan="mesh-8", keys=["step"])["structuredContent"])
        for uri in ("pentamesh://presets/models/llama-3-8b", "pentamesh://presets/gpus/h100-sxm", "pentamesh://presets/clusters/h100-sxm-ib"):
            self.assertIsInstance(json.loads(text(uri)), dict)
        client.ask("resources/templates/list")
        for uri in ("pentamesh://presets/plans/../../x", "file:///etc/passwd", "", "pentamesh://presets/plans/"):
            self.assertEqual(client.refused("resources/read", {"uri": uri})["code"], -32002)
        for params in ({}, {"uri": 1}):
            self.assertEqual(client.refused("resources/read", params)["code"], -32602)
        self.assertEqual(client.refused("resources/list", {"cursor": "x"})["code"], -32602)

    def test_a_bad_argument_is_an_error_that_names_its_place(self):
        client = self.client()
        for arguments, word in (({}, "/arguments/plan: is missing"), ({"plan": 5}, "/arguments/plan"), ({"plan": ""}, "/arguments/plan"),
                                ({"plan": "-"}, "/arguments/plan"), ({"plan": "--output=x"}, "/arguments/plan"),
                                ({"plan": "mesh-8", "nonsense": 1}, "/arguments/nonsense"), ({"plan": "mesh-8", "set": []}, "/arguments/set"),
                                ({"plan": "mesh-8", "keys": [1]}, "/arguments/keys/0"), ([], "/arguments"), ("x", "/arguments")):
            with self.subTest(arguments=arguments):
                error = client.refused("tools/call", {"name": "evaluate", "arguments": arguments})
                self.assertEqual(error["code"], -32602)
                self.assertIn(word, error["message"])
        for tool, arguments in (("compare", {"plans": ["mesh-8"]}), ("sweep", {"plan": "mesh-8", "points": [1], "vary": "x"}),
                                ("picture", {"plan": "mesh-8", "rank": 1.5}), ("picture", {"plan": "mesh-8", "format": "pdf"}),
                                ("search", {"vary": "pp=1"})):
            self.assertEqual(client.refused("tools/call", {"name": tool, "arguments": arguments})["code"], -32602)
        for params in ({}, {"name": 1}, {"name": "no-such-tool"}, {"name": "report"}):
            self.assertEqual(client.refused("tools/call", params)["code"], -32602)
        self.assertEqual(client.refused("no/such/method")["code"], -32601)

    def test_what_a_command_refuses_is_a_result_that_says_why(self):
        client = self.client()
        bad = dict(PLAN, layout=dict(PLAN["layout"], tp=3))
        impossible = client.call("evaluate", plan=bad)
        self.assertTrue(impossible["isError"])
        self.assertFalse(impossible["structuredContent"]["valid"])
        self.assertTrue(impossible["structuredContent"]["problems"][0]["message"])
        for tool, arguments, word in (("evaluate", {"plan": "no-such-plan"}, "no-such-plan"), ("evaluate", {"plan": {}}, "/model"),
                                      ("evaluate", {"plan": "mesh-8", "set": {"layout.tq": 1}}, "tq"),
                                      ("evaluate", {"plan": "mesh-8", "keys": ["nothing"]}, "nothing"),
                                      ("search", {}, "PLAN"), ("search", {"plan": "mesh-8", "vary": ["x=1"]}, "x"),
                                      ("sweep", {"plan": "mesh-8"}, "--vary"), ("picture", {"plan": "mesh-8", "view": "inside"}, "inside")):
            with self.subTest(tool=tool, arguments=arguments):
                result = client.call(tool, **arguments)
                self.assertTrue(result["isError"])
                self.assertIn(word, result["content"][0]["text"])

    def test_no_line_ends_it(self):
        client = self.client()
        deep = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 100000 + b"]" * 100000 + b"}"
        for line, code, known in ((b"{", -32700, None), (b"\xff\xfe", -32700, None), (deep, -32700, None), (b"[]", -32600, None),
                                  (b"null", -32600, None), (b"5", -32600, None), (b'{"id": 7}', -32600, 7),
                                  (b'{"jsonrpc": "1.0", "id": 8, "method": "ping"}', -32600, 8),
                                  (b'{"jsonrpc": "2.0", "id": 9, "method": 1}', -32600, 9),
                                  (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', -32600, None),
                                  (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
                                  (b'{"jsonrpc": "2.0", "id": 10, "method": "tools/list", "params": []}', -32602, 10)):
            client.send(line)
            answer = client.answer()
            self.assertEqual((answer["error"]["code"], answer.get("id")), (code, known), line[:80])
        # Blank lines, notifications and answers get none.
        for line in (b"", b"  ", b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}',
                     b'{"jsonrpc": "2.0", "method": "no/such"}', b'{"jsonrpc": "2.0", "id": 1, "result": {}}'):
            client.send(line)
        self.assertEqual(client.ask("ping"), {})
        client.send({"jsonrpc": "2.0", "id": "a text", "method": "ping"})
        self.assertEqual(client.answer()["id"], "a text")

    def test_changed_bytes_of_messages_never_end_it(self):
        rng = random.Random(45)
        whole = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "evaluate", "arguments": a}}).encode()
                 for a in ({"plan": PLAN, "set": {"layout.tp": 4}}, {"plan": "mesh-8", "keys": ["step"]})]
        whole.append(b'{"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "pentamesh://schema/plan"}}')
        lines = []
        for _ in range(150):
            line = bytearray(rng.choice(whole))
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(line))
                if rng.random() < 0.5:
                    line[at] = rng.randrange(256)
                else:
                    del line[at:at + rng.randint(1, 20)]
                line = line or bytearray(b"{")
            lines.append(bytes(line).replace(b"\n", b" "))
        r = subprocess.run([PROGRAM, "mcp"], input=b"\n".join([*lines, b'{"jsonrpc": "2.0", "id": "end", "method": "ping"}']),
                           capture_output=True, timeout=300)
        answers = [json.loads(a) for a in r.stdout.decode().splitlines()]
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        self.assertEqual(answers[-1], {"jsonrpc": "2.0", "id": "end", "result": {}})
        self.assertGreater(len(answers), 100)

    def test_help_completions_and_the_man_page_have_it(self):
        self.assertIn("Model Context Protocol", run("mcp", "--help")[1])
        for kind in ("bash", "zsh", "fish", "man"):
            self.assertIn("mcp", run("complete", kind)[1])


if __name__ == "__main__":
    os.environ.setdefault("EGL_PLATFORM", "surfaceless")
    left_out.main()
