@pure @uri
Feature: what an iii:// address means

  There are three kinds of address: the index, a skill, and the result of a function; and
  addresses of their parts.

  Scenario Outline: addresses
    When I parse "<uri>"
    Then it means <meaning>
    And it prints as "<uri>"

    Examples:
      | uri                        | meaning                       |
      | iii://skills               | the index                     |
      | iii://resend               | the skill resend              |
      | iii://resend/email/send    | the skill resend/email/send   |
      | iii://skills/writing       | the skill skills/writing      |
      | iii://docs/fn              | the skill docs/fn             |
      | iii://docs/fn-x            | the skill docs/fn-x           |
      | iii://fn-x                 | the skill fn-x                |
      | iii://fn/health            | a call to health              |
      | iii://fn/resend/status     | a call to resend::status      |
      | iii://fn/resend/email/send | a call to resend::email::send |
      | iii://fn/skill/fetch       | a call to skill::fetch        |

  Scenario Outline: an encoded address is decoded once
    When I parse "<uri>"
    Then it means <meaning>

    Examples:
      | uri                  | meaning                |
      | iii://guides%2Fstyle | the skill guides/style |
      | iii://fn%2Fa%2fb     | a call to a::b         |

  Scenario Outline: parts of a text and of the index
    When I parse "<uri>"
    Then it means <what>
    And it prints as "<uri>"

    Examples:
      | uri                    | what                            |
      | iii://resend#send-mail | the part iii://resend#send-mail |
      | iii://resend?toc       | the part iii://resend?toc       |
      | iii://fn/resend/a#b    | the part iii://fn/resend/a#b    |
      | skill://pdf/API.md?toc | the part skill://pdf/API.md?toc |
      | iii://resend/          | the index iii://resend/         |
      | iii://skills?pages     | the index iii://skills?pages    |
      | iii://resend/?from=a   | the index iii://resend/?from=a  |

  Scenario Outline: invalid addresses
    When I parse "<uri>"
    Then it is not an address, <kind>: "<message>"

    Examples: foreign schemes
      | uri            | kind    | message                  |
      | https://resend | invalid | must start with `iii://` |
      | III://resend   | invalid | must start with `iii://` |
      | iii:/resend    | invalid | must start with `iii://` |
      | iii:resend     | invalid | must start with `iii://` |
      | resend         | invalid | must start with `iii://` |
      |                | invalid | must start with `iii://` |

    Examples: empty segments
      | uri                 | kind    | message   |
      | iii://              | invalid | non-empty |
      | iii:///resend       | invalid | non-empty |
      | iii://resend//      | invalid | non-empty |
      | iii://resend//email | invalid | non-empty |
      | iii://fn/           | invalid | non-empty |
      | iii://fn//resend    | invalid | non-empty |
      | iii://fn/resend/    | invalid | non-empty |
      | iii://fn/a//b       | invalid | non-empty |

    Examples: a function address without a function
      | uri      | kind    | message                   |
      | iii://fn | invalid | names no function         |
      | iii://fn | invalid | iii://fn/worker/function  |

    Examples: segments that break the id rules
      | uri                   | kind    | message   |
      | iii://Resend          | invalid | lowercase |
      | iii://re send         | invalid | lowercase |
      | iii://resend?x=1      | invalid | unknown query |
      | iii://Resend#top      | invalid | lowercase |
      | iii://resend/../brain | invalid | lowercase |
      | iii://resend%252Fmail | invalid | lowercase |
      | iii://fn%2Fstate%2Fset | forbidden | internal namespace |
      | iii://a%2F..%2Fb      | invalid | lowercase |
      | iii://re␀send         | invalid | lowercase |
      | iii://é               | invalid | lowercase |

    Examples: functions whose id has other characters cannot be reached
      | uri                     | kind    | message   |
      | iii://fn/my.status      | invalid | lowercase |
      | iii://fn/iii.on-connect | invalid | lowercase |
      | iii://fn/resend::status | invalid | lowercase |
      | iii://fn/Resend         | invalid | lowercase |

    Examples: functions of the engine and its bridges
      | uri                      | kind      | message            |
      | iii://fn/state/set       | forbidden | internal namespace |
      | iii://fn/skills/register | forbidden | internal namespace |

  Scenario Outline: long addresses
    When I parse the address of <what>
    Then it <verdict>

    Examples: the whole
      | what                          | verdict                            |
      | an id of 1024 bytes           | means a skill                      |
      | an id of 1025 bytes           | is not an address, invalid: "too long" |
      | a function path of 1024 bytes | means a call                       |
      | a function path of 1025 bytes | is not an address, invalid: "too long" |

    Examples: one segment
      | what                       | verdict                            |
      | an id of 64 "a"s           | means a skill                      |
      | an id of 65 "a"s           | is not an address, invalid: "too long" |
      | a function path of 64 "a"s | means a call                       |
      | a function path of 65 "a"s | is not an address, invalid: "too long" |

  Scenario Outline: links as they were written before function addresses had a prefix
    They point at nothing any more, and the message gives the form to use now.

    When I parse "<old>"
    Then it is not an address, not_found: "not found"
    And it is not an address, not_found: "`<new>`"

    Examples:
      | old                                | new                         |
      | iii://x/worker::fn                 | iii://fn/worker/fn          |
      | iii://brain/brain::summarize       | iii://fn/brain/summarize    |
      | iii://resend/resend::email::status | iii://fn/resend/email/status |
