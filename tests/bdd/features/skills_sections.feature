@pure @engine @skills_sections
Feature: sections of a text, and budgets of a fetch

  A long skill is read in parts: its headings at `iii://id?toc`, one section at
  `iii://id#heading`. A fetch with a budget is cut at headings and says how to read on.

  Background:
    Given the skill "resend" is registered with:
      """
      # Resend

      Sends email.

      ## Send a mail

      One call.

      ```sh
      # no heading
      ```

      ### Attachments

      Up to 40 MB.

      ## Errors

      Read the code.

      ## Errors

      Once more.
      """

  Rule: one section, or the headings

    Scenario: a section has its subsections
      When I read "iii://resend#send-a-mail"
      Then the text is "## Send a mail␊␊One call.␊␊```sh␊# no heading␊```␊␊### Attachments␊␊Up to 40 MB.␊␊"
      And the mime type is "text/markdown"

    Scenario: headings with the same words are numbered
      When I read "iii://resend#errors-1"
      Then the text is "## Errors␊␊Once more."

    Scenario: the headings with their addresses and sizes
      When I read "iii://resend?toc"
      Then the text is "# Headings of iii://resend␊␊- [Resend](iii://resend#resend) — 154 bytes␊␠␠- [Send a mail](iii://resend#send-a-mail) — 82 bytes␊␠␠␠␠- [Attachments](iii://resend#attachments) — 31 bytes␊␠␠- [Errors](iii://resend#errors) — 27 bytes␊␠␠- [Errors](iii://resend#errors-1) — 21 bytes␊␊The whole text has 154 bytes.␊"

    Scenario: a text without headings
      Given the skill "plain" is registered with "words"
      When I read "iii://plain?toc"
      Then the text is "# Headings of iii://plain␊␊It has none. The text has 5 bytes.␊"

    Scenario: the output of a function has sections too
      Given the function "w::f" returns the text "# A␊␊one␊␊# B␊␊two"
      When I fetch "iii://fn/w/f#b"
      Then the text is "# iii://fn/w/f#b␊␊# B␊␊two"

    Scenario Outline: a heading that is not there
      When I read "<uri>"
      Then it fails as "not_found"
      And the message says all of:
        | heading not found: <uri> |
        | <hint>                   |

      Examples:
        | uri                  | hint                                        |
        | iii://resend#error   | did you mean `iii://resend#errors`?         |
        | iii://resend#zebra   | `#resend`, `#send-a-mail`, `#attachments`   |

  Rule: a fetch within a budget

    Scenario: what does not fit is cut at a heading
      Given the skill "long" is registered with "# A␊␊one␊␊# B␊␊xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
      When I call "skill::fetch" with:
        """
        {"uri": "iii://long", "max_tokens": 90}
        """
      Then the text is "# iii://long␊␊# A␊␊one␊␊[cut: 8 of 375 bytes are shown; read on at iii://long#b; iii://long?toc has all]"

    Scenario: a text without headings is cut before a block
      Given the skill "long" is registered with "one␊␊xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
      When I call "skill::fetch" with:
        """
        {"uri": "iii://long", "max_tokens": 90}
        """
      Then the text is "# iii://long␊␊one␊␊[cut: 3 of 365 bytes are shown; all of iii://long needs max_tokens 95]"

    Scenario: a budget of nothing
      When I call "skill::fetch" with:
        """
        {"uri": "iii://resend", "max_tokens": 0}
        """
      Then it fails as "invalid_input"
      And the message says "max_tokens must be at least 1"

  Rule: a bad address among good ones is an entry with its error, if that was asked for

    Scenario: a partial fetch
      When I call "skill::fetch" with:
        """
        {"uris": ["iii://resend#errors-1", "iii://resnd", "http://x", "iii://resend#errors-1"], "partial": true}
        """
      Then the text is "# iii://resend#errors-1␊␊## Errors␊␊Once more.␊␊---␊␊# iii://resnd␊␊[not read: not_found: skill not found: resnd (did you mean `resend`?)]␊␊---␊␊# `http://x`␊␊[not read: invalid: address `http://x` must start with `iii://` or `skill://` (try `iii://skills`, the index)]"

    Scenario: no address can be read
      When I call "skill::fetch" with:
        """
        {"uris": ["iii://resnd"], "partial": true}
        """
      Then it fails as "not_found"
