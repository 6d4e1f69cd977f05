#!/usr/bin/env python3
"""Mutation testing: one operator or constant of src/ is changed at a time, and the tests must notice.

    scripts/mutants.py DIRECTORY [--count N] [--seed N] [--jobs N] [--limit SECONDS] [--again] [--plain]
        a sample of all files of src/
    scripts/mutants.py DIRECTORY --loops FILE...
        every loop of these files, without its last iteration

Works on a copy of the tree in DIRECTORY/tree, so that a mutant can do no harm. The library is built there as one shared
library with all functions visible, which all tests use: a mutant is one object compiled and that library linked. A
mutant with the same object code as the original is equivalent and not counted. Only tests that execute its line run, as
gcov saw them do: those that take less than a second (--limit), or ten seconds if they are of its own folder (these are
not asked what they execute), quick ones first, then the short ones of its own under the address and undefined-behaviour
sanitizers (not with --plain). It is noticed by the first test that fails, passes with the library as it is, and fails
again, or takes ten times as long.

Verdicts are kept in DIRECTORY/verdicts.tsv, so a run that was interrupted goes on; --again tries survivors once more,
with the tests of today. tests/mutants.txt lists mutants that change nothing, with the reason; they are not tried. The
status is 1 if others survive.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
KNOWN = ROOT / "tests/mutants.txt"
GIB = 1 << 30
LONGER = 10  # how many times --limit a test of the same folder may take
SKIPPED = 77
# Tests of what ships rather than of the code, and those that need a browser.
OUTSIDE = re.compile(r"^(install|docs|project|python|data)/|^serve/(page|stress)|^report/(report|show)$|^faults/kill$")

# ---- mutants -----------------------------------------------------------------------------------

# (operator, what it may become); clang-format puts blanks around binary operators and none after unary ones.
OPERATORS = [
    (r"(?<= )<(?= )", ("<=", ">=")), (r"(?<= )<=(?= )", ("<", ">")),
    (r"(?<= )>(?= )", (">=", "<=")), (r"(?<= )>=(?= )", (">", "<")),
    (r"(?<= )==(?= )", ("!=",)), (r"(?<= )!=(?= )", ("==",)),
    (r"(?<= )\+(?= )", ("-",)), (r"(?<= )-(?= )", ("+",)),
    (r"(?<= )\*(?= )", ("/",)), (r"(?<= )/(?= )", ("*",)), (r"(?<= )%(?= )", ("/",)),
    (r"(?<= )\+=(?= )", ("-=",)), (r"(?<= )-=(?= )", ("+=",)), (r"(?<= )\*=(?= )", ("/=",)),
    (r"(?<= )&&(?= )", ("||",)), (r"(?<= )\|\|(?= )", ("&&",)), (r"(?<=[ (])!(?=[\w(*])", ("",)),
    (r"(?<![\w.\"'])\d+(?![\w.])", None), (r"(?<![\w.])\d+\.\d+(?![\w.])", None),
]
CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
LOOP = re.compile(r"for \([^;]*; ([a-z]+) <(?= [^;]*; [a-z]+ ?(\+=|\+\+) ?(LANES)?)")


class Mutant:
    def __init__(self, file, text, begin, end, new):
        self.file, self.begin, self.end, self.new, self.original = file, begin, end, new, text
        self.old = text[begin:end]
        start = text.rfind("\n", 0, begin) + 1
        self.source = text[start:text.find("\n", begin)].strip()

    def text(self):
        return self.original[:self.begin] + self.new + self.original[self.end:]

    def line(self):
        return self.original.count("\n", 0, self.begin) + 1

    def key(self):
        content = hashlib.sha256(self.original.encode()).hexdigest()[:12]
        return f"{self.file}@{content}:{self.begin}:{self.old}:{self.new}"

    def known(self):
        """The line of tests/mutants.txt about it, which does not depend on where in the file the line is."""
        return f"{self.file}\t{self.source}\t{self.old or '(nothing)'} -> {self.new or '(nothing)'}"


def blank(text):
    """The text with comments, strings and directives blanked out."""
    return CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def changed_constant(old, choice):
    if "." in old:
        return str(float(old) * 2 if float(old) else 1.0)
    return str(int(old) + (1 if choice or old == "0" else -1))


def sites(file, text):
    code = blank(text)
    for pattern, becomes in OPERATORS:
        for match in re.finditer(pattern, code):
            yield file, text, match.start(), match.end(), becomes


def draw(seed):
    """One mutant at each place, in an order that depends on the seed, on each line alone and on how many lines like it
    are above it in its file: a change of one file leaves those of the others as they were."""
    places, seen = [], collections.Counter()
    for path in sorted((ROOT / "src").glob("*/*.[ch]")):
        for file, text, begin, end, becomes in sites(str(path.relative_to(ROOT)), path.read_text()):
            start = text.rfind("\n", 0, begin) + 1
            line = text[start:text.find("\n", begin)]
            place = f"{seed}:{file}:{begin - start}:{line}"
            seen[place] += 1
            dice = hashlib.sha256((place + ":again" * (seen[place] - 1)).encode()).digest()
            new = becomes[dice[0] % len(becomes)] if becomes else changed_constant(text[begin:end], dice[0] % 2)
            places.append((dice, Mutant(file, text, begin, end, new)))
    return [mutant for _, mutant in sorted(places, key=lambda place: place[0])]


def loops(files):
    for file in files:
        text = (ROOT / file).read_text()
        for match in LOOP.finditer(blank(text)):
            name = match.start(1), match.end(1)
            yield Mutant(file, text, *name, f"{match[1]} + {match[3] or 1}")


# ---- builds ------------------------------------------------------------------------------------


def copy_tree(to):
    """Copies tracked and new files; unchanged ones keep their times, so that they are not built again."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, to / name
        if not source.exists() or (target.exists() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target, follow_symlinks=False)
    shared = to.parent / "shared"  # the larger corpora, beside the tree
    if (ROOT.parent / "shared").exists() and not shared.exists():
        shared.symlink_to((ROOT.parent / "shared").resolve())


