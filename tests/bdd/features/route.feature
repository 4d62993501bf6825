@pure @engine @route
Feature: routing a request to skills, and resolving their links

  A skill has trigger phrases in its front matter, a plane of a 3md document in its
  `triggers`. `skills::route` ranks the skills by how many of their phrases match a request;
  `skills::resolve` reads a skill together with everything it links to.

  Rule: a phrase matches when all its words are in the request

    Scenario: skills are ranked by matches, then by id
      Given the skill "b" is registered with "---␊triggers: find code, grep␊---␊# Search"
      And the skill "a" is registered with "---␊triggers: [open file, grep]␊---␊No title"
      And the skill "c" is registered with "---␊triggers:␊  - Grep␊  - dance␊---␊# Dance"
      And the skill "d" is registered with "# Silent"
      When I call "skills::route" with:
        """
        {"text": "GREP the code and find it"}
        """
      Then the result is:
        """
        {"matches": [
          {"id": "b", "title": "Search", "score": 2, "matched": ["find code", "grep"]},
          {"id": "a", "title": "a", "score": 1, "matched": ["grep"]},
          {"id": "c", "title": "Dance", "score": 1, "matched": ["Grep"]}
        ]}
        """

    Scenario: nothing matches
      Given the skill "a" is registered with "---␊triggers: find code␊---␊# A"
      When I call "skills::route" with:
        """
        {"text": "finding codes"}
        """
      Then the result is:
        """
        {"matches": []}
        """

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
      When I call "skills::route" with:
        """
        {"text": "grep"}
        """
      Then the result is:
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
