@pure @eval
Feature: testing the routing with requests of one's own

  `skills eval CASES` routes each request of a file of JSON lines `{text, expect}` and compares the
  answer with the skill that is expected: an id, one of several ids, or `null` if abstaining is
  right. A hit counts among the matches, then among the close ones.

  Background:
    Given the file "config.yaml" holds "skills: ['docs/**/*.md']"
    And the file "docs/mail/send.md" holds "# Send mail␊␊Sends an e-mail to a customer."
    And the file "docs/git/commit.md" holds "---␊triggers: write a commit␊---␊# Commit␊␊Commits staged files."

  Rule: the report has shares, abstentions and confusions

    Scenario: every request finds its skill
      Given the file "routes.jsonl" holds:
        """
        {"text": "mail the customer", "expect": "mail/send"}
        {"text": "write a commit", "expect": ["git/commit", "git/amend"]}
        {"text": "will it rain tomorrow", "expect": null}
        """
      When I run "skills eval routes.jsonl --json"
      Then it exits with 0
      And the report is:
        """
        {"cases": 2, "unserved": 1, "hit1": 1.0, "hit3": 1.0, "mrr": 1.0,
         "abstained_right": 1, "abstained_wrong": 0, "confused": [], "missing": [],
         "answered": [], "abstained": [], "unknown": []}
        """

    Scenario: the words that confuse two skills are named
      Given the file "routes.jsonl" holds:
        """
        {"text": "mail the customer", "expect": "mail/send"}
        {"text": "tell a customer about staged files", "expect": "mail/send"}
        """
      When I run "skills eval routes.jsonl --json"
      Then it exits with 0
      And the report has "hit1" 0.5
      And the report has "hit3" 1.0
      And the report has "mrr" 0.75
      And "mail/send" is taken for "git/commit" by the words "files, staged"

    Scenario: the trigger that confuses two skills is named if no word does
      Given the file "docs/git/tag.md" holds "---␊triggers: how to␊---␊# Tag␊␊Marks a release."
      And the file "routes.jsonl" holds:
        """
        {"text": "how to", "expect": "mail/send"}
        """
      When I run "skills eval routes.jsonl --json"
      Then it exits with 0
      And "mail/send" is taken for "git/tag" by the words "how to"

    Scenario: a skill that is not found at all is named
      Given the file "routes.jsonl" holds:
        """
        {"text": "mail the customer", "expect": "mail/sned"}
        """
      When I run "skills eval routes.jsonl --json"
      Then it exits with 0
      And the report has "hit1" 0.0
      And "mail/sned" is missing for "mail the customer"

  Rule: a share that is too low fails

    Scenario Outline: the least share of hits
      Given the file "routes.jsonl" holds:
        """
        {"text": "mail the customer", "expect": "mail/send"}
        {"text": "tell a customer about staged files", "expect": "mail/send"}
        """
      When I run "skills eval routes.jsonl --min-hit1 <share>"
      Then it exits with <code>

      Examples:
        | share | code |
        | 0.5   | 0    |
        | 0.8   | 1    |
        | 80    | 2    |

  Rule: triggers that correct a miss are proposed

    Scenario: with the proposed trigger the case is right
      Given the file "routes.jsonl" holds:
        """
        {"text": "mail the customer", "expect": "mail/send"}
        {"text": "tell a customer about staged files", "expect": "mail/send"}
        """
      When I run "skills eval routes.jsonl --suggest"
      Then it exits with 0
      And the output has "mail/send gets the trigger"
      When the trigger that is proposed is added to "docs/mail/send.md"
      And I run "skills eval routes.jsonl --min-hit1 1"
      Then it exits with 0

    Scenario: without a miss there is nothing to correct
      Given the file "routes.jsonl" holds:
        """
        {"text": "mail the customer", "expect": "mail/send"}
        """
      When I run "skills eval routes.jsonl --suggest"
      Then it exits with 0
      And the output has "there is no miss to correct"
      When I run "skills eval routes.jsonl --suggest --json"
      Then the report is:
        """
        {"cases": 1, "unserved": 0, "hit1": 1.0, "hit3": 1.0, "mrr": 1.0,
         "abstained_right": 0, "abstained_wrong": 0, "confused": [], "missing": [],
         "answered": [], "abstained": [], "unknown": [], "suggestions": []}
        """

  Rule: a line that is not a case is named

    Scenario Outline: bad cases
      Given the only case is "<line>"
      When I run "skills eval routes.jsonl"
      Then it exits with 2
      And the error has "<problem>"

      Examples:
        | line                          | problem                         |
        | {'text': 'a'}                 | routes.jsonl:1: missing field   |
        | {'text': ' ', 'expect': null} | routes.jsonl:1: `text` is empty |
        | {'text': 'a', 'expect': 5}    | routes.jsonl:1: `expect` is not |
        |                               | routes.jsonl is empty           |
