"""Starts a server on a data folder of its own, has requests generated for it, and judges the run.

The tool says what it tested; the server's own numbers say what it was asked. Both must cover every operation.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "openapi.json"
METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
# Rules that span several fields are not in a schema, so a request that fits it may still be refused; that each
# operation is also carried out is seen in the server's numbers. The last three need other ways of a run.
NOT_CHECKED = "positive_data_acceptance,use_after_free,ensure_resource_availability,object_level_authorization"


def main() -> int:
    """Runs it all; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-examples", type=int, default=20, help="random requests for each operation and mode")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    binary = os.environ["BILINC_BIN"]
    with tempfile.TemporaryDirectory() as folder:
        return run(pathlib.Path(binary).resolve(), pathlib.Path(folder), options)


def run(binary: pathlib.Path, folder: pathlib.Path, options: argparse.Namespace) -> int:
    """Starts the server, has it asked, and ends it."""
    data = folder / "data"
    make = [binary, "keys", "create", "--project", "p", "--data", data, "--json"]
    key = json.loads(subprocess.run(make, check=True, capture_output=True).stdout)["key"]
    serve = [binary, "serve", "--listen", "127.0.0.1:0", "--data", data, "--json", "--log", "warn"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = json.loads(server.stdout.readline())["listening"]
            problems = ask(address, key, folder, options)
            server.terminate()
            ended = server.wait(60)
            problems += [f"the server ended with {ended}"] if ended else []
        finally:
            server.kill()
    proof = [binary, "verify", "--store", data / "projects" / "p"]
    if subprocess.run(proof, check=False, capture_output=True).returncode:
        problems.append("the store does not verify afterwards")
    for problem in problems:
        print(f"schemathesis: {problem}", file=sys.stderr)
    return 1 if problems else 0


def ask(address: str, key: str, folder: pathlib.Path, options: argparse.Namespace) -> list[str]:
    """Has the server asked; what is wrong."""
    document = json.loads(get(f"{address}/api/openapi.json"))
    described = sorted((method.upper(), path) for path, ways in document["paths"].items() for method in ways
                       if method in METHODS)
    promised = json.loads(GOLDEN.read_text())
    report, events = folder / "report.json", folder / "events.ndjson"
    words = [
        pathlib.Path(sys.executable).with_name("schemathesis"), "run", f"{address}/api/openapi.json",
        "--header", f"Authorization: Bearer {key}", "--phases", "examples,coverage,fuzzing", "--mode", "all",
        "--checks", "all", "--exclude-checks", NOT_CHECKED, "--continue-on-failure",
        "--max-examples", str(options.max_examples), "--seed", str(options.seed), "--workers", "1",
        "--generation-database", "none", "--request-timeout", "30", "--no-color", "--warnings", "off",
        "--report", "json,ndjson", "--report-json-path", report, "--report-ndjson-path", events,
    ]  # fmt: skip
    around = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "BILINC_TEST_KEY": key}
    # It keeps a cache in the folder where it stands.
    done = subprocess.run(words, check=False, cwd=folder, env=around)
    problems = [f"the run ended with {done.returncode}"] if done.returncode else []
    if document != promised:
        problems.append("the server describes another interface than tests/http/openapi.json")
    return problems + judge(described, json.loads(report.read_text()), get(f"{address}/metrics"))


def judge(described: list[tuple[str, str]], report: dict, metrics: str) -> list[str]:
    """Whether all of the interface was asked for, and answered as it should; prints the numbers."""
    problems = []
    operations = report["operations"]
    for number in ("total", "selected", "tested"):
        if operations[number] != len(described):
            problems.append(f"{len(described)} operations are described, {operations[number]} are {number}")
    if not report["complete"] or report["test_cases"]["errored"]:
        problems.append("not all requests could be made")
    answered = collections.defaultdict(collections.Counter)
    for route, method, status, number in re.findall(
        r'^bilinc_requests_total\{route="(.*)",method="(.*)",status="(.*)"\} (\d+)$', metrics, re.MULTILINE
    ):
        answered[method, route][int(status)] += int(number)
    print(f"\n{'operation':<46} {'2xx':>6} {'4xx':>6} {'5xx':>6}")
    sums = collections.Counter()
    for method, path in described:
        by = collections.Counter({f"{status // 100}xx": 0 for status in (200, 400, 500)})
        for status, number in answered[method, path].items():
            by[f"{status // 100}xx"] += number
        sums.update(by)
        print(f"{method + ' ' + path:<46} {by['2xx']:>6} {by['4xx']:>6} {by['5xx']:>6}")
        # Health is asked for by everybody and not counted.
        if path == "/api/cloud/health":
            continue
        if by["5xx"]:
            problems.append(f"{method} {path} was answered with 5xx {by['5xx']} times")
        if not by["2xx"] or not by["4xx"]:
            problems.append(f"{method} {path} was never both carried out and refused")
    print(f"{'all':<46} {sums['2xx']:>6} {sums['4xx']:>6} {sums['5xx']:>6}")
    print(f"generated: {report['test_cases']['generated']}, operations: {operations['tested']}")
    return problems


def get(address: str) -> str:
    """A page of the server."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


if __name__ == "__main__":
    sys.exit(main())
