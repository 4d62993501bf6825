@pure @engine @mcp_bridge
Feature: results for a protocol bridge

  Five functions return the results of the Model Context Protocol, so that a bridge can
  pass them on unchanged.

  Scenario: skills::resources-list
    Given these skills are registered:
      | id           | body                     |
      | resend       | # Resend\n\nSends email. |
      | resend/email | no title                 |
      | bare         | - a list                 |
    When I call "skills::resources-list"
    Then the result is:
      """
      {
        "resources": [
          {
            "uri": "iii://skills",
            "name": "Skills",
            "description": "Every skill with its title and a line about it. Start here.",
            "mimeType": "text/markdown"
          },
          {
            "uri": "iii://bare",
            "name": "bare",
            "mimeType": "text/markdown"
          },
          {
            "uri": "iii://resend",
            "name": "Resend",
            "description": "Sends email.",
            "mimeType": "text/markdown"
          },
          {
            "uri": "iii://resend/email",
            "name": "resend/email",
            "description": "no title",
            "mimeType": "text/markdown"
          }
        ]
      }
      """

  Scenario: skills::resources-read, a skill
    Given the skill "resend" is registered with "# Resend"
    When I call "skills::resources-read" with:
      """
      {"uri": "iii://resend"}
      """
    Then the result is:
      """
      {"contents": [{"uri": "iii://resend", "mimeType": "text/markdown", "text": "# Resend"}]}
      """

  Scenario: skills::resources-read, a function's text
    Given the function "w::f" returns the text "# Now"
    When I call "skills::resources-read" with:
      """
      {"uri": "iii://fn/w/f"}
      """
    Then the result is:
      """
      {"contents": [{"uri": "iii://fn/w/f", "mimeType": "text/markdown", "text": "# Now"}]}
      """

  Scenario: skills::resources-read, a function's JSON
    Given the function "w::f" returns:
      """
      [1]
      """
    When I call "skills::resources-read" with:
      """
      {"uri": "iii://fn/w/f"}
      """
    Then the result is:
      """
      {"contents": [{"uri": "iii://fn/w/f", "mimeType": "application/json", "text": "[\n  1\n]"}]}
      """

  Scenario: skills::resources-read, the index
    Given the skill "resend" is registered with "# Resend"
    When I call "skills::resources-read" with:
      """
      {"uri": "iii://skills"}
      """
    Then the mime type is "text/markdown"
    And the index lists:
      """
      - [`resend`](iii://resend) — Resend
      """

  Scenario: skills::resources-templates
    When I call "skills::resources-templates"
    Then the result is:
      """
      {
        "resourceTemplates": [
          {
            "uriTemplate": "iii://{skill_id}",
            "name": "Skill",
            "description": "The markdown of a skill. Ids may be nested, as in `resend/email/send`.",
            "mimeType": "text/markdown"
          },
          {
            "uriTemplate": "iii://fn/{function_path}",
            "name": "Section",
            "description": "The live output of a function; each `/` stands for `::`.",
            "mimeType": "text/markdown"
          }
        ]
      }
      """

  Scenario: prompts::mcp-list
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
    And I register the prompt "hello", described as "Say hello"
    And I call "prompts::mcp-list"
    Then the result is:
      """
      {
        "prompts": [
          {"name": "hello", "description": "Say hello", "arguments": []},
          {
            "name": "send-email",
            "description": "Compose an email",
            "arguments": [
              {"name": "to", "description": "Who gets it", "required": true},
              {"name": "subject", "required": false}
            ]
          }
        ]
      }
      """

  @in_memory
  Scenario: prompts::mcp-list with a prompt that is a file
    Given a file holds the prompt "review" about "Review a change", which says "Look closely."
    When I call "prompts::mcp-list"
    Then the result is:
      """
      {"prompts": [{"name": "review", "description": "Review a change", "arguments": []}]}
      """

  Scenario: prompts::mcp-list with nothing registered
    When I call "prompts::mcp-list"
    Then the result is:
      """
      {"prompts": []}
      """

  Scenario: prompts::mcp-get
    Given the function "w::hello" returns the text "Hi"
    And the prompt "hello" is rendered by "w::hello"
    When I call "prompts::mcp-get" with:
      """
      {"name": "hello", "arguments": {"to": "ada"}}
      """
    Then the result is:
      """
      {
        "description": "A prompt",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]
      }
      """
