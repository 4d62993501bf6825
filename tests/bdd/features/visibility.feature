@pure @engine @visibility
Feature: who sees a skill

  `visibility:` in the front matter of a skill says whether the index, search and routing offer it. A
  pattern in the configuration decides before the front matter.

  Background:
    Given the skill "plain" is registered with "# Plain␊␊Words."

  Scenario: name-only, in the index without its description
    Given the skill "brief" is registered with "---␊visibility: name-only␊---␊# Brief␊␊Long words."
    When I read "iii://brief/"
    Then the text is "# Skills␊␊Those at `brief` and below it.␊␊- [`brief`](iii://brief) — Brief␊"

  Scenario: pinned, in the index whatever its budget
    Given the skill "rules" is registered with "---␊visibility: pinned␊---␊# Rules"
    When I call "skills::index" with:
      """
      {"budget_tokens": 10}
      """
    Then the result is:
      """
      {"text": "# Skills\n\n- [`rules`](iii://rules) — Rules\n- [1 of 2 skills folded](iii://skills?pages)\n", "included": 1, "folded": 1, "omitted": 0}
      """

  Scenario: manual, listed and readable, and not in the index
    Given the skill "secret" is registered with "---␊visibility: manual␊---␊# Secret"
    When I call "skills::index" with:
      """
      {"budget_tokens": 10}
      """
    Then the result is:
      """
      {"text": "# Skills\n\n- [1 of 1 skill folded](iii://skills?pages)\n", "included": 0, "folded": 1, "omitted": 0}
      """
    When I read "iii://secret"
    Then it succeeds
    And the list of skills is:
      | id     | bytes | origin |
      | plain  | 15    | state  |
      | secret | 35    | state  |

  Scenario: off, not served
    Given the skill "old" is registered with "---␊visibility: off␊---␊# Old"
    When I read "iii://old"
    Then it fails as "not_found"
    And the list of skills is:
      | id    | bytes | origin |
      | plain | 15    | state  |

  Scenario: an unknown value counts as auto
    Given the skill "odd" is registered with "---␊visibility: pined␊---␊# Odd␊␊Words."
    When I read "iii://odd/"
    Then the text is "# Skills␊␊Those at `odd` and below it.␊␊- [`odd`](iii://odd) — Odd — Words.␊"