def fingerprint(paths):
    content = hashlib.sha256()
    for path in sorted(paths):
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


class Build:
    """A build of the copy, and the tests that pass with it."""

    def __init__(self, directory, name, options):
        self.directory, self.tree, self.options = directory / name, directory / "tree", options
        self.sanitized = "sanitized" in name
        self.lock, self.is_made = threading.Lock(), False
        self.times = self.directory / "times.json"
        self.test_locks = collections.defaultdict(threading.Lock)

    def prepare(self):
        """Builds all that it needs, once."""
        with self.lock:
            if not self.is_made:
                self.build()
            self.is_made = True

    def build(self):
        if not (self.directory / "Makefile").exists():
            subprocess.run(["cmake", "-S", self.tree, "-B", self.directory, "-G", "Unix Makefiles", "-DTRELLIS_TESTS=ON",
                            "-DTRELLIS_REPLACEABLE=ON", "-DTRELLIS_WERROR=OFF", *self.options], check=True,
                           stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", self.directory, "--parallel", str(os.cpu_count()), "--target", "build_tests"],
                       check=True, stdout=subprocess.DEVNULL)
        entries = json.loads((self.directory / "compile_commands.json").read_text())
        commands = {os.path.relpath(e["file"], self.tree): shlex.split(e["command"]) for e in entries}
        self.compile = {file: command for file, command in commands.items()
                        if "CMakeFiles/trellis_objects.dir" in self.output(command)}
        self.programs = {file: command for file, command in commands.items() if re.match("tests/.*/test_", file)}
        self.link = shlex.split((self.directory / "CMakeFiles/trellis_static.dir/link.txt").read_text())
        self.tests = self.read_tests()
        self.sources = {test[0]: self.fingerprint(test[0]) for test in self.tests}
        # By the name of the test: its fingerprint, seconds or None, and the limit that it had.
        self.seconds = json.loads(self.times.read_text()) if self.times.exists() else {}

    def read_tests(self):
        listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.directory, check=True,
                                           capture_output=True, text=True).stdout)
        tests = []
        for test in listed["tests"]:
            properties = {p["name"]: p["value"] for p in test["properties"]}
            if not OUTSIDE.search(test["name"]):
                tests.append((test["name"], test["command"], dict(v.split("=", 1) for v in properties["ENVIRONMENT"])))
        return tests

    def fingerprint(self, name):
        """Changes with the source of a test, and with what several tests share."""
        module, stem = name.split("/")
        tests = self.tree / "tests"
        return fingerprint([*tests.glob(f"{module}/test_{stem}.*"), *tests.glob("*/*.h"), *tests.glob("*/lib.sh"),
                            *tests.glob("support/*"), *self.tree.glob(f"{module}/{stem}.c")])

    def seconds_of(self, test, most=600):
        """What a test takes with the library as it is; None if it then fails, is skipped or takes longer."""
        name, command, environment = test
        with self.test_locks[name]:
            of, seconds, allowed = self.seconds.get(name, (None, None, 0))
            if of != self.sources[name] or (seconds is None and allowed < most):
                status, seconds = self.run(command, environment, self.directory, most)
                seconds = seconds if status == 0 else None
                with self.lock:
                    self.seconds[name] = self.sources[name], seconds, most
                    self.times.write_text(json.dumps(self.seconds))
            return seconds

    def run(self, command, environment, library, timeout):
        """The status and the processor seconds of a test; the machine may be busy, so the timeout is in those, too."""

        def limit():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_FSIZE, (GIB, GIB))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (int(timeout), int(timeout) + 1))
            if not self.sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (4 * GIB, 4 * GIB))

        variables = {**os.environ, **environment, "LD_LIBRARY_PATH": str(library),
                     "ASAN_OPTIONS": "exitcode=86:hard_rss_limit_mb=4000", "UBSAN_OPTIONS": "exitcode=86"}
        process = subprocess.Popen(command, cwd=self.tree, env=variables, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit)
        watch = threading.Timer(30 * timeout, kill_group, (process.pid,))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        watch.cancel()
        kill_group(process.pid)  # what a failed test left behind
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_utime + usage.ru_stime

    def objects_of(self, mutant, reach):
        """The sources whose objects depend on a mutant."""
        if mutant.file in self.compile:
            return [mutant.file]
        return [source for source, command in self.compile.items()
                if self.depends(command, self.tree / mutant.file) and reach.compiles(source, mutant)]

    def depends(self, command, file, within="."):
        folder = self.directory / within
        words = (folder / (self.output(command) + ".d")).read_text().replace("\\\n", " ").split()
        return any(word.endswith(file.name) and (folder / word).resolve() == file for word in words)

    @staticmethod
    def output(command):
        return command[command.index("-o") + 1]

    def make(self, mutant, folder, reach):
        """Builds the library with the mutant: None, "same" or "error"."""
        (folder / mutant.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / mutant.file).write_text(mutant.text())
        replaced = {}
        for source in self.objects_of(mutant, reach):
            command = self.compile[source]
            replaced[self.output(command)] = str(folder / f"{len(replaced)}.o")
            if source == mutant.file:
                command = [*command[:-1], str(folder / mutant.file)]
            if not self.run_tool(command, replaced, folder, "."):
                return "error"
        if all((self.directory / old).read_bytes() == pathlib.Path(new).read_bytes() for old, new in replaced.items()):
            return "same"
        library = self.output(self.link)
        replaced[library] = str(folder / pathlib.Path(library).name)
        ok = self.run_tool(self.link, replaced, folder, ".") and self.make_programs(mutant, folder)
        return None if ok else "error"

    def run_tool(self, command, replaced, folder, within):
        """Compiles or links with other files."""
        words = [replaced.get(word, word) for word in command if not word.endswith("ccache")]
        words[1:1] = [f"-I{folder / 'src'}", "-w"]
        return subprocess.run(words, cwd=self.directory / within, capture_output=True).returncode == 0

    def make_programs(self, mutant, folder):
        """Tests of its own folder have the functions of a header in themselves: builds those that include it."""
        module, ok = mutant.file.split("/")[1], True
        for source, command in self.programs.items() if mutant.file.endswith(".h") else ():
            target = f"{module}_{pathlib.Path(source).stem}"
            if ok and source.startswith(f"tests/{module}/") and self.depends(command, self.tree / mutant.file, "tests"):
                link = shlex.split((self.directory / f"tests/CMakeFiles/{target}.dir/link.txt").read_text())
                replaced = {self.output(command): str(folder / f"{target}.o"), self.output(link): str(folder / target)}
                ok = all(self.run_tool(words, replaced, folder, "tests") for words in (command, link))
        return ok

    def noticed_by(self, mutant, folder, plain, reach, limit):
        """The first test that fails, or None; tests of other folders only if they are short in the plain build."""
        module, stem = mutant.file.split("/")[1], pathlib.Path(mutant.file).stem
        chosen = []
        for test in plain.tests:
            near = test[0].startswith(module + "/")
            longer = LONGER if near and not self.sanitized else 1
            seconds = plain.seconds_of(test, math.ceil(limit * longer)) if near or not self.sanitized else None
            if seconds is not None and seconds < limit * longer:
                same = near and stem.startswith(test[0].split("/")[1])
                chosen.append((not same, seconds / longer, test[0], same or seconds >= limit))
        for *_, name, runs in sorted(chosen):
            test = next((t for t in self.tests if t[0] == name), None)
            seconds = self.seconds_of(test) if test and (runs or reach.executes(name, mutant)) else None
            if seconds is not None and self.notices(self.with_program(test, folder), folder, test, 5 + 10 * seconds):
                return name
        return None

    def notices(self, command, folder, test, timeout):
        """Whether a test fails with a mutant, passes without and fails with it again; so that it is not by chance, or
        because the machine is busy. One that is much slower need not run again: its processor time says so."""

        def fails(command, environment, library):
            status, seconds = self.run(command, environment, library, timeout)
            return status not in (0, SKIPPED), seconds >= timeout

        failed, is_slow = fails(*command, folder)
        return failed and (is_slow or (not fails(*test[1:], self.directory)[0] and fails(*command, folder)[0]))

    def with_program(self, test, folder):
        """The command and the environment of a test, with the program that was built for the mutant if there is one."""
        name, command, environment = test
        program, built = str(self.directory / "tests" / name), folder / name.replace("/", "_test_")
        return [str(built) if word == program and built.is_file() else word for word in command], environment


