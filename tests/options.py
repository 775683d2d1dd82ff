#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""options.py DIR PROGRAM...: check the documents of the programs in DIR.

The manual page of a program, its completion for bash and --help must have the same
options, and the same exit codes. --version of all programs must have the same form.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
TOOLS = TOP / "tools"

# Print what bash offers for each line of standard input, in a line of its own. The last
# word of a line is the one to complete; a dot stands for an empty one.
COMPLETE = r"""
source /usr/share/bash-completion/bash_completion && source "$1" || exit
complete=$(complete -p "$2") && [[ $complete =~ ' -F '([^ ]+) ]] || exit
function=${BASH_REMATCH[1]}
while read -ra COMP_WORDS; do
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
	[[ ${COMP_WORDS[-1]} != . ]] || COMP_WORDS[-1]=
	COMP_LINE=${COMP_WORDS[*]} COMP_POINT=${#COMP_LINE}
	"$function" "$2"
	echo "${COMPREPLY[*]}"
done
"""


def run(*argv, **kwargs):
    done = subprocess.run([str(a) for a in argv], check=False, text=True, stdout=subprocess.PIPE, **kwargs)
    if done.returncode:
        sys.exit(f"options.py: {' '.join(str(a) for a in argv)}: exit status {done.returncode}")
    return done.stdout


def as_options(lines):
    """{long option: (short option, argument)} of lines such as `-o, --output FILE  text`."""
    found = {}
    for line in lines:
        if re.fullmatch(r"\s*(--[\w-]+\s*){2,}", line):
            found.update((word, ("", "")) for word in line.split())
        match = re.match(r"\s*(?:(-\w), )?(--[\w-]+)(?: ([A-Z]+))?(?:  |$)", line)
        if match:
            found[match[2]] = (match[1] or "", match[3] or "")
    return found


def help_options(text):
    """The options of --help, and the complaint about options that this function overlooked."""
    found = as_options(text.partition("Exit status:")[0].splitlines())
    lost = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) - set(found)
    return found, [f"--help: {' '.join(lost)} is in no line of its own"] if lost else []


def section(page, name):
    """A section of a manual page, without its fonts."""
    match = re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH )", page, re.M | re.S)
    return re.sub(r"\\f[A-Z]", "", match[1]).replace("\\-", "-") if match else ""


def tags(text):
    """The tags of the paragraphs of a section."""
    return [tag.removeprefix(".B ") for tag in re.findall(r"^\.TP\n(.*)$", text, re.M)]


def codes(text):
    """The exit codes that --help lists."""
    return re.findall(r"^  (\d+) ", text.partition("Exit status:")[2], re.M)


def differ(what, have, want):
    lines = [f"{what}: {key} is not in --help" for key in have if key not in want]
    lines += [f"{what}: no {key}" for key in want if key not in have]
    return lines + [f"{what}: {key} has {have[key]}, --help has {want[key]}"
                    for key in want if key in have and have[key] != want[key]]


def check_page(page, text, options):
    bad = differ("manual page", as_options(tags(section(page, "OPTIONS"))), options)
    if tags(section(page, "EXIT STATUS")) != codes(text):
        bad.append(f"manual page: it does not have the exit codes {' '.join(codes(text))}")
    return bad + [f"manual page: no section {name}"
                  for name in ("NAME", "SYNOPSIS", "DESCRIPTION", "FILES", "EXAMPLES", "SEE ALSO")
                  if f"\n.SH {name}\n" not in page]


def completions(file, program, lines):
    with tempfile.TemporaryDirectory() as scratch:
        script, empty = Path(scratch, "complete"), Path(scratch, "empty")   # no file names
        script.write_text(COMPLETE)
        empty.mkdir()
        out = run("bash", script, file, program, cwd=empty,
                  input="".join(f"{program} {line}\n" for line in lines))
    return dict(zip(lines, (answer.split() for answer in out.split("\n")[:-1]), strict=True))


def check_completion(file, program, text, options):
    """An option without an argument leads to options; an argument is never an option."""
    names = [name for long, (short, _) in options.items() for name in (long, short) if name]
    offered = completions(file, program, ["-", "--", *(f"{name} --" for name in names),
                                          *(f"{name} ." for name in names)])
    bad = differ("completion", dict.fromkeys(offered["--"]), dict.fromkeys(options))
    if offered["-"] != offered["--"]:
        bad.append("completion: it offers no long options after a dash")
    for long, (short, argument) in options.items():
        want = [] if argument else offered["--"]
        replies = [word for word in offered[f"{long} --"] if word.startswith("--")]
        if replies != want:
            bad.append(f"completion: after {long} it offers {len(replies)} options, not {len(want)}")
        if short and argument and offered[f"{short} ."] != offered[f"{long} ."]:
            bad.append(f"completion: {short} has other arguments than {long}")
        bad += [f"completion: {long} {word} is not in --help"
                for word in offered[f"{long} ."] if argument and not re.search(rf"(?<![\w-]){word}(?![\w-])", text)]
    return bad


def check(directory, program):
    page = next(TOOLS.glob(f"**/{program}.[18]"), None)
    if not page:
        return ["there is no manual page"]
    text = run(directory / program, "--help")
    options, bad = help_options(text)
    if "--help" not in options:
        return ["--help has no line for --help"]
    bad += check_page(page.read_text(), text, options)
    bad += check_completion(next(page.parent.glob("*.bash")), program, text, options)
    version = re.search(r"^TOOLS_VERSION \?= (.+)$", (TOOLS / "lib/codetag/tools.mk").read_text(), re.M)[1]
    if run(directory / program, "--version").splitlines()[0] != f"{program} (codetag-tools) {version}":
        bad.append(f"--version does not begin with '{program} (codetag-tools) {version}'")
    return bad


def main():
    directory, *programs = sys.argv[1:]
    bad = [f"{program}: {line}" for program in programs for line in check(Path(directory), program)]
    print("\n".join(bad) or f"{len(programs)} programs agree with their documents")
    return 1 if bad or not programs else 0


sys.exit(main())
