@pure @engine @notifications
Feature: events of changes

  A worker that subscribes to `skills::on-change` or `prompts::on-change` receives the
  operation and the id or name: one event for each change. Writers do not wait for
  subscribers.

  Rule: every change is one event

    Scenario: skills
      Given "audit::skills" is subscribed to "skills::on-change"
      When I register the skill "resend"
      And I unregister the skill "resend"
      Then exactly these events arrive:
        | listener      | notice                               |
        | audit::skills | {"op": "register", "id": "resend"}   |
        | audit::skills | {"op": "unregister", "id": "resend"} |

    Scenario: prompts
      Given "audit::prompts" is subscribed to "prompts::on-change"
      When I register the prompt "hello"
      And I unregister the prompt "hello"
      Then exactly these events arrive:
        | listener       | notice                                |
        | audit::prompts | {"op": "register", "name": "hello"}   |
        | audit::prompts | {"op": "unregister", "name": "hello"} |

    Scenario: registering the same content again is a change
      Given "audit::skills" is subscribed to "skills::on-change"
      When I register the skill "resend" with "same"
      And I register the skill "resend" with "same"
      Then exactly these events arrive:
        | listener      | notice                             |
        | audit::skills | {"op": "register", "id": "resend"} |
        | audit::skills | {"op": "register", "id": "resend"} |

    Scenario: registering the same prompt again is a change
      Given "audit::prompts" is subscribed to "prompts::on-change"
      When I register the prompt "hello"
      And I register the prompt "hello"
      Then exactly these events arrive:
        | listener       | notice                              |
        | audit::prompts | {"op": "register", "name": "hello"} |
        | audit::prompts | {"op": "register", "name": "hello"} |

    Scenario: each trigger type has its own events
      Given "audit::skills" is subscribed to "skills::on-change"
      And "audit::prompts" is subscribed to "prompts::on-change"
      When I register the skill "resend"
      And I register the prompt "hello"
      Then exactly these events arrive:
        | listener       | notice                              |
        | audit::prompts | {"op": "register", "name": "hello"} |
        | audit::skills  | {"op": "register", "id": "resend"}  |

    Scenario: a row written by another worker is a change
      Given "audit::skills" is subscribed to "skills::on-change"
      And the list of skills was requested
      When another worker writes the row "new" in scope "skills":
        """
        {"id": "new", "skill": "# New", "registered_at": "2025-01-01T00:00:00Z"}
        """
      Then exactly these events arrive:
        | listener      | notice                          |
        | audit::skills | {"op": "register", "id": "new"} |

  Rule: without a change there is no event

    Scenario: unregistering an unknown id
      Given "audit::skills" is subscribed to "skills::on-change"
      And "audit::prompts" is subscribed to "prompts::on-change"
      When I unregister the skill "resend"
      And I unregister the prompt "hello"
      Then no event arrives

    Scenario: invalid content
      Given "audit::skills" is subscribed to "skills::on-change"
      And "audit::prompts" is subscribed to "prompts::on-change"
      When I register the skill "Resend"
      And I register the skill "resend" with a body of 262145 "a"s
      And I register the prompt "Hello"
      And I register the prompt "hello", described as " "
      Then no event arrives

    Scenario: reading
      Given the skill "resend" is registered
      And "audit::skills" is subscribed to "skills::on-change"
      When I read "iii://resend"
      And I fetch "iii://skills"
      And I call "skills::list"
      Then no event arrives

  Rule: every subscriber receives every event

    Scenario: several subscribers
      Given "one::on-change" is subscribed to "skills::on-change"
      And "two::on-change" is subscribed to "skills::on-change"
      And "three::on-change" is subscribed to "skills::on-change"
      When I register the skill "resend"
      Then exactly these events arrive:
        | listener    | notice                             |
        | one::on-change   | {"op": "register", "id": "resend"} |
        | three::on-change | {"op": "register", "id": "resend"} |
        | two::on-change   | {"op": "register", "id": "resend"} |

    Scenario: earlier changes are not repeated
      Given the skill "resend" is registered
      And "audit::skills" is subscribed to "skills::on-change"
      Then no event arrives

    Scenario: after a subscriber unsubscribed
      Given "one::on-change" is subscribed to "skills::on-change"
      And "two::on-change" is subscribed to "skills::on-change"
      When "one::on-change" unsubscribes from "skills::on-change"
      And I register the skill "resend"
      Then exactly these events arrive:
        | listener  | notice                             |
        | two::on-change | {"op": "register", "id": "resend"} |

    @in_memory
    Scenario: subscriptions continue after an outage
      Given "audit::skills" is subscribed to "skills::on-change"
      When the engine goes down
      And the engine is back
      And I register the skill "resend"
      Then exactly these events arrive:
        | listener      | notice                             |
        | audit::skills | {"op": "register", "id": "resend"} |

  Rule: a writer does not wait for subscribers

    Scenario Outline: a subscriber that fails
      Given <trouble>
      And "trouble::on-change" is subscribed to "skills::on-change"
      And "well::on-change" is subscribed to "skills::on-change"
      When I register the skill "resend"
      Then it succeeds
      And exactly these events arrive:
        | listener      | notice                             |
        | trouble::on-change | {"op": "register", "id": "resend"} |
        | well::on-change    | {"op": "register", "id": "resend"} |

      Examples:
        | trouble                                        |
        | the function "trouble::on-change" never returns     |
        | the function "trouble::on-change" fails with "ouch" |

    Scenario: a subscriber that is disconnected
      Given the worker of the function "gone::on-change" has disconnected
      And "gone::on-change" is subscribed to "skills::on-change"
      And "well::on-change" is subscribed to "skills::on-change"
      When I register the skill "resend"
      Then it succeeds
      And exactly these events arrive:
        | listener   | notice                             |
        | well::on-change | {"op": "register", "id": "resend"} |
