@pure @engine @skills_nested
Feature: skills below skills

  Ids nest with slashes, so that a parent can link to its children. The parent does not
  have to exist. The index shows the tree.

  Scenario: every level has its own address
    Given these skills are registered:
      | id                | body              |
      | resend            | # Resend          |
      | resend/email      | # Email           |
      | resend/email/send | # Send\n\nOne go. |
    When I fetch all of:
      | iii://resend/email/send |
      | iii://resend/email      |
      | iii://resend            |
    Then the text is:
      """
      # iii://resend/email/send

      # Send

      One go.

      ---

      # iii://resend/email

      # Email

      ---

      # iii://resend

      # Resend
      """

  Scenario: the index is a tree: children follow their parent
    Given these skills are registered:
      | id                | body                      |
      | resend-old        | # Old                     |
      | resend/email/send | # Send                    |
      | resend            | # Resend\n\nSends email.  |
      | brain             | # Brain                   |
      | resend/email      | # Email\n\nAll about it.  |
    Then the index lists:
      """
      - [`brain`](iii://brain) — Brain
      - [`resend`](iii://resend) — Resend — Sends email.
        - [`resend/email`](iii://resend/email) — Email — All about it.
          - [`resend/email/send`](iii://resend/email/send) — Send
      - [`resend-old`](iii://resend-old) — Old
      """

  Scenario: lists keep byte order
    Given the skill "a/b" is registered
    And the skill "a-c" is registered
    And the skill "a" is registered
    Then the list of skills is:
      | id  | bytes | origin |
      | a   | 3     | state  |
      | a-c | 5     | state  |
      | a/b | 5     | state  |

  Scenario: a child without a parent
    Given the skill "resend/email/send" is registered with "# Send"
    And the skill "brain" is registered with "# Brain"
    Then the index lists:
      """
      - [`brain`](iii://brain) — Brain
      - `resend/`
        - `resend/email/`
          - [`resend/email/send`](iii://resend/email/send) — Send
      """
    And reading "iii://resend/email/send" gives 6 bytes

  Scenario: an unregistered parent is not found
    Given the skill "resend/email/send" is registered
    When I read "iii://resend/email"
    Then it fails as "not_found"

  Scenario: the index follows every change
    Given the skill "a" is registered with "# Before"
    And the index was read
    And the skill "a" is registered with "# After"
    And the skill "a/b" is registered with "# Child"
    Then the index lists:
      """
      - [`a`](iii://a) — After
        - [`a/b`](iii://a/b) — Child
      """

  Scenario: a skill and a function path can have the same name
    Given the skill "docs/fn/x" is registered with "a body"
    And the function "x" returns the text "an answer"
    When I fetch all of:
      | iii://docs/fn/x |
      | iii://fn/x      |
    Then the text is:
      """
      # iii://docs/fn/x

      a body

      ---

      # iii://fn/x

      an answer
      """

  Scenario: a skill below `skills` is not the index
    Given the skill "brain" is registered with "# Brain"
    And the skill "skills/writing" is registered with "# Writing"
    Then reading "iii://skills/writing" gives 9 bytes
    And the index lists:
      """
      - [`brain`](iii://brain) — Brain
      - `skills/`
        - [`skills/writing`](iii://skills/writing) — Writing
      """
