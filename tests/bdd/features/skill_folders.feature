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

    Scenario: what cannot be read is a part of the body
      Given the file "skills/a.md" holds "---␊name: [a␊---␊Body"
      When the skills are "skills/*.md"
      Then the body of "a" is "---␊name: [a␊---␊Body"
      And there is a warning about "skills/a.md" that says "cannot be read"

  Rule: what the Agent Skills specification rejects is served, with the reason

    Scenario Outline: reasons
      Given the file "skills/pdf/SKILL.md" holds "<text>"
      When the skills are "skills/**/*.md"
      Then the skill "pdf" is no Agent Skill because it "<reason>"

      Examples:
        | text                                              | reason                  |
        | # PDF                                             | has no front matter     |
        | ---␊name: pdf␊---␊x                             | has no `description`    |
        | ---␊name: other␊description: x␊---␊x            | but its folder is `pdf` |
        | ---␊name: pdf␊description: Use: it␊---␊x        | was repaired            |
        | ---␊name: pdf␊description: x␊metadata: 5␊---␊x | is not a map            |
        | ---␊name: pdf␊description: x␊license:␊---␊x    | without a value         |
        | ---␊name: pdf␊description: x␊day: 2026-01-31␊---␊x | read as a date      |
        | ---␊name: pdf␊description: x␊license: no␊---␊x | read as true or false   |

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
