@pure @engine @skills_register
Feature: registering skills

  A worker stores a markdown body under an id with `skills::register` and removes it with
  `skills::unregister`. `skills::list` returns the entries without the bodies.

  Rule: a registered skill is listed and can be read at once

    Scenario: registering
      When I register the skill "resend" with:
        """
        # Resend

        Sends email.
        """
      Then the result is:
        """
        {"id": "resend", "registered_at": "{time}"}
        """
      And the list of skills is:
        | id     | bytes | origin |
        | resend | 22    | state  |

    Scenario: nothing is registered
      Then the list of skills is empty

    Scenario: the list is in byte order of the ids
      Given the skill "b" is registered
      And the skill "a/b" is registered
      And the skill "a-c" is registered
      And the skill "a" is registered
      Then the list of skills is:
        | id  | bytes | origin |
        | a   | 3     | state  |
        | a-c | 5     | state  |
        | a/b | 5     | state  |
        | b   | 3     | state  |

    Scenario: bytes are the body's length in UTF-8
      Given the skill "crab" is registered with "🦀é"
      Then the list of skills is:
        | id   | bytes | origin |
        | crab | 6     | state  |

    Scenario: a body is returned byte for byte
      Given the skill "odd" is registered with "␠# Odd␍␊␊trailing␠␠␊␊␀"
      When I read "iii://odd"
      Then the text is "␠# Odd␍␊␊trailing␠␠␊␊␀"

  Rule: registering again replaces the body

    Scenario: another body
      Given the skill "resend" is registered with "old"
      When I register the skill "resend" with "new body"
      Then the list of skills is:
        | id     | bytes | origin |
        | resend | 8     | state  |
      And the second registration is later than the first

    Scenario: the same body refreshes the time
      Given the skill "resend" is registered with "same"
      When I register the skill "resend" with "same"
      Then the second registration is later than the first

  Rule: unregistering is idempotent

    Scenario: an existing skill is removed
      Given the skill "resend" is registered
      When I unregister the skill "resend"
      Then the result is:
        """
        {"id": "resend", "removed": true}
        """
      And the list of skills is empty

    Scenario: an unknown skill is not an error
      When I unregister the skill "resend"
      Then the result is:
        """
        {"id": "resend", "removed": false}
        """

    Scenario: a second time removes nothing
      Given the skill "resend" is registered
      When I unregister the skill "resend"
      And I unregister the skill "resend"
      Then the result is:
        """
        {"id": "resend", "removed": false}
        """

    Scenario: children of a removed skill stay
      Given the skill "resend" is registered
      And the skill "resend/email" is registered
      When I unregister the skill "resend"
      Then the list of skills is:
        | id           | bytes | origin |
        | resend/email | 14    | state  |

  Rule: invalid ids are refused and not stored

    Scenario Outline: invalid ids
      When I register the skill "<id>"
      Then it fails as "invalid_input"
      And the message says "<message>"
      And scope "skills" holds no rows

      Examples:
        | id            | message              |
        |               | id must be non-empty |
        | ␠␉            | id must be non-empty |
        | /resend       | non-empty            |
        | resend/       | non-empty            |
        | resend//email | non-empty            |
        | Resend        | lowercase            |
        | re send       | lowercase            |
        | resend␇       | lowercase            |
        | re␀send       | lowercase            |
        | resend.md     | lowercase            |
        | é             | lowercase            |
        | fn            | reserved             |
        | fn/x          | reserved             |
        | skills        | reserved             |

    Scenario Outline: ids similar to reserved ones
      When I register the skill "<id>"
      Then it succeeds

      Examples:
        | id        |
        | docs/fn   |
        | docs/fn-x |
        | fn-x      |
        | skills/x  |
        | x/skills  |

    Scenario Outline: ids at the limits
      When I register a skill with an id of <size>
      Then it <result>

      Examples:
        | size                         | result                   |
        | 63 "a"s                      | succeeds                 |
        | 64 "a"s                      | succeeds                 |
        | 65 "a"s                      | fails as "invalid_input" |
        | 1024 bytes in short segments | succeeds                 |
        | 1025 bytes in short segments | fails as "invalid_input" |

    Scenario Outline: messages about length
      When I register a skill with an id of <size>
      Then it fails as "invalid_input"
      And the message says "too long"

      Examples:
        | size                         |
        | 65 "a"s                      |
        | 1025 bytes in short segments |

    Scenario Outline: unregistering checks the id too
      When I unregister the skill "<id>"
      Then it fails as "invalid_input"

      Examples:
        | id     |
        |        |
        | Resend |
        | fn/x   |

  Rule: a body has 1 to 262,144 bytes

    Scenario Outline: at the limit
      When I register the skill "big" with a body of <body>
      Then it succeeds
      And reading "iii://big" gives 262144 bytes

      Examples:
        | body                    |
        | 262144 "a"s             |
        | 131072 "é"s             |
        | 65536 "🦀"s             |
        | 262142 "a"s and one "é" |

    Scenario Outline: above it
      When I register the skill "big" with a body of <body>
      Then it fails as "invalid_input"
      And the message says "too large"
      And scope "skills" holds no rows

      Examples:
        | body                    |
        | 262145 "a"s             |
        | 131073 "é"s             |
        | 262143 "a"s and one "é" |

    Scenario Outline: blank bodies
      When I register the skill "empty" with "<body>"
      Then it fails as "invalid_input"
      And the message says "non-empty"
      And scope "skills" holds no rows

      Examples:
        | body |
        |      |
        | ␠␊␉  |

    Scenario: a refused body leaves the old one in place
      Given the skill "resend" is registered with "old"
      When I register the skill "resend" with a body of 262145 "a"s
      Then it fails as "invalid_input"
      And reading "iii://resend" gives 3 bytes

  Rule: rows in state keep their shape

    Rows of earlier versions are read, and earlier versions can read rows of this one.

    Scenario: the row of a skill
      When I register the skill "resend" with "# Resend"
      Then the row "resend" in scope "skills" is:
        """
        {"id": "resend", "skill": "# Resend", "registered_at": "{time}"}
        """

    Scenario: a row with unknown fields
      Given another worker wrote the row "old" in scope "skills":
        """
        {"id": "old", "skill": "# Old", "registered_at": "2025-01-01T00:00:00Z", "owner": {"team": 7}}
        """
      When I read "iii://old"
      Then the text is "# Old"
      And the row "old" in scope "skills" is:
        """
        {"id": "old", "skill": "# Old", "registered_at": "{time}", "owner": {"team": 7}}
        """

    Scenario: a row written by another worker is served without a restart
      Given the skill "resend" is registered
      And the list of skills was requested
      When another worker writes the row "new" in scope "skills":
        """
        {"id": "new", "skill": "# New", "registered_at": "2025-01-01T00:00:00Z"}
        """
      Then the list of skills is:
        | id     | bytes | origin |
        | new    | 5     | state  |
        | resend | 8     | state  |

  Rule: the list can be read page by page

    Background:
      Given these skills are registered:
        | id | body |
        | a  | A    |
        | b  | B    |
        | c  | C    |

    Scenario: a page has a cursor for the next one
      When I call "skills::list" with:
        """
        {"limit": 2}
        """
      Then the list has "a, b" of 3 skills and the cursor "after:b"
      When I call "skills::list" with:
        """
        {"limit": 2, "cursor": "after:b"}
        """
      Then the list has "c" of 3 skills and the cursor ""

    Scenario: the skill that a cursor names is gone
      When I unregister the skill "b"
      And I call "skills::list" with:
        """
        {"limit": 2, "cursor": "after:b"}
        """
      Then the list has "c" of 2 skills and the cursor ""

    Scenario Outline: a page that cannot be
      When I call "skills::list" with:
        """
        <payload>
        """
      Then it fails as "invalid_input"
      And the message says "<message>"

      Examples:
        | payload            | message                                               |
        | {"cursor": "7"}    | cursor `7` is not from this list (leave it out        |
        | {"limit": 0}       | limit must be a number from 1 to 1000, not 0          |
