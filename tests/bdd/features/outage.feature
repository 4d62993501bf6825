@pure @outage
Feature: outages of the engine and damaged rows

  An outage is an error of its own: never an empty list, never "not found". A damaged row
  does not affect the others.

  Rule: without an engine every call fails

    Scenario Outline: calls during an outage
      Given the skill "resend" is registered
      And the function "w::hello" returns the text "Hi"
      And the prompt "hello" is rendered by "w::hello"
      When the engine goes down
      And I call "<function>" with:
        """
        <payload>
        """
      Then it fails as "unavailable"
      And the message says "is the engine running?"

      Examples:
        | function               | payload                                                     |
        | skills::register       | {"id": "a", "skill": "x"}                                   |
        | skills::unregister     | {"id": "resend"}                                            |
        | skills::list           | {}                                                          |
        | skills::resources-list | {}                                                          |
        | skills::resources-read | {"uri": "iii://skills"}                                     |
        | skills::resources-read | {"uri": "iii://resend"}                                     |
        | skills::resources-read | {"uri": "iii://unknown"}                                    |
        | skills::resources-read | {"uri": "iii://fn/w/hello"}                                 |
        | skills::fetch_skill    | {"uri": "iii://resend"}                                     |
        | skills::stats          | {}                                                          |
        | skill::fetch           | {"uris": ["iii://resend", "iii://skills"]}                  |
        | prompts::register      | {"name": "p", "description": "d", "function_id": "w::f"}    |
        | prompts::unregister    | {"name": "hello"}                                           |
        | prompts::list          | {}                                                          |
        | prompts::mcp-list      | {}                                                          |
        | prompts::mcp-get       | {"name": "hello"}                                           |
        | prompts::mcp-get       | {"name": "unknown"}                                         |

    Scenario: files do not replace registered skills
      A list without the registered skills would look complete.

      Given a file holds the skill "house":
        """
        # House
        """
      And the engine is down
      When I call "skills::list"
      Then it fails as "unavailable"

    Scenario: invalid input is not reported as an outage
      Given the engine is down
      When I register the skill "Resend"
      Then it fails as "invalid_input"

    Scenario: functions without state still work
      Given the engine is down
      When I call "skills::resources-templates"
      Then it succeeds

  Rule: after an outage everything is served again

    Scenario: nothing is lost
      Given the skill "resend" is registered
      When the engine goes down
      And I register the skill "lost"
      And the engine is back
      Then the list of skills is:
        | id     | bytes | origin |
        | resend | 8     | state  |

    Scenario: rows written in the meantime are served
      Given the skill "resend" is registered
      When the engine goes down
      And another worker writes the row "new" in scope "skills":
        """
        {"id": "new", "skill": "# New", "registered_at": "2025-01-01T00:00:00Z"}
        """
      And the engine is back
      Then the list of skills is:
        | id     | bytes | origin |
        | new    | 5     | state  |
        | resend | 8     | state  |

  Rule: a failure of the state is not an empty registry

    Scenario Outline: the state fails
      Given <trouble>
      When I call "skills::list"
      Then it fails as "<code>"
      And the message says "<message>"

      Examples:
        | trouble                                               | code        | message          |
        | the function "state::list" fails with "disk full"     | unavailable | disk full        |
        | the function "state::list" never returns              | timed_out   | state_timeout_ms |
        | the worker of the function "state::list" has disconnected | unavailable | state worker     |

    Scenario: the state returns an invalid list
      Given the function "state::list" returns:
        """
        {"rows": []}
        """
      When I call "skills::list"
      Then it fails as "unavailable"
      And the message says "state::list"

    Scenario: a write that the state refused is not served
      Given the function "state::set" fails with "disk full"
      When I register the skill "resend"
      Then it fails as "unavailable"
      And the message says "disk full"
      And the list of skills is empty

  Rule: a damaged row is reported, and the rest is served

    Background:
      Given the skill "good" is registered with "# Good"
      And another worker wrote the row "bad" in scope "skills":
        """
        {"id": "bad", "registered_at": "2025-01-01T00:00:00Z"}
        """

    Scenario: lists and the index leave it out
      Then the list of skills is:
        | id   | bytes | origin |
        | good | 6     | state  |
      And the index lists:
        """
        - [`good`](iii://good) — Good
        """
      And the list of skills reports the damaged row "skills/bad"
      And these problems are reported:
        | place      | reason  |
        | skills/bad | `skill` |

    Scenario: reading it is an error of its own
      When I read "iii://bad"
      Then it fails as "broken"
      And the message says all of:
        | `bad`             |
        | cannot be read    |
        | register it again |

    Scenario: registering it again repairs it
      When I register the skill "bad" with "# Well"
      Then the list of skills is:
        | id   | bytes | origin |
        | bad  | 6     | state  |
        | good | 6     | state  |
      And no problem is reported

    Scenario: unregistering it removes it
      When I unregister the skill "bad"
      Then the result is:
        """
        {"id": "bad", "removed": true}
        """
      And no problem is reported

  Rule: a row can be damaged in many ways

    Scenario Outline: skills
      Given the skill "good" is registered with "# Good"
      And another worker wrote the row "<key>" in scope "skills":
        """
        <row>
        """
      Then the list of skills is:
        | id   | bytes | origin |
        | good | 6     | state  |
      And the list of skills reports the damaged row "<place>"
      And these problems are reported:
        | place   | reason   |
        | <place> | <reason> |

      Examples:
        | key | row                                  | place      | reason    |
        | bad | {"id": "bad", "skill": 7}            | skills/bad | string    |
        | Bad | {"id": "Bad", "skill": "x"}          | skills/Bad | lowercase |

      Examples: a list of rows has no keys, so the key of such a row is unknown
        | key | row            | place    | reason   |
        | bad | {"skill": "x"} | skills/? | `id`     |
        | bad | "just text"    | skills/? | string   |
        | bad | null           | skills/? | null     |

      Examples: a list is not a row
        | key | row                                   | place    | reason |
        | bad | []                                    | skills/? |        |
        | bad | [1, 2]                                | skills/? |        |
        | bad | ["bad", "# Bad", "2025-01-01T00:00:00Z"] | skills/? |        |

    Scenario: a row that claims to be another
      Given the skill "good" is registered with "# Good"
      And the list of skills was requested
      When another worker writes the row "bad" in scope "skills":
        """
        {"id": "other", "skill": "# Other", "registered_at": "2025-01-01T00:00:00Z"}
        """
      Then the list of skills is:
        | id   | bytes | origin |
        | good | 6     | state  |
      And these problems are reported:
        | place      | reason  |
        | skills/bad | `other` |

    Scenario Outline: prompts
      Given the prompt "good" is rendered by "w::good"
      And another worker wrote the row "bad" in scope "prompts":
        """
        <row>
        """
      Then the list of prompts is:
        | name | function_id | arguments | origin |
        | good | w::good     | 0         | state  |
      And these problems are reported:
        | place       | reason   |
        | prompts/bad | <reason> |

      Examples:
        | row                                                       | reason        |
        | {"name": "bad", "description": "d"}                       | `function_id` |
        | {"name": "bad", "description": "d", "function_id": " "}   | function_id   |
        | {"name": "bad", "description": 1, "function_id": "w::f"}  | string        |

    Scenario: getting a damaged prompt
      Given another worker wrote the row "bad" in scope "prompts":
        """
        {"name": "bad", "description": "d"}
        """
      When I get the prompt "bad"
      Then it fails as "broken"
      And the message says "cannot be read"
