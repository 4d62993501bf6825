@pure @engine @route
Feature: routing a request to skills, and resolving their links

  `skills::route` finds the skills for a request, by the words of the request and their meaning.
  A skill has trigger phrases in its front matter, a plane of a 3md document in its `triggers`: a
  skill with a phrase that matches is always before those without. If no skill serves a request,
  it abstains. `skills::resolve` reads a skill together with everything it links to.

  Rule: a phrase matches when all its words are in the request

    Scenario: skills are ranked by matches
      Given the skill "b" is registered with "---␊triggers: find code, grep␊---␊# Search"
      And the skill "a" is registered with "---␊triggers: [open file, grep]␊---␊No title"
      And the skill "c" is registered with "---␊triggers:␊  - Grep␊  - dance␊---␊# Dance"
      And the skill "d" is registered with "# Silent"
      When I route "GREP the code and find it"
      Then the best match is "b"
      And "a" matched the trigger "grep"
      And "c" matched the trigger "Grep"
      And every score is from 0 to 1, the best first

    Scenario: an empty request is refused
      When I call "skills::route" with:
        """
        {"text": "  "}
        """
      Then it fails as "invalid_input"
      And the message says "text must be non-empty"

    @in_memory
    Scenario: files are found like registered skills
      Given a file holds the skill "docs/grep":
        """
        ---
        triggers: grep
        ---
        # Grep
        """
      When I route "grep"
      Then the matches are "docs/grep"
      And "docs/grep" matched the trigger "grep"

  Rule: without a phrase, words and meaning decide

    Scenario: a skill without triggers
      Given the skill "mail/send" is registered with "# Send mail␊␊Sends an e-mail to a customer."
      And the skill "git/commit" is registered with "# Commit␊␊Commits staged files."
      When I route "please write an e-mail to our customers"
      Then the best match is "mail/send"

    Scenario: the address of a skill, as every answer has it
      Given the skill "mail/send" is registered with "# Send mail␊␊Sends an e-mail to a customer."
      And the skill "git/commit" is registered with "# Commit␊␊Commits staged files."
      When I route "iii://git/commit"
      Then the best match is "git/commit"

    Scenario: prompts are not routed to
      Given the prompt "open-pr" is registered for "Opens a pull request."
      When I route "open a pull request"
      Then it abstains, and "" is close

  Rule: a request that no skill serves gets no answer

    Scenario: nothing has to do with it
      Given the skill "git/commit" is registered with "# Commit␊␊Commits staged files."
      When I route "book a quiet table for two in a restaurant"
      Then it abstains, and "" is close
      And the advice names "skill__list"

    Scenario: the nearest ones are listed, and the folder they are in
      Given the skill "git/commit" is registered with "# Commit␊␊Commits staged files with a message."
      And the skill "git/tag" is registered with "# Tag␊␊Marks a release of files."
      When I route "where are my old holiday photos, in which files did I put the pictures of the beach"
      Then it abstains, and "git/tag git/commit" is close
      And the advice names "git/"

  Rule: a chain is the skill, then depth first what it links to, each once

    Scenario: a diamond
      Given the skill "top" is registered with "[l](iii://left) [r](iii://right)"
      And the skill "left" is registered with "[b](iii://base)"
      And the skill "right" is registered with "[b](iii://base)"
      And the skill "base" is registered with "# Base"
      When I call "skills::resolve" with:
        """
        {"id": "top"}
        """
      Then the result is:
        """
        {
          "skills": [
            {"id": "top", "title": "top", "text": "[l](iii://left) [r](iii://right)"},
            {"id": "left", "title": "left", "text": "[b](iii://base)"},
            {"id": "base", "title": "Base", "text": "# Base"},
            {"id": "right", "title": "right", "text": "[b](iii://base)"}
          ],
          "missing": [],
          "complete": true
        }
        """

    Scenario: a cycle ends
      Given the skill "a" is registered with "[b](iii://b) [a](iii://a)"
      And the skill "b" is registered with "[a](iii://a)"
      When I call "skills::resolve" with:
        """
        {"id": "b"}
        """
      Then the result is:
        """
        {
          "skills": [
            {"id": "b", "title": "b", "text": "[a](iii://a)"},
            {"id": "a", "title": "a", "text": "[b](iii://b) [a](iii://a)"}
          ],
          "missing": [],
          "complete": true
        }
        """

    Scenario: dead links are part of the result
      Given the skill "a" is registered with "[b](iii://gone) [c](iii://Bad) [d](iii://skills) [e](iii://fn/x/y)"
      When I call "skills::resolve" with:
        """
        {"id": "a"}
        """
      Then the result is:
        """
        {
          "skills": [
            {"id": "a", "title": "a", "text": "[b](iii://gone) [c](iii://Bad) [d](iii://skills) [e](iii://fn/x/y)"}
          ],
          "missing": [
            {"uri": "iii://Bad", "from": "a", "reason": "address `iii://Bad`: id segment `Bad` has 'B'; use lowercase letters, digits, `-` and `_`"},
            {"uri": "iii://gone", "from": "a", "reason": "skill not found: gone"}
          ],
          "complete": true
        }
        """

    Scenario: a relative link is followed from the place of a file with the id, and a dead one is named
      Given the skill "docs/a" is registered with "[b](b.md#part) [c](../c) [d](./gone.md) [e](../../e.md)"
      And the skill "docs/b" is registered with "# B"
      And the skill "c" is registered with "# C"
      When I call "skills::resolve" with:
        """
        {"id": "docs/a"}
        """
      Then the result is:
        """
        {
          "skills": [
            {"id": "docs/a", "title": "docs/a", "text": "[b](b.md#part) [c](../c) [d](./gone.md) [e](../../e.md)"},
            {"id": "docs/b", "title": "B", "text": "# B"},
            {"id": "c", "title": "C", "text": "# C"}
          ],
          "missing": [
            {"uri": "./gone.md", "from": "docs/a", "reason": "file not found: docs/gone.md"},
            {"uri": "../../e.md", "from": "docs/a", "reason": "leads out of the skills; link to a file of the skill"}
          ],
          "complete": true
        }
        """

    Scenario: a link to a version leads to the text of that version
      Given the skill "a" is registered with "# Old"
      And the skill "a" is registered with "# New"
      And the skill "b" is registered with "[old](iii://a@1) [gone](iii://a@99)"
      When I call "skills::resolve" with:
        """
        {"id": "b"}
        """
      Then the result is:
        """
        {
          "skills": [
            {"id": "b", "title": "b", "text": "[old](iii://a@1) [gone](iii://a@99)"},
            {"id": "iii://a@1", "title": "Old", "text": "# Old"}
          ],
          "missing": [
            {"uri": "iii://a@99", "from": "b", "reason": "version 99 of skill `a` not found (it has 1, 2)"}
          ],
          "complete": true
        }
        """

    @in_memory
    Scenario: a link to the text of one origin leads to that text
      Given a file holds the skill "a":
        """
        # From a file
        """
      And the skill "a" is registered with "# From a worker"
      And the skill "b" is registered with "[file](iii://@files/a) [none](iii://@agents/a)"
      When I call "skills::resolve" with:
        """
        {"id": "b"}
        """
      Then the result is:
        """
        {
          "skills": [
            {"id": "b", "title": "b", "text": "[file](iii://@files/a) [none](iii://@agents/a)"},
            {"id": "iii://@files/a", "title": "From a file", "text": "# From a file"}
          ],
          "missing": [
            {"uri": "iii://@agents/a", "from": "b", "reason": "skill not found: iii://@agents/a (`iii://a` has a text)"}
          ],
          "complete": true
        }
        """

    Scenario: the skill itself must exist
      Given the skill "resend" is registered
      When I call "skills::resolve" with:
        """
        {"id": "resent"}
        """
      Then it fails as "not_found"
      And the message says "resend"

    Scenario: an invalid id
      When I call "skills::resolve" with:
        """
        {"id": "fn/x"}
        """
      Then it fails as "invalid_input"
      And the message says "reserved"
