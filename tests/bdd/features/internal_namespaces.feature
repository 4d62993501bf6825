@pure @internal_namespaces
Feature: what content may not reach

  An address or a prompt can make the registry call a function. Whoever writes content
  must not get at the engine that way, so functions of some namespaces are refused
  before anything is called.

  Scenario: the one list
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
    When content asks for the function "<function>"
    Then it is <verdict>

    Examples: inside
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

    Examples: outside, though it looks alike
      | function        | verdict |
      | skill::fetch    | allowed |
      | state           | allowed |
      | statement::list | allowed |
      | my::state::set  | allowed |
      | iiix::y         | allowed |
      | resend::status  | allowed |