class Reach:
    """The lines of src/ that each test executes, as gcov counts them in a build of its own. The counts of a process
    that is killed or ends by _exit() are lost."""

    def __init__(self, directory):
        self.build = Build(directory, "coverage", ["-DCMAKE_BUILD_TYPE=Debug", "-DTRELLIS_COVERAGE=ON"])
        # What gcov knows: the lines of each file, the first and the last line of its functions, and the lines of it
        # that each source has code for.
        self.lines, self.functions, self.compiled = {}, {}, {}
        self.executed = {}  # the lines of each file that a test executes, by test

    def prepare(self):
        self.build.prepare()
        self.of = fingerprint(self.build.tree.glob("src/*/*.[ch]"))
        objects = self.build.directory / "CMakeFiles/trellis_objects.dir"
        for source, file, entry in self.files_of(objects.rglob("*.gcno"), objects):
            lines = [at["line_number"] for at in entry["lines"]]
            self.lines.setdefault(file, set()).update(lines)
            self.functions.setdefault(file, set()).update((f["start_line"], f["end_line"]) for f in entry["functions"])
            self.compiled.setdefault(file, {})[source] = set(lines)

    def measure(self, name):
        """The lines that a test executes. It runs, unless it did before."""
        with self.build.test_locks[name]:
            if name not in self.executed:
                file = self.build.directory / "reach" / (name.replace("/", "_") + ".json")
                of = self.of + self.build.sources[name]
                saved = json.loads(file.read_text()) if file.exists() else {}
                if saved.get("of") != of:
                    saved = {"of": of, "lines": self.run(next(test for test in self.build.tests if test[0] == name))}
                    file.parent.mkdir(exist_ok=True)
                    file.write_text(json.dumps(saved))
                self.executed[name] = saved["lines"]
            return self.executed[name]

    def line(self, mutant):
        """The number of the line of a mutant, or that of the statement's first; None outside functions."""
        line = mutant.line()
        first = max((f[0] for f in self.functions.get(mutant.file, ()) if f[0] <= line <= f[1]), default=None)
        return first and max((known for known in self.lines[mutant.file] if first <= known <= line), default=first)

    def executes(self, name, mutant):
        """Whether a test executes the line of a mutant; taken for granted of lines outside functions."""
        line = self.line(mutant)
        return line is None or line in self.measure(name).get(mutant.file, ())

    def compiles(self, source, mutant):
        """Whether the object of a source may have code of the line of a mutant."""
        line = self.line(mutant)
        return line is None or line in self.compiled[mutant.file].get(source, ())

    def run(self, test):
        """Runs a test, which leaves its counters in a folder of its own, and reads them."""
        name, command, environment = test
        counters = self.build.directory / "counters" / name.replace("/", "_")
        shutil.rmtree(counters, ignore_errors=True)
        counters.mkdir(parents=True)
        self.build.run(command, {**environment, "GCOV_PREFIX": str(counters)}, self.build.directory, 600)
        files = []
        for file in counters.rglob("*.gcda"):
            notes = pathlib.Path("/", file.relative_to(counters)).with_suffix(".gcno")
            if notes.exists():  # gcov wants them beside the counters
                file.with_suffix(".gcno").symlink_to(notes)
                files.append(file)
        executed = {}
        for _, file, entry in self.files_of(files, counters):
            lines = (at["line_number"] for at in entry["lines"] if at["count"])
            executed.setdefault(file, set()).update(lines)
        shutil.rmtree(counters, ignore_errors=True)
        return {file: sorted(lines) for file, lines in executed.items() if lines}

    def files_of(self, paths, folder):
        """What gcov says of the files of src/ in each object: (source, file, entry)."""
        gcov = [os.environ.get("GCOV", "gcov"), "--json-format", "--stdout"]
        printed = subprocess.run([*gcov, *paths], cwd=folder, capture_output=True, text=True).stdout
        for unit in map(json.loads, printed.splitlines()):
            source = re.sub(r".*/trellis_objects\.dir/|\.gc(da|no)$", "", unit["data_file"])
            for entry in unit["files"]:
                file = os.path.relpath((self.build.directory / entry["file"]).resolve(), self.build.tree)
                if file.startswith("src/"):
                    yield source, file, entry


