@pure @engine @skills_resources
Feature: reading skills as resources

  Clients list resources and read each by its address: the index, a registered body, a
  file, or the result of a function.

  Rule: the index comes first, then one resource per skill

    Scenario: titles and descriptions are those of the bodies
      Given these skills are registered:
        | id           | body                     |
        | resend/email | # Email                  |
        | resend       | # Resend\n\nSends email. |
        | notes        | Just words.              |
        | bare         | - a list                 |
      Then the resources are:
        | uri                | name   | description  |
        | iii://bare         | bare   | none         |
        | iii://notes        | notes  | Just words.  |
        | iii://resend       | Resend | Sends email. |
        | iii://resend/email | Email  | none         |

    Scenario: an empty registry has an index
      Then the only resource is the index

    Scenario: a removed skill is not listed
      Given the skill "resend" is registered
      When I unregister the skill "resend"
      Then the only resource is the index
      And the index lists:
        """
        No skills are registered yet.
        """

  Rule: iii://{id} serves the body

    Scenario: a registered body
      Given the skill "resend" is registered with:
        """
        # Resend

        Sends email. More at iii://resend/email.
        """
      When I read "iii://resend"
      Then the mime type is "text/markdown"
      And the text is:
        """
        # Resend

        Sends email. More at iii://resend/email.
        """

    Scenario: the newest body is served
      Given the skill "resend" is registered with "old"
      And the skill "resend" is registered with "new"
      When I read "iii://resend"
      Then the text is "new"

    Scenario: an unknown id is not found
      When I read "iii://resend"
      Then it fails as "not_found"
      And the message says "not found: resend"

    Scenario Outline: the message has the nearest id
      Given the skill "resend" is registered
      And the skill "resend/email" is registered
      And the skill "brain" is registered
      When I read "<uri>"
      Then it fails as "not_found"
      And the message says "did you mean `<nearest>`?"

      Examples:
        | uri                | nearest      |
        | iii://resnd        | resend       |
        | iii://resend/emial | resend/email |
        | iii://email        | resend/email |
        | iii://brian        | brain        |

    @in_memory
    Scenario: the nearest can be a file
      Given a file holds the skill "house/style":
        """
        # House style
        """
      When I read "iii://house/stile"
      Then it fails as "not_found"
      And the message says "did you mean `house/style`?"

    Scenario: without a near id there is no suggestion
      Given the skill "resend" is registered
      When I read "iii://zebra"
      Then it fails as "not_found"
      And the message does not say "did you mean"

  Rule: iii://fn/{a}/{b} serves the result of function a::b

    Scenario: it is called with an empty object, every time
      Given the function "resend::status" returns the text "# All well"
      When I read "iii://fn/resend/status"
      Then the mime type is "text/markdown"
      And the text is "# All well"
      And the function "resend::status" was called once with:
        """
        {}
        """

    Scenario Outline: conversion of results
      Given the function "w::f" returns:
        """
        <answer>
        """
      When I read "iii://fn/w/f"
      Then the mime type is "<mime type>"
      And the text is "<text>"

      Examples: a string, or an object with a string content
        | answer                             | mime type     | text  |
        | "# Hi"                             | text/markdown | # Hi  |
        | ""                                 | text/markdown |       |
        | {"content": "# Hi"}                | text/markdown | # Hi  |
        | {"content": "# Hi", "other": true} | text/markdown | # Hi  |

      Examples: anything else is shown as JSON
        | answer         | mime type        | text                 |
        | 7              | application/json | 7                    |
        | true           | application/json | true                 |
        | null           | application/json | null                 |
        | []             | application/json | []                   |
        | [1, 2]         | application/json | [␊␠␠1,␊␠␠2␊]         |
        | {}             | application/json | {}                   |

    Scenario: JSON is indented
      Given the function "w::f" returns:
        """
        {"content": 5, "up": true}
        """
      When I read "iii://fn/w/f"
      Then the mime type is "application/json"
      And the text is:
        """
        {
          "content": 5,
          "up": true
        }
        """

    Scenario: paths of different depth
      Given the function "health" returns the text "short"
      And the function "a::b::c::d" returns the text "long"
      When I fetch all of:
        | iii://fn/health  |
        | iii://fn/a/b/c/d |
      Then the text is:
        """
        # iii://fn/health

        short

        ---

        # iii://fn/a/b/c/d

        long
        """

    Scenario Outline: a function that fails
      Given <what is wrong>
      When I read "iii://fn/w/f"
      Then it fails as "<code>"
      And the message says all of:
        | w::f        |
        | iii://fn/w/f |
        | <message>   |

      Examples:
        | what is wrong                                  | code        | message   |
        | the function "w::f" fails with "out of stamps" | failed | out of stamps |
        | the function "w::f" never returns              | timed_out   | too slow  |
        | the worker of the function "w::f" has disconnected | not_found   | absent    |
        | the skill "w" is registered                    | not_found   | absent    |

    Scenario Outline: functions of the engine and its bridges are refused before any call
      Given the function "<function>" returns the text "secret"
      When I read "<uri>"
      Then it fails as "forbidden"
      And the message says "internal namespace"
      And the function "<function>" was never called

      Examples:
        | uri                          | function             |
        | iii://fn/engine/functions    | engine::functions    |
        | iii://fn/state/secret        | state::secret        |
        | iii://fn/stream/list         | stream::list         |
        | iii://fn/iii/workers         | iii::workers         |
        | iii://fn/mcp/handler         | mcp::handler         |
        | iii://fn/a2a/send            | a2a::send            |
        | iii://fn/skills/register     | skills::register     |
        | iii://fn/prompts/list        | prompts::list        |

  Rule: an invalid address is refused

    Scenario Outline: invalid addresses
      When I read "<uri>"
      Then it fails as "<code>"
      And the message says "<message>"

      Examples:
        | uri                | code          | message            |
        | https://resend     | invalid_input | iii://             |
        |                    | invalid_input | iii://             |
        | iii://             | invalid_input | non-empty          |
        | iii://a//b         | invalid_input | non-empty          |
        | iii://a//          | invalid_input | non-empty          |
        | iii://a/           | not_found     | iii://a/           |
        | iii://skills/      | invalid_input | reserved           |
        | iii://A            | invalid_input | lowercase          |
        | iii://fn           | invalid_input | iii://fn           |
        | iii://fn/          | invalid_input | non-empty          |
        | iii://fn/w/f.g     | invalid_input | lowercase          |
        | iii://x/worker::fn | not_found     | iii://fn/worker/fn |
        | iii://x/worker::fn | not_found     | not found          |

  Rule: registered skills take precedence over files

    @in_memory
    Scenario: a file is listed and read like any skill
      Given the skill "resend" is registered
      And a file holds the skill "house/style":
        """
        # House style

        How we write.
        """
      Then the list of skills is:
        | id          | bytes | origin |
        | house/style | 28    | fs     |
        | resend      | 8     | state  |
      And the resources are:
        | uri               | name        | description   |
        | iii://house/style | House style | How we write. |
        | iii://resend      | resend      | none          |
      And reading "iii://house/style" gives 28 bytes

    @in_memory
    Scenario: a registered skill hides the file of the same id
      Given a file holds the skill "resend":
        """
        # From a file
        """
      And the skill "resend" is registered with "# From a worker"
      Then the list of skills is:
        | id     | bytes | origin |
        | resend | 15    | state  |
      And reading "iii://resend" gives 15 bytes
      And the index lists:
        """
        - [`resend`](iii://resend) — From a worker (hides iii://@files/)
        """

    @in_memory
    Scenario: the file is served again when the registered skill is removed
      Given a file holds the skill "resend":
        """
        # From a file
        """
      And the skill "resend" is registered with "# From a worker"
      When I unregister the skill "resend"
      Then the list of skills is:
        | id     | bytes | origin |
        | resend | 13    | fs     |
      And the index lists:
        """
        ## Custom skills

        - [`resend`](iii://resend) — From a file
        """

    @in_memory
    Scenario: unregistering does not touch files
      Given a file holds the skill "house":
        """
        # House
        """
      When I unregister the skill "house"
      Then the result is:
        """
        {"id": "house", "removed": false}
        """
      And reading "iii://house" gives 7 bytes

  Rule: the index of a subtree, and a budget

    Background:
      Given the skill "resend" is registered with "# Resend"
      And the skill "resend/email" is registered with "# Email"
      And the skill "brain" is registered with "# Brain"

    Scenario: an address with a slash at its end lists a skill and those below it
      When I read "iii://resend/"
      Then the text is "# Skills␊␊Those at `resend` and below it.␊␊- [`resend`](iii://resend) — Resend␊␠␠- [`resend/email`](iii://resend/email) — Email␊"

    Scenario: no skill is there
      When I read "iii://resnd/"
      Then it fails as "not_found"
      And the message says "did you mean `iii://resend/`?"

    Scenario Outline: a budget of tokens
      When I call "skills::index" with:
        """
        <payload>
        """
      Then the result is:
        """
        {"text": "<text>", "included": <included>, "folded": <folded>, "omitted": 0}
        """

      Examples:
        | payload                                   | included | folded | text |
        | {"budget_tokens": 10}                     | 0        | 3      | # Skills\\n\\n- [3 of 3 skills folded](iii://skills?pages)\\n |
        | {"prefix": "resend/", "budget_tokens": 1} | 0        | 2      | # Skills\\n\\n- [2 of 2 skills folded](iii://resend/?pages)\\n |

    Scenario: a budget of nothing
      When I call "skills::index" with:
        """
        {"budget_tokens": 0}
        """
      Then it fails as "invalid_input"
      And the message says "budget_tokens must be at least 1"
