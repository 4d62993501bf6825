@pure @index
Feature: the index of all skills

  `iii://skills` has one line for each skill, with its address, title and description, as
  a tree.

  Scenario: an empty registry
    When the index is rendered
    Then after its introduction it reads:
      """
      No skills are registered yet.
      """

  Scenario: a line has the address, the title and the description
    Given registered skills:
      | id     | body                       |
      | resend | # Resend\n\nSends email.   |
      | brain  | # Brain                    |
      | notes  | Just words.                |
      | bare   | - nothing but a list       |
    When the index is rendered
    Then after its introduction it reads:
      """
      - [`bare`](iii://bare) — bare
      - [`brain`](iii://brain) — Brain
      - [`notes`](iii://notes) — notes — Just words.
      - [`resend`](iii://resend) — Resend — Sends email.
      """

  Scenario: children follow their parent, two spaces deeper
    Byte order would put `a-c` between `a` and `a/b`.

    Given registered skills:
      | id    | body |
      | b     | # b  |
      | a_    | # a_ |
      | a0    | # a0 |
      | a-c   | # a-c |
      | a/b/c | # abc |
      | a/b   | # ab |
      | a     | # a  |
    When the index is rendered
    Then after its introduction it reads:
      """
      - [`a`](iii://a) — a
        - [`a/b`](iii://a/b) — ab
          - [`a/b/c`](iii://a/b/c) — abc
      - [`a-c`](iii://a-c) — a-c
      - [`a0`](iii://a0) — a0
      - [`a_`](iii://a_) — a_
      - [`b`](iii://b) — b
      """

  Scenario: a child keeps its depth without its parent
    Given registered skills:
      | id                | body   |
      | resend/email/send | # Send |
      | brain             | # Brain |
    When the index is rendered
    Then after its introduction it reads:
      """
      - [`brain`](iii://brain) — Brain
          - [`resend/email/send`](iii://resend/email/send) — Send
      """

  Scenario Outline: a long description is truncated by characters
    Given a registered skill "long" whose first paragraph is <length> "é"s
    When the index is rendered
    Then its line about "long" ends with <shown> "é"s and "<end>"

    Examples:
      | length | shown | end |
      | 140    | 140   |     |
      | 141    | 140   | ... |

  Scenario: skills from files have their own section
    Given registered skills:
      | id     | body     |
      | resend | # Resend |
    And skill files:
      | id         | body                     |
      | house-b    | # B                      |
      | house      | # House\n\nOur own words. |
      | house/a    | # A                      |
    When the index is rendered
    Then after its introduction it reads:
      """
      - [`resend`](iii://resend) — Resend

      ## Custom skills

      - [`house`](iii://house) — House — Our own words.
        - [`house/a`](iii://house/a) — A
      - [`house-b`](iii://house-b) — B
      """

  Scenario: only files
    Given skill files:
      | id    | body    |
      | house | # House |
    When the index is rendered
    Then after its introduction it reads:
      """
      ## Custom skills

      - [`house`](iii://house) — House
      """
