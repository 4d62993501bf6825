@pure @engine @prompts_register
Feature: registering prompts

  A prompt is a slash command: a name, a description, arguments, and the function that
  renders it.

  Rule: a registered prompt is listed

    Scenario: registering
      When I call "prompts::register" with:
        """
        {
          "name": "send-email",
          "description": "Compose an email",
          "arguments": [
            {"name": "to", "description": "Who gets it", "required": true},
            {"name": "subject"}
          ],
          "function_id": "mailer::compose"
        }
        """
      Then the result is:
        """
        {"name": "send-email", "registered_at": "{time}"}
        """
      And the list of prompts is:
        | name       | function_id     | arguments | origin |
        | send-email | mailer::compose | 2         | state  |

    Scenario: nothing is registered
      Then the list of prompts is empty

    Scenario: arguments are optional
      When I call "prompts::register" with:
        """
        {"name": "hello", "description": "Say hello", "function_id": "w::hello"}
        """
      Then the list of prompts is:
        | name  | function_id | arguments | origin |
        | hello | w::hello    | 0         | state  |

    Scenario: the list is in byte order of the names
      Given the prompt "b" is rendered by "w::b"
      And the prompt "a_b" is rendered by "w::a_b"
      And the prompt "a" is rendered by "w::a"
      And the prompt "a-b" is rendered by "w::a-b"
      Then the list of prompts is:
        | name | function_id | arguments | origin |
        | a    | w::a        | 0         | state  |
        | a-b  | w::a-b      | 0         | state  |
        | a_b  | w::a_b      | 0         | state  |
        | b    | w::b        | 0         | state  |

    Scenario: registering again replaces the prompt and refreshes the time
      Given the prompt "hello" is rendered by "w::old"
      When I register the prompt "hello", rendered by "w::new"
      Then the list of prompts is:
        | name  | function_id | arguments | origin |
        | hello | w::new      | 0         | state  |
      And the second registration is later than the first

    Scenario: registering the same prompt again refreshes the time
      Given the prompt "hello" is rendered by "w::hello"
      When I register the prompt "hello", rendered by "w::hello"
      Then the second registration is later than the first

    Scenario: the row in state keeps its shape
      When I call "prompts::register" with:
        """
        {
          "name": "send-email",
          "description": "Compose an email",
          "arguments": [{"name": "to", "description": "Who gets it", "required": true}],
          "function_id": "mailer::compose"
        }
        """
      Then the row "send-email" in scope "prompts" is:
        """
        {
          "name": "send-email",
          "description": "Compose an email",
          "arguments": [{"name": "to", "description": "Who gets it", "required": true}],
          "function_id": "mailer::compose",
          "registered_at": "{time}"
        }
        """

  Rule: unregistering is idempotent

    Scenario: an existing prompt is removed
      Given the prompt "hello" is rendered by "w::hello"
      When I unregister the prompt "hello"
      Then the result is:
        """
        {"name": "hello", "removed": true}
        """
      And the list of prompts is empty

    Scenario: an unknown prompt is not an error
      When I unregister the prompt "hello"
      Then the result is:
        """
        {"name": "hello", "removed": false}
        """

    Scenario: an invalid name is refused
      When I unregister the prompt "Hello"
      Then it fails as "invalid_input"
      And the message says "lowercase"

  Rule: invalid prompts are refused and not stored

    Scenario Outline: invalid names
      When I register the prompt "<name>"
      Then it fails as "invalid_input"
      And the message says "<message>"
      And scope "prompts" holds no rows

      Examples:
        | name       | message                |
        |            | name must be non-empty |
        | ␠␊         | name must be non-empty |
        | Send       | lowercase              |
        | send email | lowercase              |
        | send/email | lowercase              |
        | send::mail | lowercase              |
        | send␀      | lowercase              |
        | é          | lowercase              |

    Scenario Outline: names at the limit
      When I register a prompt with a name of <count> "a"s
      Then it <result>

      Examples:
        | count | result                   |
        | 63    | succeeds                 |
        | 64    | succeeds                 |
        | 65    | fails as "invalid_input" |

    Scenario: the message about a long name
      When I register a prompt with a name of 65 "a"s
      Then it fails as "invalid_input"
      And the message says "too long"

    Scenario Outline: blank values
      When I register the prompt "hello", <what> "<value>"
      Then it fails as "invalid_input"
      And the message says "<message>"
      And scope "prompts" holds no rows

      Examples:
        | what         | value | message                       |
        | described as |       | description must be non-empty |
        | described as | ␠␉␊   | description must be non-empty |
        | rendered by  |       | function_id must be non-empty |
        | rendered by  | ␠␉␊   | function_id must be non-empty |

    Scenario Outline: invalid arguments
      When I register the prompt "hello" with arguments named:
        | to       |
        | <second> |
      Then it fails as "invalid_input"
      And the message says "<message>"
      And scope "prompts" holds no rows

      Examples:
        | second | message                         |
        | ␠      | argument name must be non-empty |
        | ␉␊     | argument name must be non-empty |
        | to     | duplicate argument name         |
        | ␠to    | duplicate argument name         |

    Scenario Outline: a handler in an internal namespace
      When I register the prompt "evil", rendered by "<function>"
      Then it fails as "forbidden"
      And the message says "internal namespace"
      And scope "prompts" holds no rows

      Examples:
        | function          |
        | engine::functions |
        | state::secret     |
        | iii.on_connect    |
        | skills::register  |
        | ␠prompts::list    |

  Rule: prompts from files have no handler

    @in_memory
    Scenario: a file has no function and no arguments
      Given a file holds the prompt "review" about "Review a change", which says "Look closely."
      And the prompt "hello" is rendered by "w::hello"
      Then the list of prompts is:
        | name   | function_id | arguments | origin |
        | hello  | w::hello    | 0         | state  |
        | review |             | 0         | fs     |

    @in_memory
    Scenario: a registered prompt hides the file of the same name
      Given a file holds the prompt "hello" about "From a file", which says "Hello."
      And the prompt "hello" is rendered by "w::hello"
      Then the list of prompts is:
        | name  | function_id | arguments | origin |
        | hello | w::hello    | 0         | state  |
