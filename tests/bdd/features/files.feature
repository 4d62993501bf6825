@pure @fs_sources
Feature: markdown files as skills and prompts

  The configuration has patterns for files. A file that matches is read again for every
  request. A file that cannot be served is reported.

  Rule: the id of a skill is its path without the literal prefix of the pattern and `.md`

    Scenario Outline: ids
      Given the file "<file>" holds "# A title"
      When the skills are "<pattern>"
      Then the skill "<id>" comes from "<file>"
      And nothing is skipped

      Examples:
        | pattern           | file                     | id          |
        | my-skills/**/*.md | my-skills/foo.md         | foo         |
        | my-skills/**/*.md | my-skills/foo/bar.md     | foo/bar     |
        | my-skills/**/*.md | my-skills/foo/bar/baz.md | foo/bar/baz |
        | *.md              | top.md                   | top         |
        | docs/team-a.md    | docs/team-a.md           | team-a      |
        | {docs,notes}/*.md | notes/a.md               | notes/a     |
        | docs/[ab]?.md     | docs/b1.md               | b1          |

    Scenario Outline: paths that are not valid ids
      Given the file "<file>" holds "# A title"
      When the skills are "docs/**"
      Then "<file>" is skipped because it "<reason>"

      Examples:
        | file           | reason                        |
        | docs/README.md | has 'R'; use lowercase        |
        | docs/a b.md    | has ' '; use lowercase        |
        | docs/v1.2.md   | has '.'; use lowercase        |
        | docs/fn/a.md   | must not start with `fn`      |
        | docs/skills.md | which is reserved             |
        | docs/a.txt     | does not end in `.md`         |

  Rule: front matter is not part of a skill

    Scenario: the body begins after it
      Given the file "docs/a.md" holds:
        """
        ---
        owner: docs
        ---
        # A
        """
      When the skills are "docs/*.md"
      Then the skill "a" reads "# A"

    Scenario: an edit is served by the next read
      Given the file "docs/a.md" holds "# One"
      When the skills are "docs/*.md"
      Then the skill "a" reads "# One"
      When the file "docs/a.md" is changed to "# Two"
      Then the skill "a" reads "# Two"

    Scenario: a file without text is skipped
      Given the file "docs/a.md" holds " "
      When the skills are "docs/*.md"
      Then "docs/a.md" is skipped because it "is empty"

  Rule: a prompt begins with front matter that describes it

    Scenario: the name is the file's, the text follows the front matter
      Given the file "prompts/open-pr.md" holds:
        """
        ---
        description: Opens a pull request.
        ---
        Open a pull request.
        """
      When the prompts are "prompts/*.md"
      Then the prompt "open-pr" comes from "prompts/open-pr.md"
      And the prompt "open-pr" says "Open a pull request."

    Scenario: the front matter can set the name
      Given the file "prompts/a.md" holds:
        """
        ---
        name: open-pr
        description: Opens a pull request.
        ---
        Open a pull request.
        """
      When the prompts are "prompts/*.md"
      Then the prompt "open-pr" comes from "prompts/a.md"

    Scenario: a colon without quotes is repaired, with a warning
      Given the file "prompts/a.md" holds:
        """
        ---
        description: Use it often: it is good.
        ---
        Open a pull request.
        """
      When the prompts are "prompts/*.md"
      Then the prompt "a" comes from "prompts/a.md"
      And there is a warning about "prompts/a.md" that says "put it in quotes"

    Scenario Outline: invalid front matter
      Given the file "prompts/a.md" holds "<text>"
      When the prompts are "prompts/*.md"
      Then "prompts/a.md" is skipped because it "<reason>"

      Examples:
        | text                                | reason                  |
        | # Hi                                | has no front matter     |
        | ---␊description: x                 | is not closed           |
        | ---␊- x␊---␊Hi                   | is not a map            |
        | ---␊name: a␊---␊Hi               | has no `description`    |
        | ---␊description: ''␊---␊Hi       | an empty `description`  |
        | ---␊description: 5␊---␊Hi        | is a number             |
        | ---␊a: 1␊a: 2␊---␊Hi            | cannot be read          |
        | ---␊description: x␊---␊          | has no text             |

  Rule: a prompt can declare arguments, which are checked before it is rendered

    Background:
      Given the file "prompts/mail.md" holds:
        """
        ---
        description: Writes a mail.
        arguments:
          - name: to
            description: Who gets it.
            required: true
          - name: tone
            enum: [short, formal]
            default: short
          - cc
        ---
        {{to}}, {{tone}}, [{{cc}}]. $1: $2. All: $ARGUMENTS.
        """
      When the prompts are "prompts/*.md"

    Scenario: a menu shows them
      Then the prompt "mail" takes:
        | name | required | description                                 |
        | to   | yes      | Who gets it.                                |
        | tone | no       | one of `short`, `formal`; default `short`   |
        | cc   | no       |                                             |

    Scenario Outline: `{{name}}`, `$1` and `$ARGUMENTS` are their values
      Then the prompt "mail" with "<arguments>" says "<text>"

      Examples:
        | arguments                | text                                                    |
        | to=Ada                   | Ada, short, []. Ada: short. All: Ada short.             |
        | to=Ada tone=formal cc=Bo | Ada, formal, [Bo]. Ada: formal. All: Ada formal Bo.     |
        | to={{cc}} cc=$1          | {{cc}}, short, [$1]. {{cc}}: short. All: {{cc}} short $1. |

    Scenario Outline: values that do not fit
      Then the prompt "mail" with "<arguments>" fails: "<message>"

      Examples:
        | arguments          | message                                                                           |
        | tone=formal        | prompt `mail` is missing required argument `to`                                   |
        | to=Ada tone=formel | argument `tone` of prompt `mail` cannot be `formel` (did you mean `formal`?)       |
        | to=Ada tone=loud   | argument `tone` of prompt `mail` cannot be `loud` (use one of short, formal)      |
        | to=Ada bcc=Bo      | prompt `mail` has no argument `bcc` (did you mean `cc`?)                          |

    Scenario: a name that is not declared stays, with a warning
      Given the file "prompts/a.md" holds:
        """
        ---
        description: d
        arguments: [to]
        ---
        {{too}}
        """
      When the prompts are "prompts/*.md"
      Then the prompt "a" with "to=Ada" says "{{too}}"
      And there is a warning about "prompts/a.md" that says "add `too` to `arguments`"

    Scenario Outline: declarations that cannot be used
      Given the file "prompts/a.md" holds "---␊description: d␊arguments: <arguments>␊---␊Hi"
      When the prompts are "prompts/*.md"
      Then "prompts/a.md" is skipped because it "<reason>"

      Examples:
        | arguments                          | reason                      |
        | {a: b}                             | is not a list               |
        | [a b]                              | use letters, digits         |
        | [a, a]                             | duplicate argument name `a` |
        | [{name: a, enum: [b], default: c}] | not one of its `enum`       |

    Scenario: without declared arguments the text stays as it is
      Given the file "prompts/a.md" holds "---␊description: d␊---␊It costs $1 {{a}}"
      When the prompts are "prompts/*.md"
      Then the prompt "a" with "x=1" says "It costs $1 {{a}}"

  Rule: one file, one id

    Scenario: the first pattern that matches a file gives it its id
      Given the file "docs/x/a.md" holds "# A"
      When the skills are "docs/**/*.md" and "docs/x/*.md"
      Then the skill "x/a" comes from "docs/x/a.md"
      And there is 1 skill
      And nothing is skipped

    Scenario: of two files with one id the first path is served
      Given the file "b/a.md" holds "# From b"
      And the file "a/a.md" holds "# From a"
      When the skills are "b/*.md" and "a/*.md"
      Then the skill "a" comes from "a/a.md"
      And the skill "a" reads "# From a"
      And "b/a.md" is skipped because it "has the id `a`"

  Rule: an unusable pattern is reported

    Scenario Outline: patterns
      When the skills are "<pattern>"
      Then the pattern "<pattern>" is reported because it "<reason>"

      Examples:
        | pattern     | reason                 |
        | docs/*.md   | matches no file        |
        | docs/[a.md  | is not a valid pattern |
        | docs/       | names a folder         |

  Rule: the front matter of a skill says who sees it

    Scenario: a skill that is off is not served and named
      Given the file "docs/a.md" holds "---␊visibility: off␊---␊# A"
      And the file "docs/b.md" holds "# B"
      When the skills are "docs/*.md"
      Then there is 1 skill
      And "docs/a.md" is skipped because it "is off by `visibility: off` in its front matter"

    Scenario: an unknown value is a warning that names the nearest one
      Given the file "docs/a.md" holds "---␊visibility: pined␊---␊# A"
      When the skills are "docs/*.md"
      Then there is 1 skill
      And there is a warning about "docs/a.md" that says "`pined` is not a visibility; did you mean `pinned`? It counts as `auto`."
