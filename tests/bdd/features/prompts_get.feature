@pure @engine @prompts_get
Feature: rendering prompts

  `prompts::mcp-get` calls the handler of the prompt and converts its result to messages.

  Rule: the handler is called with the arguments

    Scenario: as they were given
      Given the function "mailer::compose" returns the text "Dear Ada"
      And the prompt "send-email" is rendered by "mailer::compose"
      When I get the prompt "send-email" with the arguments:
        """
        {"to": "ada@example.com", "n": 12345678901234567890, "deep": {"list": [1, null]}}
        """
      Then it succeeds
      And the function "mailer::compose" was called once with:
        """
        {"to": "ada@example.com", "n": 12345678901234567890, "deep": {"list": [1, null]}}
        """

    Scenario Outline: an empty object when there are none
      Given the function "w::hello" returns the text "Hi"
      And the prompt "hello" is rendered by "w::hello"
      When I call "prompts::mcp-get" with:
        """
        <payload>
        """
      Then it succeeds
      And the function "w::hello" was called once with:
        """
        {}
        """

      Examples:
        | payload                              |
        | {"name": "hello"}                    |
        | {"name": "hello", "arguments": {}}   |
        | {"name": "hello", "arguments": null} |

    Scenario Outline: arguments that are not an object
      Given the function "w::hello" returns the text "Hi"
      And the prompt "hello" is rendered by "w::hello"
      When I get the prompt "hello" with the arguments:
        """
        <arguments>
        """
      Then it fails as "invalid_input"
      And the message says "arguments"
      And the function "w::hello" was never called

      Examples:
        | arguments |
        | ["to"]    |
        | "to"      |
        | 7         |

  Rule: the result becomes messages

    Scenario Outline: text is one message with the role user
      Given the function "w::hello" returns:
        """
        <answer>
        """
      And the prompt "hello" is rendered by "w::hello"
      When I get the prompt "hello"
      Then the only message is the user's and says "<text>"

      Examples:
        | answer                          | text  |
        | "Hi"                            | Hi    |
        | ""                              |       |
        | {"content": "Hi"}               | Hi    |
        | {"content": "Hi", "other": 1}   | Hi    |

    Scenario: messages are returned unchanged
      Given the function "w::chat" returns:
        """
        {"messages": [
          {"role": "user", "content": {"type": "text", "text": "Hi"}},
          {"role": "assistant", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}, "extra": true}
        ]}
        """
      And the prompt "chat" is rendered by "w::chat"
      When I get the prompt "chat"
      Then the messages are:
        """
        [
          {"role": "user", "content": {"type": "text", "text": "Hi"}},
          {"role": "assistant", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}, "extra": true}
        ]
        """

    Scenario: an empty list of messages
      Given the function "w::quiet" returns:
        """
        {"messages": []}
        """
      And the prompt "quiet" is rendered by "w::quiet"
      When I get the prompt "quiet"
      Then the messages are:
        """
        []
        """

    Scenario Outline: any other result is an error
      Given the function "w::odd" returns:
        """
        <answer>
        """
      And the prompt "odd" is rendered by "w::odd"
      When I get the prompt "odd"
      Then it fails as "broken"
      And the message says all of:
        | unsupported shape |
        | odd               |
        | w::odd            |

      Examples:
        | answer                |
        | 7                     |
        | true                  |
        | null                  |
        | ["Hi"]                |
        | {}                    |
        | {"text": "Hi"}        |
        | {"content": 7}        |
        | {"messages": "Hi"}    |

  Rule: the error of a handler has its id and the cause

    Scenario Outline: failed, absent or too slow
      Given <what is wrong>
      And the prompt "send-email" is rendered by "mailer::compose"
      When I get the prompt "send-email"
      Then it fails as "<code>"
      And the message says all of:
        | send-email      |
        | mailer::compose |
        | <message>       |

      Examples:
        | what is wrong                                             | code        | message               |
        | the function "mailer::compose" fails with "out of stamps" | failed      | failed: out of stamps |
        | the function "mailer::compose" never returns              | timed_out   | too slow              |
        | the worker of the function "mailer::compose" has disconnected | not_found   | is absent             |
        | the skill "nobody-offers-it" is registered                | not_found   | is absent             |

    Scenario Outline: a handler in an internal namespace is refused before any call
      Given another worker wrote the row "evil" in scope "prompts":
        """
        {"name": "evil", "description": "d", "arguments": [], "function_id": "<function>", "registered_at": "2025-01-01T00:00:00Z"}
        """
      And the function "<function>" returns the text "secret"
      When I get the prompt "evil"
      Then it fails as "forbidden"
      And the message says "internal namespace"
      And the function "<function>" was never called

      Examples:
        | function          |
        | engine::functions |
        | state::secret     |
        | stream::list      |
        | iii::workers      |
        | iii.on_connect    |
        | mcp::handler      |
        | a2a::send         |
        | skills::register  |
        | prompts::list     |

  Rule: the prompt must exist

    Scenario: an unknown name is not found
      When I get the prompt "hello"
      Then it fails as "not_found"
      And the message says "prompt not found: hello"

    Scenario: the message has the nearest name
      Given the prompt "send-email" is rendered by "mailer::compose"
      When I get the prompt "send-emial"
      Then it fails as "not_found"
      And the message says "did you mean `send-email`?"

    Scenario Outline: an invalid name is refused
      When I get the prompt "<name>"
      Then it fails as "invalid_input"
      And the message says "<message>"

      Examples:
        | name  | message                |
        |       | name must be non-empty |
        | Hello | lowercase              |

  Rule: a prompt from a file is its text

    @in_memory
    Scenario: arguments are ignored
      Given a file holds the prompt "review" about "Review a change", which says "Look closely."
      When I get the prompt "review" with the arguments:
        """
        {"pr": "42"}
        """
      Then the result is:
        """
        {
          "description": "Review a change",
          "messages": [{"role": "user", "content": {"type": "text", "text": "Look closely."}}]
        }
        """

    @in_memory
    Scenario: a registered prompt takes precedence over the file of the same name
      Given a file holds the prompt "hello" about "From a file", which says "from the file"
      And the function "w::hello" returns the text "from the handler"
      And the prompt "hello" is rendered by "w::hello"
      When I get the prompt "hello"
      Then the only message is the user's and says "from the handler"
