@pure @fs_sources
Feature: folders with a SKILL.md as skills

  The field writes skills as folders with a `SKILL.md`. A pattern that matches the `SKILL.md`
  makes the folder a skill, and every file below belongs to it.

  Rule: the path of the folder is the id, and the body is the SKILL.md without front matter

    Background:
      Given the file "skills/pdf/SKILL.md" holds:
        """
        ---
        name: pdf
        description: Reads and writes PDF files.
        license: MIT
        ---
        # PDF

        See [forms](FORMS.md), [the script](scripts/run.py) and [nothing](references/none.md).
        """
      And the file "skills/pdf/FORMS.md" holds "# Forms"
      And the file "skills/pdf/references/api.md" holds "# API"
      And the file "skills/pdf/scripts/run.py" holds "print()"

    Scenario Outline: patterns
      When the skills are "<pattern>"
      Then the skill "pdf" comes from "skills/pdf/SKILL.md"
      And there is 1 skill
      And nothing is skipped
      And the skill "pdf" has the files "FORMS.md, SKILL.md, references/api.md, scripts/run.py"

      Examples:
        | pattern             |
        | skills/**/*.md      |
        | skills/*/SKILL.md   |
        | skills/pdf/SKILL.md |
        | skills/pdf/**       |

    Scenario: the front matter describes it in the index
      When the skills are "skills/**/*.md"
      Then the address "iii://skills" has "- [`pdf`](iii://pdf) — PDF — Reads and writes PDF files."

    Scenario Outline: its files are read at their addresses
      When the skills are "skills/**/*.md"
      Then the address "<address>" has "<text>"

      Examples:
        | address                     | text    |
        | iii://pdf                   | # PDF   |
        | iii://pdf/references/api    | # API   |
        | skill://pdf/SKILL.md        | license |
        | skill://pdf/FORMS.md        | # Forms |
        | skill://pdf/scripts/run.py  | print() |

    Scenario: a file that does not exist
      When the skills are "skills/**/*.md"
      Then the address "skill://pdf/scripts/rum.py" is not found: "did you mean `pdf/scripts/run.py`?"

    Scenario: relative links are followed to markdown, and dead ones are named
      When the skills are "skills/**/*.md"
      Then "pdf" resolves to "pdf, pdf/FORMS.md"
      And the link "references/none.md" is dead: "file not found: pdf/references/none.md"

    Scenario: a registered skill hides the folder with its files
      When the skills are "skills/**/*.md"
      And the skill "pdf" is registered as well
      Then the address "skill://pdf/scripts/run.py" is not found: "file not found"

    Scenario: a SKILL.md further below is a nested skill
      Given the file "skills/pdf/sub/SKILL.md" holds "# Nested"
      When the skills are "skills/**/*.md"
      Then the skill "pdf/sub" comes from "skills/pdf/sub/SKILL.md"
      And the skill "pdf/sub" has the files "SKILL.md"

    Scenario: a bundled file is served as it is now
      When the skills are "skills/**/*.md"
      And the file "skills/pdf/scripts/run.py" is changed to "exit()"
      Then the address "skill://pdf/scripts/run.py" has "exit()"

  Rule: a folder whose name is no id is served under its lowercased, hyphenated form

    Scenario: it is reported once
      Given the file "skills/My Skill/SKILL.md" holds "# Mine"
      When the skills are "skills/**/*.md"
      Then the skill "my-skill" comes from "skills/My Skill/SKILL.md"
      And there is a warning about "skills/My Skill/SKILL.md" that says "is served as `my-skill`"

    Scenario: of two folders with one id the one of that name is served
      Given the file "skills/Pdf/SKILL.md" holds "# Upper"
      And the file "skills/pdf/SKILL.md" holds "# Lower"
      When the skills are "skills/**/*.md"
      Then the skill "pdf" reads "# Lower"
      And "skills/Pdf/SKILL.md" is skipped because it "has the id `pdf`"

  Rule: broken front matter is repaired where its meaning is plain, and nothing disappears

    Scenario Outline: repairs
      Given the file "skills/a.md" holds "<text>"
      When the skills are "skills/*.md"
      Then the body of "a" is "# T"
      And there is a warning about "skills/a.md" that says "<warning>"

      Examples:
        | text                               | warning          |
        | ---␊description: Use: it␊---␊# T | put it in quotes |
        | ---␊metadata:␊␉a: b␊---␊# T     | use spaces       |
        | ---␊name: a␊description: x␊# T   | is not closed    |

    Scenario Outline: what cannot be read is a part of the body
      Given the file "skills/a.md" holds "<text>"
      When the skills are "skills/*.md"
      Then the body of "a" is "<text>"
      And there is a warning about "skills/a.md" that says "<warning>"

      Examples:
        | text                                       | warning                                        |
        | ---␊name: [a␊---␊Body                    | cannot be read                                 |
        | ---␊name: &a b␊title: *a␊---␊Body       | an anchor or an alias                          |
        | ---␊name: a␊description: b␊              | add a line `---` after the front matter        |
        | ---␊name: a␊Prose without a colon␊       | add a line `---` after the front matter        |
        | ---␊owner: a␊␊Prose                      | add a line `---` after the front matter        |

    Scenario: front matter over 64 KiB is not read
      Given the file "skills/a.md" has a description of 65536 characters
      When the skills are "skills/*.md"
      Then the address "iii://a" has "description: xxx"
      And there is a warning about "skills/a.md" that says "has front matter of more than 65536 bytes; shorten it"

    Scenario: a thematic break at the beginning is text
      Given the file "skills/a.md" holds "---␊Prose␊"
      When the skills are "skills/*.md"
      Then the body of "a" is "---␊Prose␊"
      And there is no warning

    Scenario: a byte order mark and the line ends of Windows
      Given the file "skills/pdf/SKILL.md" holds a byte order mark and "---␍␊name: pdf␍␊description: d␍␊---␍␊# T␍␊"
      When the skills are "skills/**/*.md"
      Then the body of "pdf" is "# T␍␊"
      And the address "iii://skills" has "— T — d"
      And the address "skill://pdf/SKILL.md" has "description: d"
      And there is a warning about "skills/pdf/SKILL.md" that says "a byte order mark"

    Scenario Outline: registered bodies are stored as they are, with the same reports
      When the skills are "skills/**/*.md"
      And the skill "a" is registered as well, with "<text>"
      Then there is a warning about the registered skill "a" that says "<warning>"

      Examples:
        | text                               | warning                                 |
        | ---␊description: Use: it␊---␊# T | put it in quotes                        |
        | ---␊name: [a␊---␊Body            | cannot be read                          |
        | ---␊name: a␊description: b␊      | add a line `---` after the front matter |
        | ---␊visibility: pined␊---␊# T    | counts as `auto`                        |

  Rule: a SKILL.md needs no body

    Scenario: front matter alone
      Given the file "skills/pdf/SKILL.md" holds "---␊name: pdf␊description: d␊---␊"
      When the skills are "skills/**/*.md"
      Then the body of "pdf" is ""
      And the address "skill://pdf/SKILL.md" has "description: d"
      And the published skills are "pdf"
      And nothing is skipped

    Scenario: other markdown needs text
      Given the file "skills/pdf.md" holds "---␊name: pdf␊description: d␊---␊"
      When the skills are "skills/**/*.md"
      Then "skills/pdf.md" is skipped because it "has no text after the front matter"

  Rule: a folder has at most 512 files and 16 MiB; beyond that its body is served alone

    Background:
      Given the file "skills/pdf/SKILL.md" holds "---␊name: pdf␊description: d␊---␊# PDF"
      And the file "skills/pdf/run.py" holds "print()"

    Scenario: too many files
      Given the folder "skills/pdf/data" has 511 files
      When the skills are "skills/**/*.md"
      Then the body of "pdf" is "# PDF"
      And the address "skill://pdf/run.py" is not found: "file not found"
      And there is a warning about "skills/pdf/SKILL.md" that says "has more than 512 files, which are not served; remove some"
      And "pdf" is not published because "has more than 512 files"

    Scenario: too many bytes
      Given the file "skills/pdf/model.bin" has 16777216 bytes
      When the skills are "skills/**/*.md"
      Then the body of "pdf" is "# PDF"
      And the address "skill://pdf/run.py" is not found: "file not found"
      And there is a warning about "skills/pdf/SKILL.md" that says "of more than 16777216 bytes"

  Rule: bundled files are data: they are read, and never run or obeyed

    Background:
      Given the file "skills/pdf/SKILL.md" holds "---␊name: pdf␊description: d␊allowed-tools: Bash(rm *)␊---␊# PDF"
      And the file "skills/pdf/run.py" holds "print()"

    Scenario: UTF-8 is text, and everything else is a blob
      Given the file "skills/pdf/logo.png" has 16 bytes that are not UTF-8
      When the skills are "skills/**/*.md"
      Then the address "skill://pdf/run.py" is text of the type "text/x-python"
      And the address "skill://pdf/logo.png" is a blob of the type "image/png"

    Scenario: allowed-tools is shown as it is
      When the skills are "skills/**/*.md"
      Then the address "skill://pdf/SKILL.md" has "allowed-tools: Bash(rm *)"
      And the published front matter of "pdf" has "allowed-tools" "Bash(rm *)"

    Scenario: a link out of the source is refused
      Given the file "secret.txt" holds "secret"
      And the file "skills/pdf/notes.txt" is a link to "secret.txt"
      When the skills are "skills/**/*.md"
      Then the skill "pdf" has the files "SKILL.md, run.py"
      And the address "skill://pdf/notes.txt" is not found: "file not found"
      And "skills/pdf/notes.txt" is skipped because it "copy the file instead"

    Scenario: a link inside the source is followed
      Given the file "skills/shared.txt" holds "shared"
      And the file "skills/pdf/notes.txt" is a link to "skills/shared.txt"
      When the skills are "skills/**/*.md"
      Then the address "skill://pdf/notes.txt" has "shared"

  Rule: what the Agent Skills specification rejects is served, with the reason

    Scenario Outline: reasons
      Given the file "skills/pdf/SKILL.md" holds "<text>"
      When the skills are "skills/**/*.md"
      Then the skill "pdf" is no Agent Skill because it "<reason>"

      Examples:
        | text                                              | reason                  |
        | # PDF                                             | has no front matter     |
        | ---␊name: pdf␊description: x␊                   | is not closed           |
        | ---␊name: pdf␊---␊x                             | has no `description`    |
        | ---␊name: other␊description: x␊---␊x            | but its folder is `pdf` |
        | ---␊name: pdf␊description: Use: it␊---␊x        | was repaired            |
        | ---␊name: pdf␊description: x␊metadata: 5␊---␊x | is not a map            |
        | ---␊name: pdf␊description: x␊license:␊---␊x    | without a value         |
        | ---␊name: pdf␊description: x␊day: 2026-01-31␊---␊x | read as a date      |
        | ---␊name: pdf␊description: x␊license: no␊---␊x | read as true or false   |

    Scenario Outline: the length of the description
      Given the file "skills/pdf/SKILL.md" has a description of <length> characters
      When the skills are "skills/**/*.md"
      Then the published skills are "<published>"
      And the address "iii://pdf" has "# T"

      Examples:
        | length | published |
        | 1024   | pdf       |
        | 1025   |           |

    Scenario: a description that is too long is named with the reason
      Given the file "skills/pdf/SKILL.md" has a description of 1025 characters
      When the skills are "skills/**/*.md"
      Then "pdf" is not published because "1024"

    Scenario: a folder that it accepts
      Given the file "skills/pdf/SKILL.md" holds "---␊name: pdf␊description: x␊---␊x"
      When the skills are "skills/**/*.md"
      Then the skill "pdf" is an Agent Skill

  Rule: folders are served without a pattern

    Background:
      Given the file "team/pdf/SKILL.md" holds "---␊name: pdf␊description: d␊---␊# Team"
      And the file "team/house/style.md" holds "# Style"
      And the file "team/README.md" holds "# About the folder"
      And the file "team/.hidden/x.md" holds "# Hidden"
      And the file "team/node_modules/x.md" holds "# Package"
      And the file "mine/pdf/SKILL.md" holds "---␊name: pdf␊description: d␊---␊# Mine"

    Scenario: a folder has skill folders and markdown
      When the folder "team" is served
      Then the skill "pdf" comes from "team/pdf/SKILL.md"
      And the skill "house/style" comes from "team/house/style.md"
      And nothing is skipped

    Scenario: a hidden folder with skills is left out and reported
      Given the file "team/.curated/pdf/SKILL.md" holds "# Curated"
      And the file "team/.claude/skills/mail/SKILL.md" holds "# Mail"
      And the file "team/.git/x/SKILL.md" holds "# History"
      When the folder "team" is served
      Then "team/.curated" is skipped because it "is a hidden folder with skills, which are not served"
      And "team/.claude" is skipped because it ".claude/skills itself to serve them"
      And 2 reports say what is skipped

    Scenario: a hidden folder that is named is served
      Given the file "team/.curated/mail/SKILL.md" holds "# Curated"
      When the folders "team" and "team/.curated" are served
      Then the skill "mail" comes from "team/.curated/mail/SKILL.md"
      And nothing is skipped

    Scenario: a folder that is a skill has its name as id
      When the folder "mine/pdf" is served
      Then the skill "pdf" comes from "mine/pdf/SKILL.md"
      And there is 1 skill

    Scenario: of two folders the first wins
      When the folders "team" and "mine" are served
      Then the skill "pdf" reads "# Team"
      And "mine/pdf/SKILL.md" is skipped because it "has the id `pdf`"

    Scenario: the places where agents keep skills have skill folders only, those of the project first
      Given the file "app/.claude/skills/pdf/SKILL.md" holds "# Project"
      And the file "app/.claude/skills/notes.md" holds "# No skill"
      And the file "home/.agents/skills/pdf/SKILL.md" holds "# User"
      And the file "home/.config/goose/skills/own/SKILL.md" holds "# Own"
      When the skills of the project "app" and of the user "home" are discovered
      Then the skill "pdf" reads "# Project"
      And the skill "own" comes from "home/.config/goose/skills/own/SKILL.md"
      And "home/.agents/skills/pdf/SKILL.md" is skipped because it "has the id `pdf`"
