@pure @engine @functions
Feature: the functions of the registry on an engine

  Scenario: the functions and two trigger types
    When I list the functions of the engine
    Then these are the functions of the registry:
      | skills::register            |
      | skills::unregister          |
      | skills::list                |
      | skills::history             |
      | skills::rollback            |
      | skills::log                 |
      | skills::renew               |
      | skills::gc                  |
      | skills::index               |
      | skills::resources-list      |
      | skills::resources-read      |
      | skills::resources-templates |
      | skills::documents           |
      | skills::fetch_skill         |
      | skill::fetch                |
      | skills::search              |
      | skills::route               |
      | skills::stats               |
      | skills::resolve             |
      | skills::lint                |
      | skills::doctor              |
      | skills::backup              |
      | prompts::register           |
      | prompts::unregister         |
      | prompts::list               |
      | prompts::history            |
      | prompts::rollback           |
      | prompts::mcp-list           |
      | prompts::mcp-get            |
    And these are its trigger types:
      | skills::on-change  |
      | prompts::on-change |

  Scenario: the function for agents has a label
    When I list the functions of the engine
    Then tools show these functions under a label of their own:
      | function     | label       |
      | skill::fetch | Fetch skill |

  Rule: a payload is an object; unknown fields are ignored

    Scenario Outline: engines add fields of their own
      Given the skill "resend" is registered
      And the function "mailer::compose" returns the text "Hi"
      And the prompt "send-email" is rendered by "mailer::compose"
      When I call "<function>" with:
        """
        {<payload> "_caller_worker_id": "w-1", "more": {"a": [1]}}
        """
      Then it succeeds

      Examples:
        | function                    | payload                                                    |
        | skills::register            | "id": "a", "skill": "x",                                   |
        | skills::unregister          | "id": "a",                                                 |
        | skills::list                |                                                            |
        | skills::resources-list      |                                                            |
        | skills::resources-read      | "uri": "iii://resend",                                     |
        | skills::resources-templates |                                                            |
        | skills::documents           |                                                            |
        | skills::fetch_skill         | "uri": "iii://resend",                                     |
        | skill::fetch                | "uri": "iii://resend",                                     |
        | skills::route               | "text": "send an email",                                   |
        | skills::stats               | "unused": true,                                            |
        | skills::resolve             | "id": "resend",                                            |
        | skills::lint                | "id": "resend",                                            |
        | skills::doctor              | "all": false,                                              |
        | prompts::register           | "name": "p", "description": "d", "function_id": "w::f",    |
        | prompts::unregister         | "name": "p",                                               |
        | prompts::list               |                                                            |
        | prompts::mcp-list           |                                                            |
        | prompts::mcp-get            | "name": "send-email",                                      |

    Scenario Outline: a function without fields accepts null
      When I call "<function>" with:
        """
        null
        """
      Then it succeeds

      Examples:
        | function                    |
        | skills::list                |
        | skills::log                 |
        | skills::resources-list      |
        | skills::resources-templates |
        | skills::documents           |
        | prompts::list               |
        | prompts::mcp-list           |

    Scenario Outline: the message names a missing field or one of the wrong type
      When I call "<function>" with:
        """
        <payload>
        """
      Then it fails as "invalid_input"
      And the message says "<message>"

      Examples:
        | function               | payload                                     | message                   |
        | skills::register       | {"id": "a"}                                 | skill                     |
        | skills::register       | {"skill": "x"}                              | id                        |
        | skills::register       | {"id": 5, "skill": "x"}                     | `id`                      |
        | skills::register       | {"id": "a", "skill": null}                  | `skill`                   |
        | skills::register       | ["a", "x"]                                  | payload must be an object |
        | skills::register       | "a"                                         | payload must be an object |
        | skills::unregister     | {}                                          | id                        |
        | skills::resources-read | {"uri": 1}                                  | `uri`                     |
        | skills::documents      | {"digests": 1}                              | `digests`                 |
        | skill::fetch           | {"uris": "iii://a"}                         | `uris`                    |
        | skill::fetch           | {"uris": ["iii://a", 7]}                    | `uris[1]`                 |
        | skills::route          | {"text": ["find"]}                          | `text`                    |
        | skills::stats          | {"unused": ["find"]}                        | `unused`                  |
        | skills::resolve        | {}                                          | id                        |
        | skills::lint           | {}                                          | either `id` or `text`     |
        | skills::lint           | {"id": "a", "text": "x"}                    | either `id` or `text`     |
        | prompts::register      | {"name": "p", "function_id": "w::f"}        | description               |
        | prompts::register      | {"name": "p", "description": "d"}           | function_id               |
        | prompts::register      | {"name": "p", "description": "d", "function_id": "w::f", "arguments": [{"name": "to"}, {"name": 1}]} | `arguments[1].name` |
        | prompts::register      | {"name": "p", "description": "d", "function_id": "w::f", "arguments": {"name": "to"}} | `arguments` |
        | prompts::register      | {"name": "p", "description": "d", "function_id": "w::f", "arguments": [["to", "Who", true]]} | `arguments[0]` |
        | prompts::mcp-get       | {"arguments": {}}                           | name                      |
        | prompts::mcp-get       | {"name": "p", "arguments": "to=me"}         | arguments                 |
