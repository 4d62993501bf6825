@pure @engine @notifications
Feature: hearing of changes

  A worker that subscribes to `skills::on-change` or `prompts::on-change` is sent what
  changed: the operation, and the id or name. One notice per real change, to everybody
  who listens, and nobody waits for the listeners.

  Rule: every real change is announced once

    Scenario: skills
      Given "audit::skills" listens to "skills::on-change"
      When I register the skill "resend"
      And I unregister the skill "resend"
      Then exactly these notices arrive:
        | listener      | notice                               |
        | audit::skills | {"op": "register", "id": "resend"}   |
        | audit::skills | {"op": "unregister", "id": "resend"} |

    Scenario: prompts
      Given "audit::prompts" listens to "prompts::on-change"
      When I register the prompt "hello"
      And I unregister the prompt "hello"
      Then exactly these notices arrive:
        | listener       | notice                                |
        | audit::prompts | {"op": "register", "name": "hello"}   |
        | audit::prompts | {"op": "unregister", "name": "hello"} |

    Scenario: registering the same content again is a change
      Given "audit::skills" listens to "skills::on-change"
      When I register the skill "resend" with "same"
      And I register the skill "resend" with "same"
      Then exactly these notices arrive:
        | listener      | notice                             |
        | audit::skills | {"op": "register", "id": "resend"} |
        | audit::skills | {"op": "register", "id": "resend"} |

    Scenario: the same prompt again is a change too
      Given "audit::prompts" listens to "prompts::on-change"
      When I register the prompt "hello"
      And I register the prompt "hello"
      Then exactly these notices arrive:
        | listener       | notice                              |
        | audit::prompts | {"op": "register", "name": "hello"} |
        | audit::prompts | {"op": "register", "name": "hello"} |

    Scenario: each type hears of its own
      Given "audit::skills" listens to "skills::on-change"
      And "audit::prompts" listens to "prompts::on-change"
      When I register the skill "resend"
      And I register the prompt "hello"
      Then exactly these notices arrive:
        | listener       | notice                              |
        | audit::prompts | {"op": "register", "name": "hello"} |
        | audit::skills  | {"op": "register", "id": "resend"}  |

    Scenario: a row that somebody else writes is announced as well
      Given "audit::skills" listens to "skills::on-change"
      And the list of skills was asked for
      When somebody writes the row "new" in scope "skills":
        """
        {"id": "new", "skill": "# New", "registered_at": "2025-01-01T00:00:00Z"}
        """
      Then exactly these notices arrive:
        | listener      | notice                          |
        | audit::skills | {"op": "register", "id": "new"} |

  Rule: where nothing changed nobody is told

    Scenario: removing what is not there
      Given "audit::skills" listens to "skills::on-change"
      And "audit::prompts" listens to "prompts::on-change"
      When I unregister the skill "resend"
      And I unregister the prompt "hello"
      Then no notice arrives

    Scenario: refused content
      Given "audit::skills" listens to "skills::on-change"
      And "audit::prompts" listens to "prompts::on-change"
      When I register the skill "Resend"
      And I register the skill "resend" with a body of 262145 "a"s
      And I register the prompt "Hello"
      And I register the prompt "hello", described as " "
      Then no notice arrives

    Scenario: reading
      Given the skill "resend" is registered
      And "audit::skills" listens to "skills::on-change"
      When I read "iii://resend"
      And I fetch "iii://skills"
      And I call "skills::list"
      Then no notice arrives

  Rule: everybody who listens is told, as long as they listen

    Scenario: several listeners
      Given "one::hear" listens to "skills::on-change"
      And "two::hear" listens to "skills::on-change"
      And "three::hear" listens to "skills::on-change"
      When I register the skill "resend"
      Then exactly these notices arrive:
        | listener    | notice                             |
        | one::hear   | {"op": "register", "id": "resend"} |
        | three::hear | {"op": "register", "id": "resend"} |
        | two::hear   | {"op": "register", "id": "resend"} |

    Scenario: what happened before is not told again
      Given the skill "resend" is registered
      And "audit::skills" listens to "skills::on-change"
      Then no notice arrives

    Scenario: after a listener stopped
      Given "one::hear" listens to "skills::on-change"
      And "two::hear" listens to "skills::on-change"
      When "one::hear" stops listening to "skills::on-change"
      And I register the skill "resend"
      Then exactly these notices arrive:
        | listener  | notice                             |
        | two::hear | {"op": "register", "id": "resend"} |

    @in_memory
    Scenario: listeners hear again after an outage
      Given "audit::skills" listens to "skills::on-change"
      When the engine goes down
      And the engine is back
      And I register the skill "resend"
      Then exactly these notices arrive:
        | listener      | notice                             |
        | audit::skills | {"op": "register", "id": "resend"} |

  Rule: nobody waits for a listener

    Scenario Outline: a listener in trouble
      Given <trouble>
      And "trouble::hear" listens to "skills::on-change"
      And "well::hear" listens to "skills::on-change"
      When I register the skill "resend"
      Then it succeeds
      And exactly these notices arrive:
        | listener      | notice                             |
        | trouble::hear | {"op": "register", "id": "resend"} |
        | well::hear    | {"op": "register", "id": "resend"} |

      Examples:
        | trouble                                        |
        | the function "trouble::hear" never answers     |
        | the function "trouble::hear" fails with "ouch" |

    Scenario: a listener that is gone
      Given the worker of the function "gone::hear" has vanished
      And "gone::hear" listens to "skills::on-change"
      And "well::hear" listens to "skills::on-change"
      When I register the skill "resend"
      Then it succeeds
      And exactly these notices arrive:
        | listener   | notice                             |
        | well::hear | {"op": "register", "id": "resend"} |
