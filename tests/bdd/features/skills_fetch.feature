@pure @engine @skills_fetch
Feature: fetching several addresses as one text

  Agents follow iii:// links with `skill::fetch` (workers also with `skills::fetch_skill`)
  and receive one markdown text: a section for each address, in the order of the request.

  Rule: one address, or a list of them

    Scenario Outline: both ids are the same function
      Given the skill "resend" is registered with "# Resend"
      When I call "<function>" with:
        """
        {"uri": "iii://resend"}
        """
      Then the text is:
        """
        # iii://resend

        # Resend
        """

      Examples:
        | function            |
        | skill::fetch        |
        | skills::fetch_skill |

    Scenario: sections are in the order of the request, with a rule between them
      Given the skill "b" is registered with "body of b"
      And the skill "a" is registered with "body of a"
      And the function "w::f" returns the text "answer of w::f"
      When I fetch all of:
        | iii://b      |
        | iii://fn/w/f |
        | iii://a      |
      Then the text is:
        """
        # iii://b

        body of b

        ---

        # iii://fn/w/f

        answer of w::f

        ---

        # iii://a

        body of a
        """

    Scenario: white space at the end of a section is removed
      Given the skill "a" is registered with "␠␠first␠␠␊␊␉␊"
      And the skill "b" is registered with "second␊␊␊"
      When I fetch all of:
        | iii://a |
        | iii://b |
      Then the text is "# iii://a␊␊␠␠first␊␊---␊␊# iii://b␊␊second"

    Scenario: JSON results are sections
      Given the function "w::f" returns:
        """
        {"up": true}
        """
      When I fetch "iii://fn/w/f"
      Then the text is:
        """
        # iii://fn/w/f

        {
          "up": true
        }
        """

    Scenario Outline: the list takes precedence over the single address unless it is empty
      Given the skill "one" is registered with "from uri"
      And the skill "two" is registered with "from uris"
      When I call "skill::fetch" with:
        """
        <payload>
        """
      Then the text is "# iii://<id>␊␊<text>"

      Examples:
        | payload                                      | id  | text      |
        | {"uri": "iii://one", "uris": ["iii://two"]}  | two | from uris |
        | {"uri": "bad", "uris": ["iii://two"]}        | two | from uris |
        | {"uri": "iii://one", "uris": []}             | one | from uri  |
        | {"uri": "iii://one", "uris": null}           | one | from uri  |
        | {"uri": null, "uris": ["iii://two"]}         | two | from uris |

    Scenario: an address given twice is read once
      Given the function "w::f" returns the text "once"
      And the skill "a" is registered with "body"
      When I fetch all of:
        | iii://fn/w/f |
        | iii://a      |
        | iii://fn/w/f |
        | iii://a      |
      Then the text is:
        """
        # iii://fn/w/f

        once

        ---

        # iii://a

        body
        """
      And the function "w::f" was called 1 time

    Scenario: sections are read at the same time
      Given the function "w::one" returns "1" once 3 calls are in progress
      And the function "w::two" returns "2" once 3 calls are in progress
      And the function "w::three" returns "3" once 3 calls are in progress
      When I fetch all of:
        | iii://fn/w/three |
        | iii://fn/w/one   |
        | iii://fn/w/two   |
      Then the text is "# iii://fn/w/three␊␊3␊␊---␊␊# iii://fn/w/one␊␊1␊␊---␊␊# iii://fn/w/two␊␊2"

  Rule: everything is checked before anything is read

    Scenario Outline: no address
      When I call "skill::fetch" with:
        """
        <payload>
        """
      Then it fails as "invalid_input"
      And the message says "Provide uri"

      Examples:
        | payload            |
        | {}                 |
        | null               |
        | {"uri": null}      |
        | {"uri": ""}        |
        | {"uri": "  "}      |
        | {"uris": []}       |
        | {"uris": ["", " "]} |

    Scenario Outline: one invalid address, and no function is called
      Given the function "w::f" returns the text "text"
      When I fetch all of:
        | iii://fn/w/f |
        | <bad>        |
      Then it fails as "<code>"
      And the message says all of:
        | <bad>     |
        | <message> |
      And the function "w::f" was never called

      Examples:
        | bad                | code          | message            |
        | https://example    | invalid_input | iii://             |
        | iii://Resend       | invalid_input | lowercase          |
        | iii://a//b         | invalid_input | non-empty          |
        | iii://fn           | invalid_input | function           |
        | iii://x/worker::fn | not_found     | iii://fn/worker/fn |
        | iii://fn/state/get | forbidden     | internal namespace |

    Scenario: the message has every invalid address
      When I fetch all of:
        | iii://A         |
        | iii://a         |
        | https://example |
        | iii://fn        |
      Then it fails as "invalid_input"
      And the message says all of:
        | iii://A         |
        | https://example |
        | iii://fn        |

  Rule: one unreadable address fails the whole call

    An incomplete text could be taken for the whole.

    Scenario: the message has every failed address and the cause
      Given the skill "good" is registered
      And the function "w::broken" fails with "out of stamps"
      And the function "w::slow" never returns
      When I fetch all of:
        | iii://good        |
        | iii://missing     |
        | iii://fn/w/broken |
        | iii://fn/w/slow   |
        | iii://fn/w/absent |
      Then it fails as "not_found"
      And the message says all of:
        | iii://missing     |
        | not found         |
        | iii://fn/w/broken |
        | out of stamps     |
        | iii://fn/w/slow   |
        | too slow          |
        | iii://fn/w/absent |
        | is absent         |
      And the message does not say "iii://good"

    Scenario: a single failure keeps its code and its hint
      Given the skill "resend" is registered
      When I fetch "iii://resnd"
      Then it fails as "not_found"
      And the message says all of:
        | iii://resnd              |
        | did you mean `resend`?   |
