@pure @engine @leases
Feature: owners and leases

  A registration may name its owner and a time to live. Past it, the entry is stale: list and
  index mark it, and after a grace period it is removed. An entry without a lease stays.

  Rule: list and index show the owner and whether the lease has ended

    Scenario: an owner alone
      When I register the skill "resend" with "# Resend" as "mailer"
      Then it succeeds
      And the skill "resend" has the owner "mailer"
      And the skill "resend" is not stale

    Scenario: a valid lease
      When I register the skill "resend" with "# Resend" as "mailer" for 600000 ms
      And I register the prompt "greet" as "greeter" for 600000 ms
      Then the skill "resend" has the owner "mailer"
      And the skill "resend" is not stale
      And the prompt "greet" has the owner "greeter"

    Scenario: a lease that has ended
      Given entries past their leases are only marked
      And the skill "stripe" is registered with "# Stripe"
      When I register the skill "resend" with "# Resend" for 1 ms
      Then the skill "resend" becomes stale
      And the skill "stripe" is not stale
      And the index lists:
        """
        - [`resend`](iii://resend) — Resend (stale)
        - [`stripe`](iii://stripe) — Stripe
        """
      When I read "iii://resend"
      Then the text is "# Resend"

    Scenario: the answer and the row are those of every registration
      When I register the skill "resend" with "# Resend" as "mailer" for 600000 ms
      Then the result is:
        """
        {"id": "resend", "registered_at": "{time}"}
        """

  Rule: an entry past its lease is removed after the grace period, and subscribers are told

    Scenario: a skill
      Given entries are removed 20 ms after their leases
      And "w::heard" is subscribed to "skills::on-change"
      When I register the skill "resend" with "# Resend" for 20 ms
      Then exactly these events arrive:
        | listener | notice                               |
        | w::heard | {"op": "register", "id": "resend"}   |
        | w::heard | {"op": "unregister", "id": "resend"} |
      And the skill "resend" is not listed

    Scenario: a prompt
      Given entries are removed 20 ms after their leases
      And "w::heard" is subscribed to "prompts::on-change"
      When I register the prompt "greet" as "greeter" for 20 ms
      Then exactly these events arrive:
        | listener | notice                                |
        | w::heard | {"op": "register", "name": "greet"}   |
        | w::heard | {"op": "unregister", "name": "greet"} |

    Scenario: what has no lease stays
      Given entries are removed 20 ms after their leases
      And "w::heard" is subscribed to "skills::on-change"
      When I register the skill "kept" with "# Kept"
      And I register the skill "owned" with "# Owned" as "mailer"
      And I register the skill "resend" with "# Resend" for 20 ms
      Then exactly these events arrive:
        | listener | notice                               |
        | w::heard | {"op": "register", "id": "kept"}     |
        | w::heard | {"op": "register", "id": "owned"}    |
        | w::heard | {"op": "register", "id": "resend"}   |
        | w::heard | {"op": "unregister", "id": "resend"} |
      And the skill "kept" has neither an owner nor a lease
      And the skill "owned" has the owner "mailer"

  Rule: registering again or renewing extends the lease

    Scenario: registering again
      Given entries past their leases are only marked
      When I register the skill "resend" with "# Resend" for 1 ms
      Then the skill "resend" becomes stale
      When I register the skill "resend" with "# Resend" for 600000 ms
      Then the skill "resend" is not stale

    Scenario: renewing all entries of an owner
      When I register the skill "resend" with "# Resend" as "mailer" for 600000 ms
      And I register the skill "stripe" with "# Stripe" as "mailer" for 600000 ms
      And I register the skill "other" with "# Other" as "another" for 600000 ms
      And I register the prompt "greet" as "mailer" for 600000 ms
      And I renew the leases of "mailer"
      Then it succeeds
      And it renewed 2 skills and 1 prompt

    Scenario: an owner without entries
      When I renew the leases of "mailer"
      Then it fails as "not_found"
      And the message says "no entry names the owner `mailer`"

    Scenario: an owner whose entries have no time to live
      When I register the skill "resend" with "# Resend" as "mailer"
      And I renew the leases of "mailer"
      Then it fails as "not_found"
      And the message says "1 entry names the owner `mailer`, without `ttl_ms`"

  Rule: a registration replaces owner and lease

    Scenario: without them
      When I register the skill "resend" with "# Resend" as "mailer" for 600000 ms
      And I register the skill "resend" with "# Resend"
      Then the skill "resend" has neither an owner nor a lease
      And there are no rows of leases

    Scenario: an unregistration ends them
      When I register the skill "resend" with "# Resend" as "mailer" for 600000 ms
      And I unregister the skill "resend"
      And I register the skill "resend" with "# Resend"
      Then the skill "resend" has neither an owner nor a lease
      And there are no rows of leases

  Rule: owners and leases survive a restart

    Scenario: of the registry
      Given entries past their leases are only marked
      When I register the skill "resend" with "# Resend" as "mailer" for 1 ms
      And the registry restarts
      Then the skill "resend" becomes stale
      And the skill "resend" has the owner "mailer"

  Rule: gc removes what named an owner that is neither connected nor holds a valid lease

    Scenario: the owner has left
      Given the skill "kept" is registered with "# Kept"
      And a worker that has left registered the skill "left" as "mailer"
      When I ask what garbage there is
      Then the garbage is "left"
      And the owner "mailer" is not connected
      When I collect garbage
      Then the garbage is "left"
      And the skill "left" is not listed
      And the skill "kept" has neither an owner nor a lease
      And there are no rows of leases

    Scenario: subscribers are told
      Given a worker that has left registered the skill "left" as "mailer"
      And "w::heard" is subscribed to "skills::on-change"
      When I collect garbage
      Then exactly these events arrive:
        | listener | notice                             |
        | w::heard | {"op": "unregister", "id": "left"} |

    Scenario: the owner holds a valid lease
      Given a worker that has left registered the skill "left" as "mailer"
      And a worker that has left registered the skill "leased" as "mailer" for 600000 ms
      When I collect garbage
      Then the garbage is ""
      And the owner "mailer" is not connected

    Scenario: the worker that registered it is connected
      When I register the skill "resend" with "# Resend" as "mailer"
      And I collect garbage
      Then the garbage is ""
      And the owner "mailer" is connected

    Scenario: the lease has ended
      Given entries past their leases are only marked
      And a worker that has left registered the skill "left" as "mailer" for 1 ms
      When I register the skill "unowned" with "# Unowned" for 1 ms
      Then the skill "left" becomes stale
      And the skill "unowned" becomes stale
      When I collect garbage
      Then the garbage is "left, unowned"

  Rule: bad values are errors, and nothing is stored

    Scenario Outline: owners and times to live
      When I call "skills::register" with:
        """
        {"id": "resend", "skill": "# Resend", <field>}
        """
      Then it fails as "invalid_input"
      And the message says "<part>"
      And the skill "resend" is not listed

      Examples:
        | field                       | part                                                                  |
        | "ttl_ms": 0                 | ttl_ms must be at least 1, not 0                                      |
        | "ttl_ms": -5                | field `ttl_ms`: invalid value: integer `-5`                           |
        | "ttl_ms": 253402300800000   | ttl_ms is too large: 253402300800000, at most 31536000000 (365 days)  |
        | "ttl_ms": "30s"             | field `ttl_ms`: invalid type: string                                  |
        | "owner": ""                 | owner must be non-empty                                               |
        | "owner": "a\\u0007b"        | owner must not have control characters                                |
        | "owner": 7                  | field `owner`: invalid type: integer `7`                              |

    Scenario: an owner of 10 KiB
      When I register the skill "resend" with an owner of 10240 bytes
      Then it fails as "invalid_input"
      And the message says "owner is too long: 10240 bytes, at most 256"
