@pure @markdown
Feature: the title and description of a skill

  Lists and the index show the title and the description of a skill. Both are plain text
  from the markdown as a CommonMark parser reads it.

  Rule: the title is the first level-1 heading

    Scenario: a heading with hashes
      Given the document:
        """
        # Resend

        Sends email.
        """
      Then its title is "Resend"
      And its description is "Sends email."

    Scenario: an underlined heading
      Given the document:
        """
        Resend
        ======

        Sends email.
        """
      Then its title is "Resend"

    Scenario: a second level-1 heading is ignored
      Given the document:
        """
        # First

        # Second
        """
      Then its title is "First"

    Scenario: deeper headings are not titles
      Given the document:
        """
        ## Usage

        Call it.
        """
      Then it has no title
      And its description is "Call it."

    Scenario: a title after the first paragraph
      Given the document:
        """
        Sends email.

        # Resend
        """
      Then its title is "Resend"
      And its description is "Sends email."

    Scenario: a title far down the document
      Given a document with 2000 list items before the title "Late"
      Then its title is "Late"

  Rule: the description is the first paragraph that is not a heading, on one line

    Scenario: line breaks become spaces
      Given the document:
        """
        # Resend

        Sends email
        through one API.

        Second paragraph.
        """
      Then its description is "Sends email through one API."

    Scenario: headings before the paragraph are skipped
      Given the document:
        """
        # Resend

        ## Overview

        Sends email.
        """
      Then its description is "Sends email."

    Scenario: lists and tables are not paragraphs
      Given the document:
        """
        # Resend

        - fast
        - small

        | a | b |
        |---|---|
        | 1 | 2 |

        Sends email.
        """
      Then its description is "Sends email."

    Scenario: a document with only a title has no description
      Given the document:
        """
        # Resend
        """
      Then its title is "Resend"
      And it has no description

    Scenario Outline: more than 140 characters are truncated, with three dots
      Characters are counted, not bytes: "é" takes two bytes and "🦀" four.

      Given a document titled "Long" whose first paragraph is <length> "<letter>"s
      Then its description is <what is left>

      Examples:
        | length | letter | what is left       |
        | 139    | a      | 139 "a"s           |
        | 140    | a      | 140 "a"s           |
        | 141    | a      | 140 "a"s and "..." |
        | 140    | é      | 140 "é"s           |
        | 141    | é      | 140 "é"s and "..." |
        | 140    | 🦀     | 140 "🦀"s          |
        | 141    | 🦀     | 140 "🦀"s and "..." |
        | 5000   | 🦀     | 140 "🦀"s and "..." |

  Rule: markup is removed

    Scenario Outline: inline markup
      Given the document "<markdown>"
      Then its title is "Title"
      And its description is "<text>"

      Examples:
        | markdown                               | text              |
        | # *Title*␊␊a **bold** word             | a bold word       |
        | # Title␊␊see [the guide](iii://guide)  | see the guide     |
        | # [Title](iii://x)␊␊run `skills serve` | run skills serve  |
        | # Title␊␊a ~~wrong~~ word              | a wrong word      |
        | # Title␊␊![a cat](cat.png) sits        | a cat sits        |
        | # Title␊␊some <b>bold</b> text         | some bold text    |
        | # Title␊␊fish &amp; chips              | fish & chips      |
        | # Title␊␊see [guide]␊␊[guide]: iii://g | see guide         |

    Scenario: a hash line in a code fence is not a heading
      Given the document:
        """
        ```sh
        # install it
        ```

        # Resend

        Sends email.
        """
      Then its title is "Resend"
      And its description is "Sends email."

    Scenario: front matter is not text
      Given the document:
        """
        ---
        owner: Not this
        ---

        # Resend

        Sends email.
        """
      Then its title is "Resend"
      And its description is "Sends email."

    Scenario: front matter decides
      Given the document:
        """
        ---
        title: Resend
        description: Sends email.
        ---

        # Not this

        Nor this.
        """
      Then its title is "Resend"
      And its description is "Sends email."

    Scenario: HTML comments are not text
      Given the document:
        """
        <!-- # Not this -->

        # Resend

        <!-- nor this -->

        Sends email. <!-- nor that -->
        """
      Then its title is "Resend"
      And its description is "Sends email."

    Scenario: Windows line endings and a byte order mark are removed
      Given the document "﻿# Resend␍␊␍␊Sends␍␊email."
      Then its title is "Resend"
      And its description is "Sends email."

  Rule: every document has a title and a description or none

    Bodies are not trusted: a list has one line for each.

    Scenario Outline: documents without text
      Given the document "<markdown>"
      Then it has no title
      And it has no description

      Examples:
        | markdown         |
        |                  |
        | ␠␊␉␊             |
        | #                |
        | ```␊# not closed |
        | <!-- not closed  |
        | - # in a list    |
        | ␀␀␀              |

    Scenario: control characters become spaces
      Given the document "# a␀b␊␊c␇d"
      Then its title is "a b"
      And its description is "c d"

    Scenario Outline: a body that is hard to parse
      Given a document of <count> "<text>"s
      Then its description is short and on one line

      Examples:
        | count  | text   |
        | 262144 | #      |
        | 131072 | #␠     |
        | 100000 | >      |
        | 100000 | >␠     |
        | 100000 | -␠     |
        | 80000  | 1.␠    |
        | 262144 | [      |
        | 65536  | [a](   |
        | 80000  | *a␠    |
        | 262144 | `      |
        | 65536  | <!--   |
        | 131072 | a␊     |
        | 262144 | ␊      |
        | 262144 | ␀      |
