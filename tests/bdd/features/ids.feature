@pure @ids
Feature: names and limits

  Names are checked once, when they are parsed. The message has the value and the rule.
  Invisible characters are written as symbols here: ␀ is NUL, ␇ a bell, ␉ a tab, ␊ a line
  feed, ␠ a space.

  Rule: a skill id is one or more segments of a-z, 0-9, _ and -, joined by slashes

    Scenario Outline: valid ids
      When I check the id "<id>"
      Then it keeps the rules

      Examples:
        | id                |
        | a                 |
        | 7                 |
        | _                 |
        | -                 |
        | resend            |
        | resend/email/send |
        | web_search-2      |
        | a/b/c/d/e/f/g/h   |

    Scenario Outline: invalid ids
      When I check the id "<id>"
      Then it is refused: "<message>"

      Examples: blank
        | id  | message              |
        |     | id must be non-empty |
        | ␠   | id must be non-empty |
        | ␉␊  | id must be non-empty |

      Examples: empty segments
        | id            | message   |
        | /             | non-empty |
        | /resend       | non-empty |
        | resend/       | non-empty |
        | resend//email | non-empty |

      Examples: other characters
        | id         | message   |
        | Resend     | lowercase |
        | a/B        | lowercase |
        | re send    | lowercase |
        | ␠resend    | lowercase |
        | resend␊    | lowercase |
        | resend.md  | lowercase |
        | a::b       | lowercase |
        | a\\b       | lowercase |
        | é          | lowercase |
        | ｒesend    | lowercase |
        | re␀send    | lowercase |
        | re␇send    | lowercase |
        | resend␡    | lowercase |
        | ..         | lowercase |

    Scenario Outline: a segment has at most 64 characters
      When I check an id <of>
      Then the verdict is: <verdict>

      Examples:
        | of                             | verdict |
        | of 63 "a"s                     | fine    |
        | of 64 "a"s                     | fine    |
        | of 65 "a"s                     | invalid |
        | whose last segment is 64 "a"s  | fine    |
        | whose last segment is 65 "a"s  | invalid |

    Scenario: the message about a long segment has its length
      When I check an id of 65 "a"s
      Then it is refused: "too long: 65 characters, at most 64"

    Scenario Outline: the whole id has at most 1024 bytes
      When I check an id of <bytes> bytes in short segments
      Then the verdict is: <verdict>

      Examples:
        | bytes | verdict |
        | 1023  | fine    |
        | 1024  | fine    |
        | 1025  | invalid |

    Scenario: the message about a long id has its length
      When I check an id of 1025 bytes in short segments
      Then it is refused: "too long: 1025 bytes, at most 1024"

  Rule: two ids are reserved

    `iii://skills` is the index, and `iii://fn/...` calls functions. A body under such an
    id could not be read.

    Scenario Outline: reserved ids and their neighbours
      When I check the id "<id>"
      Then the verdict is: <verdict>

      Examples:
        | id        | verdict |
        | skills    | invalid |
        | skills/x  | fine    |
        | x/skills  | fine    |
        | skill     | fine    |
        | fn        | invalid |
        | fn/x      | invalid |
        | fn-x      | fine    |
        | docs/fn   | fine    |
        | docs/fn-x | fine    |
        | docs/fn/x | fine    |

    Scenario Outline: the message says that the id is reserved
      When I check the id "<id>"
      Then it is refused: "reserved"

      Examples:
        | id     |
        | skills |
        | fn     |
        | fn/x   |

  Rule: a body is not empty and has at most 262,144 bytes

    Scenario Outline: bodies
      When I check <body>
      Then the verdict is: <verdict>

      Examples:
        | body                              | verdict |
        | the body "x"                      | fine    |
        | a body of 262143 "a"s             | fine    |
        | a body of 262144 "a"s             | fine    |
        | a body of 262145 "a"s             | invalid |
        | the body ""                       | invalid |
        | the body "␠␊␉"                    | invalid |

      Examples: bytes count, not characters
        | body                              | verdict |
        | a body of 131072 "é"s             | fine    |
        | a body of 131073 "é"s             | invalid |
        | a body of 262142 "a"s and one "é" | fine    |
        | a body of 262143 "a"s and one "é" | invalid |
        | a body of 65536 "🦀"s             | fine    |
        | a body of 262141 "a"s and one "🦀" | invalid |

    Scenario Outline: messages about bodies
      When I check <body>
      Then it is refused: "<message>"

      Examples:
        | body                              | message                 |
        | the body ""                       | non-empty               |
        | a body of 262145 "a"s             | too large: 262145 bytes |
        | a body of 262143 "a"s and one "é" | too large: 262145 bytes |

  Rule: a prompt name is one segment

    Scenario Outline: valid names
      When I check the prompt name "<name>"
      Then it keeps the rules

      Examples:
        | name       |
        | p          |
        | send-email |
        | review_2   |
        | fn         |
        | skills     |

    Scenario Outline: invalid names
      When I check the prompt name "<name>"
      Then it is refused: "<message>"

      Examples:
        | name       | message                |
        |            | name must be non-empty |
        | ␠␉         | name must be non-empty |
        | Send       | lowercase              |
        | send email | lowercase              |
        | send/email | lowercase              |
        | send.md    | lowercase              |
        | send␀      | lowercase              |
        | é          | lowercase              |

    Scenario Outline: a name has at most 64 characters
      When I check a prompt name of <count> "a"s
      Then the verdict is: <verdict>

      Examples:
        | count | verdict |
        | 63    | fine    |
        | 64    | fine    |
        | 65    | invalid |

    Scenario: the message about a long name
      When I check a prompt name of 65 "a"s
      Then it is refused: "too long"

  Rule: a prompt has a description, a handler, and arguments with unique names

    Scenario Outline: blank values
      When I check the <what> "<value>"
      Then it is refused: "<message>"

      Examples:
        | what        | value | message                       |
        | description |       | description must be non-empty |
        | description | ␠␊    | description must be non-empty |
        | function id |       | function_id must be non-empty |
        | function id | ␠␉    | function_id must be non-empty |

    Scenario: valid arguments
      When I check arguments with the names:
        | to      |
        | subject |
        | Über    |
      Then it keeps the rules

    Scenario Outline: invalid arguments
      When I check arguments with the names:
        | to       |
        | <second> |
      Then it is refused: "<message>"

      Examples:
        | second | message                         |
        | ␠      | argument name must be non-empty |
        | ␉␊     | argument name must be non-empty |
        | to     | duplicate argument name         |
        | ␠to␠   | duplicate argument name         |
