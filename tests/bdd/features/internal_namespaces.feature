@pure @internal_namespaces
Feature: functions that content must not call

  An address or a prompt can make the registry call a function. Content must not reach
  the engine that way, so functions of some namespaces are refused before any call.

  Scenario: the namespaces
    Then the internal namespaces are exactly:
      | engine::  |
      | state::   |
      | stream::  |
      | iii.      |
      | iii::     |
      | mcp::     |
      | a2a::     |
      | skills::  |
      | prompts:: |

  Scenario Outline: ids
    When content refers to the function "<function>"
    Then it is <verdict>

    Examples: in an internal namespace
      | function            | verdict   |
      | engine::functions   | forbidden |
      | state::set          | forbidden |
      | stream::publish     | forbidden |
      | iii.on_connect      | forbidden |
      | iii::workers        | forbidden |
      | mcp::handler        | forbidden |
      | a2a::send           | forbidden |
      | skills::register    | forbidden |
      | skills::fetch_skill | forbidden |
      | prompts::mcp-get    | forbidden |
      | ␠state::set         | forbidden |

    Examples: with a similar name
      | function        | verdict |
      | skill::fetch    | allowed |
      | state           | allowed |
      | statement::list | allowed |
      | my::state::set  | allowed |
      | iiix::y         | allowed |
      | resend::status  | allowed |
