#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes man pages and shell completion from the help texts of the program:
program_pages.py HELP_PROGRAM VERSION FOLDER

HELP_PROGRAM [COMMAND] --help must print the help; the program itself does, and so does ringweave_help of the build.
Writes FOLDER/man1/ringweave.1, FOLDER/man1/ringweave-COMMAND.1 of every command and FOLDER/ringweave.bash.
"""
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

TEMPLATE = Path(__file__).resolve().parent / "completion.bash.in"
# src/app/cli/help.cpp wraps its lines to this width.
HELP_WIDTH = 79
COMMON_OPTIONS = "Common options"
# Sections that are lists; all groups of options are, too.
LISTS = {"Arguments", "Commands", "EXIT STATUS"}
# Values that stand for something else, beside words that are meant literally.
PLACEHOLDERS = {"N"}


def paragraphs(lines):
    """Joins wrapped lines. A paragraph ends where the next word would have fitted into its last line."""
    joined = []
    last = ""
    for line in lines:
        if joined and len(last) + 1 + len(line.split()[0]) > HELP_WIDTH:
            joined[-1] += " " + line.strip()
        else:
            joined.append(line.strip())
        last = line
    return joined


def entries(lines):
    """Returns (name, text) of the entries of a list, e.g. ("--lmax L", "Highest degree.")."""
    found = []
    for line in lines:
        begin = re.match(r"  (\S.*?)(?:  +(\S.*))?$", line)
        if begin:
            found.append([begin[1], begin[2] or ""])
        else:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return [tuple(entry) for entry in found]


class Help:
    """The parts of a help text: usage, paragraphs, and sections of lines by their names."""

    def __init__(self, text):
        self.usage = ""
        self.paragraphs = []
        self.sections = {}
        for block in text.strip("\n").split("\n\n"):
            lines = block.split("\n")
            if lines[0].startswith("Usage: "):
                self.usage = " ".join(block.split()).removeprefix("Usage: ")
            elif len(lines) > 1 and lines[1].startswith("  "):
                self.sections[lines[0].removesuffix(":")] = lines[1:]
            else:
                self.paragraphs += paragraphs(lines)
        self.lists = {name: entries(lines) for name, lines in self.sections.items()
                      if name in LISTS or lines[0].startswith("  --")}

    def options(self, group=None):
        """Returns (option, value, text) of the options of one group, or of all groups but the common one."""
        listed = [entry for title, entries_of in self.lists.items() if title not in LISTS
                  and (title == group if group else title != COMMON_OPTIONS) for entry in entries_of]
        return [(name.partition(" ")[0], name.partition(" ")[2], text) for name, text in listed]


# Man pages.

CHARACTERS = str.maketrans({"\\": r"\(rs", "'": r"\(aq", "^": r"\(ha", "~": r"\(ti"})


def roff(text):
    """Escapes a paragraph and wraps its lines. Words in `...` become bold."""
    text = "\n".join(textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False))
    text = re.sub(r"(?<![\w-])-[\w-]+", lambda word: word[0].replace("-", r"\-"), text.translate(CHARACTERS))
    text = re.sub(r",(?=\d)", r",\\:", text)  # long lists may be broken
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def literal(line):
    """Escapes a line that is to be copied: every "-" is a minus."""
    return re.sub(r"^\.", r"\\&.", line.strip().translate(CHARACTERS).replace("-", r"\-"))


def list_section(listed):
    lines = []
    for name, text in listed:
        word, _, value = name.partition(" ")
        lines += [".TP", rf"\fB{literal(word)}\fR" + (rf" \fI{literal(value)}\fR" if value else ""), roff(text)]
    return lines


def text_section(texts):
    return [roff(texts[0]), *(line for text in texts[1:] for line in (".PP", roff(text)))]


def variables(text):
    """Returns (name, text) of "NAME: text. NAME: text."."""
    parts = re.split(r"(?:^|(?<=\. ))([A-Z_]+): ", text)
    return list(zip(parts[1::2], map(str.strip, parts[2::2])))


def section(page, name):
    """Returns the lines of a section; nothing when the help has no such section."""
    if name not in page.sections:
        return []
    if name in page.lists:
        body = list_section(page.lists[name])
    elif name == "ENVIRONMENT":
        body = list_section(variables(" ".join(line.strip() for line in page.sections[name])))
    elif name == "EXAMPLES":
        body = [".nf", *map(literal, page.sections[name]), ".fi"]
    else:
        body = text_section(paragraphs(page.sections[name]))
    return [f".SH {name.upper()}", *body]


def synopsis(usage):
    """Returns the lines of a synopsis, each form of the command on a line of its own."""
    lines = []
    for form in re.split(r" (?=ringweave )", usage):
        program, rest = re.match(r"(ringweave(?: [a-z]+)?) (.*)", form).groups()
        lines += [".br"] * bool(lines) + [f".B {program}", roff(rest)]
    return lines


def man_page(page, name, brief, description, version, see_also):
    """Returns the man page ringweave(1) or ringweave-COMMAND(1)."""
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    lines = ['.\\" SPDX-License-Identifier: GPL-3.0-or-later',
             f'.TH {name.upper()} 1 {date} "Ringweave {version}" "Ringweave manual"',
             ".SH NAME", rf"{literal(name)} \- {brief}",
             ".SH SYNOPSIS", *synopsis(page.usage),
             ".SH DESCRIPTION", *text_section(description)]
    lines += section(page, "Commands") + section(page, "Arguments") + [".SH OPTIONS"]
    for title, listed in page.lists.items():
        if title not in LISTS:
            lines += ([] if title == "Options" else [f".SS {title}"]) + list_section(listed)
    for title in ("VALUES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"):
        lines += section(page, title)
    others = [rf".BR {literal(other)} (1)" for other in see_also]
    return "\n".join([*lines, ".SH SEE ALSO", *(f"{other}," for other in others[:-1]), others[-1]]) + "\n"


def man_pages(program, commands, version):
    """Returns the texts of all man pages by their names."""
    names = {command: f"ringweave-{command}" for command in commands}
    subject, description = program.paragraphs[0].removeprefix("Ringweave: ").split(". ", 1)
    pages = {"ringweave": man_page(program, "ringweave", subject, [description, *program.paragraphs[1:]], version,
                                   names.values())}
    briefs = dict(program.lists["Commands"])
    for command, page in commands.items():
        # The first paragraph is "ringweave COMMAND: brief".
        pages[names[command]] = man_page(page, names[command], briefs[command], page.paragraphs[1:], version,
                                         ["ringweave"])
    return pages


# Shell completion.

def words_of(value, text):
    """Returns the words that a value may be: those of "auto|host|cuda", or of a list in the text."""
    if "|" in value:
        return [word for word in value.split("|") if word not in PLACEHOLDERS and re.fullmatch(r"[\w.-]+", word)]
    listed = re.search(r"(?:One of|a described machine:) ((?:\w+, )*\w+)\.", text)
    return listed[1].split(", ") if listed else []


def value_cases(prefix, options):
    """Returns branches of a case: the words of options that have some, and all options that take other values."""
    valued = [(option, words_of(value, text)) for option, value, text in options if value]
    cases = [f"{prefix}{option}) echo {' '.join(words)} ;;" for option, words in valued if words]
    others = [f"{prefix}{option}" for option, words in valued if not words]
    return cases + ([f"{' | '.join(others)}) ;;"] if others else [])


def completion(program, commands):
    """Returns the completion function for bash."""
    common = program.options(COMMON_OPTIONS)
    option_cases = [f"{command}) echo {' '.join(option for option, _, _ in page.options())} ;;"
                    for command, page in commands.items()]
    values = [f"helphelp) echo {' '.join(commands)} ;;", *value_cases("*", common)]
    for command, page in commands.items():
        values += value_cases(command, page.options())
        words = words_of("", page.lists["Arguments"][0][1]) if "Arguments" in page.lists else []
        values += [f"{command}{command}) echo {' '.join(words)} ;;"] if words else []
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, filled in (("@COMMANDS@", " ".join(commands)),
                         ("@COMMON_OPTIONS@", " ".join(option for option, _, _ in common)),
                         ("    @OPTION_CASES@", textwrap.indent("\n".join(option_cases), "    ")),
                         ("    @VALUE_CASES@", textwrap.indent("\n".join(values), "    "))):
        text = text.replace(name, filled)
    return text


def main():
    help_program, version, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])

    def help_of(*command):
        done = subprocess.run([help_program, *command, "--help"], stdout=subprocess.PIPE, text=True, check=True)
        return Help(done.stdout)

    program = help_of()
    commands = {name: help_of(name) for name, _ in program.lists["Commands"]}
    shutil.rmtree(folder / "man1", ignore_errors=True)  # pages of commands that were renamed
    (folder / "man1").mkdir(parents=True)
    for name, text in man_pages(program, commands, version).items():
        (folder / "man1" / f"{name}.1").write_text(text, encoding="utf-8")
    (folder / "ringweave.bash").write_text(completion(program, commands), encoding="utf-8")


if __name__ == "__main__":
    main()
