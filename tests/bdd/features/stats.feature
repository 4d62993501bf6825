@pure @engine @stats
Feature: how often skills are used

  `skills::stats` counts how often each skill was offered by a search or a route, was the first
  match of a route, and was read. Only numbers are kept, no text of a request.

  Background:
    Given the skill "mail/send" is registered with "# Send mail␊␊Sends an e-mail to a customer."
    And the skill "git/commit" is registered with "# Commit␊␊Commits staged files."

  Rule: uses are counted by their kind

    Scenario: at first nothing is used
      When I call "skills::stats"
      Then the result is:
        """
        {"counted": true, "skills": [
          {"id": "git/commit", "offered": 0, "routed": 0, "fetched": 0},
          {"id": "mail/send", "offered": 0, "routed": 0, "fetched": 0}
        ]}
        """

    Scenario: searches and routes offer, reads fetch
      When I route "e-mail a customer"
      And I search for "customer mail"
      And I call "skills::resources-read" with:
        """
        {"uri": "iii://git/commit"}
        """
      And I call "skill::fetch" with:
        """
        {"uris": ["iii://git/commit", "iii://git/commit#commit"]}
        """
      And I call "skills::stats"
      Then the result is:
        """
        {"counted": true, "skills": [
          {"id": "git/commit", "offered": 0, "routed": 0, "fetched": 3},
          {"id": "mail/send", "offered": 2, "routed": 1, "fetched": 0}
        ]}
        """

    Scenario: an abstention offers nothing
      When I route "book a quiet table for two in a restaurant"
      And I call "skills::stats" with:
        """
        {"unused": true}
        """
      Then the result is:
        """
        {"counted": true, "skills": [
          {"id": "git/commit", "offered": 0, "routed": 0, "fetched": 0},
          {"id": "mail/send", "offered": 0, "routed": 0, "fetched": 0}
        ]}
        """

    Scenario: a test of the routing is not a use
      When I call "skills::route" with:
        """
        {"text": "e-mail a customer", "uncounted": true}
        """
      And I call "skills::stats" with:
        """
        {"unused": true}
        """
      Then the result is:
        """
        {"counted": true, "skills": [
          {"id": "git/commit", "offered": 0, "routed": 0, "fetched": 0},
          {"id": "mail/send", "offered": 0, "routed": 0, "fetched": 0}
        ]}
        """

    Scenario: the checks of the doctor are not uses
      When I call "skills::doctor"
      And I call "skills::stats" with:
        """
        {"unused": true}
        """
      Then the result is:
        """
        {"counted": true, "skills": [
          {"id": "git/commit", "offered": 0, "routed": 0, "fetched": 0},
          {"id": "mail/send", "offered": 0, "routed": 0, "fetched": 0}
        ]}
        """

  Rule: unused skills can be listed alone

    Scenario: a skill that was only offered is unused
      When I search for "commits"
      And I route "e-mail a customer"
      And I call "skills::stats" with:
        """
        {"unused": true}
        """
      Then the result is:
        """
        {"counted": true, "skills": [
          {"id": "git/commit", "offered": 1, "routed": 0, "fetched": 0}
        ]}
        """

    Scenario: a removed skill is not listed
      When I route "e-mail a customer"
      And I call "skills::unregister" with:
        """
        {"id": "mail/send"}
        """
      And I call "skills::stats" with:
        """
        {"unused": true}
        """
      Then the result is:
        """
        {"counted": true, "skills": [
          {"id": "git/commit", "offered": 0, "routed": 0, "fetched": 0}
        ]}
        """

  Rule: invalid input is refused

    Scenario: a value that is not a switch
      When I call "skills::stats" with:
        """
        {"unused": "yes"}
        """
      Then it fails as "invalid_input"
      And the message says "unused"
