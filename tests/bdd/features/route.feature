@pure @engine @route
Feature: finding the skill for a request, and what it builds on

  A skill declares the phrases that call for it in its front matter, a plane of a 3md document in
  its `triggers`. `skills::route` ranks the skills by how many of their phrases a request holds;
  `skills::resolve` reads one together with everything it links to.

  Rule: a phrase is called for when all its words are in the request

    Scenario: the most phrases win, ties go by id
      Given the skill "b" is registered with "---␊triggers: find code, grep␊---␊# Search"
      And the skill "a" is registered with "---␊triggers: [open file, grep]␊---␊No title"
      And the skill "c" is registered with "---␊triggers:␊  - Grep␊  - dance␊---␊# Dance"
      And the skill "d" is registered with "# Silent"
      When I call "skills::route" with:
        """
        {"text": "GREP the code and find it"}
        """
      Then the answer is:
        """
        {"matches": [
          {"id": "b", "title": "Search", "score": 2, "matched": ["find code", "grep"]},
          {"id": "a", "title": "a", "score": 1, "matched": ["grep"]},
          {"id": "c", "title": "Dance", "score": 1, "matched": ["Grep"]}
        ]}
        """

    Scenario: nothing fits
      Given the skill "a" is registered with "---␊triggers: find code␊---␊# A"
      When I call "skills::route" with:
        """
        {"text": "finding codes"}
        """
      Then the answer is:
        """
        {"matches": []}
        """

    Scenario: a request must say something
      When I call "skills::route" with:
        """
        {"text": "  "}
        """
      Then it fails as "invalid_input"
      And the message says "text must be non-empty"

    @in_memory
    Scenario: documents are found like what is registered
      Given a file holds the skill "docs/grep":
        """
        ---
        triggers: grep
        ---
        # Grep
        """
      When I call "skills::route" with:
        """
        {"text": "grep"}
        """
      Then the answer is:
        """
        {"matches": [{"id": "docs/grep", "title": "Grep", "score": 1, "matched": ["grep"]}]}
        """

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
      Then the answer is:
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

    Scenario: a circle ends
      Given the skill "a" is registered with "[b](iii://b) [a](iii://a)"
      And the skill "b" is registered with "[a](iii://a)"
      When I call "skills::resolve" with:
        """
        {"id": "b"}
        """
      Then the answer is:
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

    Scenario: links that lead nowhere are part of the answer
      Given the skill "a" is registered with "[b](iii://gone) [c](iii://Bad) [d](iii://skills) [e](iii://fn/x/y)"
      When I call "skills::resolve" with:
        """
        {"id": "a"}
        """
      Then the answer is:
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

    Scenario: the skill itself must be there
      Given the skill "resend" is registered
      When I call "skills::resolve" with:
        """
        {"id": "resent"}
        """
      Then it fails as "not_found"
      And the message says "resend"

    Scenario: an id that is none
      When I call "skills::resolve" with:
        """
        {"id": "fn/x"}
        """
      Then it fails as "invalid_input"
      And the message says "reserved"
