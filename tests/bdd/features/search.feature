@pure @engine @search
Feature: searching skills and prompts

  `skills::search` ranks skills and prompts by the words they share with a text, rare words and
  words of the title more than others, and by the meaning of the words. A score from 0 to 1 says
  how likely a match is the right one, `why` which words counted and where they are.

  Background:
    Given the skill "mail/send" is registered with "# Send mail␊␊Sends an e-mail to a customer."
    And the skill "mail/read" is registered with "# Read mail␊␊Lists what is in the inbox.␊␊## Attachments␊␊Saves files."
    And the skill "git/commit" is registered with "# Commit␊␊Commits staged files."

  Rule: words count by where they are

    Scenario: a match has reasons
      When I search for "sending mails to customers"
      Then the best match is "mail/send"
      And "mail/send" has the word "mails" in "id, title, description"
      And "mail/send" has the word "customers" in "description"
      And every score is from 0 to 1, the best first

    Scenario: headings and bodies are searched too
      When I search for "attachments"
      Then the best match is "mail/read"
      And "mail/read" has the word "attachments" in "headings"

    Scenario: a misspelled word is found
      When I search for "comit"
      Then the best match is "git/commit"

    Scenario: the parts of a name are words
      Given the skill "state" is registered with "# state::setValue␊␊Writes a row."
      When I search for "set value"
      Then the best match is "state"

    Scenario: other languages are found by words and by parts of words
      Given the skill "cn" is registered with "# 发票␊␊创建新的发票并发送给客户。"
      When I search for "怎么创建发票"
      Then the matches are "cn"

    Scenario: prompts are found
      Given the prompt "open-pr" is registered for "Opens a pull request."
      When I search for "pull request"
      Then the best match is "open-pr"

  Rule: a change is found by the next search

    Scenario: registered, changed, removed
      When I search for "kubernetes"
      Then the matches are ""
      Given the skill "k8s" is registered with "# Kubernetes"
      When I search for "kubernetes"
      Then the matches are "k8s"
      Given the skill "k8s" is registered with "# Containers"
      When I search for "kubernetes"
      Then the matches are ""

    @in_memory
    Scenario: files are found like registered skills, and a registered skill hides one
      Given a file holds the skill "docs/grep":
        """
        # Find text

        Searches for lines in files.
        """
      When I search for "lines of text"
      Then the matches are "docs/grep"
      Given a file holds the skill "docs/grep":
        """
        # Find something else
        """
      When I search for "lines of text"
      Then the matches are ""
      Given the skill "docs/grep" is registered with "# Kubernetes"
      When I search for "find something else"
      Then the matches are ""

    Scenario: a skill that is only for those who know it
      Given the skill "secret" is registered with "---␊visibility: manual␊---␊# Kubernetes"
      When I search for "kubernetes"
      Then the matches are ""
      When I route "kubernetes"
      Then it abstains, and "" is close

  Rule: matches come in pages

    Scenario: the next page
      When I call "skills::search" with:
        """
        {"text": "mail", "limit": 1}
        """
      Then 2 are found in all
      When I search for the next page of "mail" by 1
      Then 2 are found in all

    Scenario: a cursor from before a change
      When I call "skills::search" with:
        """
        {"text": "mail", "cursor": "10.0123456789abcdef"}
        """
      Then it fails as "invalid_input"
      And the message says "search again without `cursor`"

    Scenario Outline: only ids that begin with a prefix, which may be an address
      When I call "skills::search" with:
        """
        {"text": "mail", "prefix": "<prefix>"}
        """
      Then the matches are "mail/read"

      Examples:
        | prefix       |
        | mail/r       |
        | iii://mail/r |

    Scenario: a limit that is too large
      When I call "skills::search" with:
        """
        {"text": "mail", "limit": 1000}
        """
      Then it fails as "invalid_input"
      And the message says "limit is 1000, not 1 to 100"

    Scenario: an unknown origin
      When I call "skills::search" with:
        """
        {"text": "mail", "origin": "disk"}
        """
      Then it fails as "invalid_input"
      And the message says "use `state`, `fs` or `3md`"

  Rule: a text without words finds nothing

    Scenario Outline: nothing to search for
      When I search for "<text>"
      Then the matches are ""
      And the advice names "skill__list"

      Examples:
        | text       |
        | of the and |
        | !!!        |