def kill_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


# ---- the run -----------------------------------------------------------------------------------


def judge(builds, reach, mutant, folder, limit):
    """same, error, survived or the test that noticed."""
    for build in builds:
        build.prepare()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        outcome = build.make(mutant, folder, reach)
        if outcome == "same" and build is not builds[0]:
            outcome = None
        outcome = outcome or build.noticed_by(mutant, folder, builds[0], reach, limit)
        if outcome:
            return outcome + (" (sanitized)" if build.sanitized else "")
    return "survived"


class Verdicts:
    def __init__(self, file, again):
        self.file, self.lock, self.of = file, threading.Lock(), {}
        for line in file.read_text().splitlines() if file.exists() else ():
            key, verdict, _ = line.split("\t", 2)
            self.of[key] = verdict
        if again:
            self.of = {key: verdict for key, verdict in self.of.items() if verdict != "survived"}

    def add(self, mutant, verdict):
        with self.lock:
            self.of[mutant.key()] = verdict
            with self.file.open("a") as file:
                file.write(f"{mutant.key()}\t{verdict}\t{mutant.line()}\t{mutant.source}\n")
            print(f"{mutant.file}:{mutant.line()}: {mutant.old or '(nothing)'} -> {mutant.new or '(nothing)'}: {verdict}",
                  flush=True)


