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

  Scenario: a parent that is no skill is a plain item, so that children are below the right parent
    Given registered skills:
      | id                | body   |
      | resend/email/send | # Send |
      | brain             | # Brain |
    When the index is rendered
    Then after its introduction it reads:
      """
      - [`brain`](iii://brain) — Brain
      - `resend/`
        - `resend/email/`
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

  Rule: an index that is too long is folded, and nothing is left out

    A folded line has the address that lists its skills. A skill is listed after at most two
    more reads.

    Background:
      Given registered skills:
        | id             | body                     |
        | brain          | # Brain                  |
        | resend         | # Resend\n\nSends email. |
        | resend/audio   | # Audio                  |
        | resend/email   | # Email\n\nOne mail.     |
        | resend/email/a | # Attachments            |
        | resend/email/b | # Blind copies           |
        | resend/email/c | # Copies                 |
        | resend/email/d | # Drafts                 |
        | resend/email/e | # Errors                 |

    Scenario: the deepest subtrees are folded first
      When the index is rendered within 560 bytes
      Then after its introduction it reads:
        """
        - [`brain`](iii://brain) — Brain
        - [`resend`](iii://resend) — Resend — Sends email.
          - [`resend/audio`](iii://resend/audio) — Audio
          - [`resend/email`](iii://resend/email) — Email — One mail.
            - [`resend/email/`](iii://resend/email/) — 5 skills

        5 of 9 skills are folded: a line that ends with a number of skills stands for them, and its address lists them.
        """

    Scenario: then the subtrees above them
      When the index is rendered within 450 bytes
      Then after its introduction it reads:
        """
        - [`brain`](iii://brain) — Brain
        - [`resend`](iii://resend) — Resend — Sends email.
          - [`resend/`](iii://resend/) — 7 skills

        7 of 9 skills are folded: a line that ends with a number of skills stands for them, and its address lists them.
        """

    Scenario: an address with a slash at its end is the index of a subtree
      When "iii://resend/email/" is rendered within 4096 bytes
      Then after its introduction it reads:
        """
        - [`resend/email`](iii://resend/email) — Email — One mail.
          - [`resend/email/a`](iii://resend/email/a) — Attachments
          - [`resend/email/b`](iii://resend/email/b) — Blind copies
          - [`resend/email/c`](iii://resend/email/c) — Copies
          - [`resend/email/d`](iii://resend/email/d) — Drafts
          - [`resend/email/e`](iii://resend/email/e) — Errors
        """

    Scenario: too many skills on one level become pages
      Given 60 registered skills, `s00` and so on
      When the index is rendered within 900 bytes
      Then after its introduction it reads:
        """
        - [`s00`](iii://skills?from=s00) to `s21` — 22 skills
        - [`s22`](iii://skills?from=s22) to `s43` — 22 skills
        - [`s44`](iii://skills?from=s44) to `s59` — 16 skills

        60 of 60 skills are folded: a line that ends with a number of skills stands for them, and its address lists them.
        """
      When "iii://skills?from=s52" is rendered within 900 bytes
      Then after its introduction it reads:
        """
        - [`s52`](iii://s52) — s52
        - [`s53`](iii://s53) — s53
        - [`s54`](iii://s54) — s54
        - [`s55`](iii://s55) — s55
        - [`s56`](iii://s56) — s56
        - [`s57`](iii://s57) — s57
        - [`s58`](iii://s58) — s58
        - [`s59`](iii://s59) — s59
        """