def measure(plain, reach, limit, jobs):
    """What short tests take and execute, in several threads; that of others is found out when it is asked for."""
    plain.prepare()

    def one(test):
        seconds = plain.seconds_of(test, math.ceil(limit))
        if seconds is not None and seconds < limit:
            reach.measure(test[0])

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, plain.tests))


def judge_all(mutants, builds, reach, verdicts, directory, arguments):
    """Judges all loops, or until --count mutants that compile to something else have a verdict; returns those."""
    judged, lock, source = [], threading.Lock(), iter(mutants)
    count = sys.maxsize if arguments.loops else arguments.count
    known = known_mutants()

    def work(number):
        while True:
            with lock:
                mutant = next(source, None) if len(judged) < count else None
            if mutant is None:
                return
            if mutant.key() not in verdicts.of:
                verdicts.add(mutant, "survived" if mutant.known() in known else
                             judge(builds, reach, mutant, directory / f"mutant{number}", arguments.limit))
            if verdicts.of[mutant.key()] not in ("same", "error"):
                with lock:
                    judged.append(mutant)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(work, range(arguments.jobs)))
    return judged


def known_mutants():
    lines = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    return {line.rsplit("\t", 1)[0] for line in lines if line and not line.startswith("#")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--loops", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    directory = arguments.directory.resolve()
    copy_tree(directory / "tree")
    builds = [Build(directory, "plain", ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG"])]
    if not arguments.plain:
        options = ["-DCMAKE_BUILD_TYPE=Debug", "-DTRELLIS_SANITIZE=address,undefined"]
        builds.append(Build(directory, "sanitized", options))
    verdicts = Verdicts(directory / "verdicts.tsv", arguments.again)
    mutants = loops(arguments.loops) if arguments.loops else draw(arguments.seed)
    reach = Reach(directory)
    reach.prepare()
    measure(builds[0], reach, arguments.limit, arguments.jobs)
    judged = judge_all(mutants, builds, reach, verdicts, directory, arguments)
    survivors = [m for m in judged if verdicts.of[m.key()] == "survived"]
    known = known_mutants()
    unknown = [m for m in survivors if m.known() not in known]
    for mutant in unknown:
        reached = any(reach.executes(name, mutant) for name in reach.executed)
        print(f"survived: {mutant.file}:{mutant.line()}{'' if reached else ', not executed'}\n{mutant.known()}")
    print(f"mutants: {len(judged)} tried, {len(judged) - len(survivors)} noticed, "
          f"{len(survivors) - len(unknown)} change nothing, {len(unknown)} survived")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
