@pure @engine @history
Feature: versions of skills and prompts

  Every change of a registered skill or prompt makes a version with a number, a time and a digest.
  The last versions are kept, also after an unregistration. A rollback registers an older version
  again.

  Rule: a change makes a version, and the same content makes none

    Scenario: a skill that changes
      Given the skill "a" is registered with "one"
      And the skill "a" is registered with "two"
      And the skill "a" is registered with "two"
      Then the versions of the skill "a" are:
        | 2 | register | current |
        | 1 | register |         |
      When I read "iii://a"
      Then the text is "two"

    Scenario: the same content is announced although it makes no version
      Given the skill "a" is registered with "one"
      And "w::heard" is subscribed to "skills::on-change"
      When I register the skill "a" with "one"
      Then exactly these events arrive:
        | listener | notice                          |
        | w::heard | {"op": "register", "id": "a"}   |
      And the versions of the skill "a" are:
        | 1 | register | current |

    Scenario: a version has a time, a digest and a size
      Given the skill "a" is registered with "one"
      When I call "skills::history" with:
        """
        {"id": "a"}
        """
      Then version 1 has:
        | digest | sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed |
        | bytes  | 3                                                                       |

    Scenario: after an unregistration the history stays and numbers go on
      Given the skill "a" is registered with "one"
      When I unregister the skill "a"
      And I register the skill "a" with "two"
      Then the versions of the skill "a" are:
        | 3 | register   | current |
        | 2 | unregister |         |
        | 1 | register   |         |

    Scenario: numbers go on after a restart
      Given the skill "a" is registered with "one"
      When the registry restarts
      And I register the skill "a" with "two"
      Then the versions of the skill "a" are:
        | 2 | register | current |
        | 1 | register |         |

    Scenario: the last 20 versions are kept
      Given the skill "a" was changed 23 times
      Then the versions of the skill "a" are 4 to 23
      When I read "iii://a@3"
      Then it fails as "not_found"
      And the message says "version 3 of skill `a` not found"
      And the message says "it has 4 to 23"

    Scenario: what never was registered has no history
      When I call "skills::history" with:
        """
        {"id": "a"}
        """
      Then it fails as "not_found"

  Rule: nothing that was registered before is lost

    Scenario: a row of another program, or of an older release
      Given another worker wrote the row "a" in scope "skills":
        """
        {"id": "a", "skill": "old", "registered_at": "2026-01-01T00:00:00Z"}
        """
      When I register the skill "a" with "new"
      Then the versions of the skill "a" are:
        | 2 | register | current |
        | 1 | found    |         |
      When I read "iii://a@1"
      Then the text is "old"

  Rule: an address with a version reads that version

    Scenario Outline: by number or by the beginning of the digest
      Given the skill "a" is registered with "# One"
      And the skill "a" is registered with "# Two"
      When I read "<address>"
      Then the text is "<text>"

      Examples:
        | address             | text  |
        | iii://a@1           | # One |
        | iii://a@2           | # Two |
        | iii://a@sha256:2806 | # Two |
        | iii://a@1#one       | # One |

    Scenario: several addresses in one text
      Given the skill "a" is registered with "one"
      And the skill "a" is registered with "two"
      When I call "skill::fetch" with:
        """
        {"uris": ["iii://a@1", "iii://a"]}
        """
      Then the text is:
        """
        # iii://a@1

        one

        ---

        # iii://a

        two
        """

    Scenario Outline: a version that does not exist
      Given the skill "a" is registered with "one"
      When I read "<address>"
      Then it fails as "<code>"
      And the message says "<message>"

      Examples:
        | address                        | code          | message                    |
        | iii://a@2                      | not_found     | it has 1                   |
        | iii://a@18446744073709551615   | not_found     | it has 1                   |
        | iii://a@99999999999999999999   | invalid_input | is too large               |
        | iii://a@0                      | invalid_input | must be at least 1         |
        | iii://a@latest                 | invalid_input | is not a number            |
        | iii://a@sha256:0000            | not_found     | it has 1                   |
        | iii://a@sha256:7               | invalid_input | has too few digits         |
        | iii://b@1                      | not_found     | skill `b` has no versions  |

  Rule: a rollback registers an older version again, as a new version

    Scenario: back to the first version
      Given the skill "a" is registered with "one"
      And the skill "a" is registered with "two"
      When I call "skills::rollback" with:
        """
        {"id": "a", "version": 1}
        """
      Then the result is:
        """
        {"id": "a", "version": 3, "from": 1, "registered_at": "{time}"}
        """
      And the versions of the skill "a" are:
        | 3 | rollback | current |
        | 2 | register |         |
        | 1 | register |         |
      When I read "iii://a"
      Then the text is "one"

    Scenario: a rollback brings back what was unregistered
      Given the skill "a" is registered with "one"
      And "w::heard" is subscribed to "skills::on-change"
      When I unregister the skill "a"
      And I call "skills::rollback" with:
        """
        {"id": "a", "version": "sha256:7692"}
        """
      Then exactly these events arrive:
        | listener | notice                          |
        | w::heard | {"op": "unregister", "id": "a"} |
        | w::heard | {"op": "register", "id": "a"}   |
      When I read "iii://a"
      Then the text is "one"

    Scenario: a removal has no text
      Given the skill "a" is registered with "one"
      When I unregister the skill "a"
      And I call "skills::rollback" with:
        """
        {"id": "a", "version": 2}
        """
      Then it fails as "not_found"
      And the message says "version 2 of skill `a` has no text: it is a removal"

    Scenario: only if a certain text is registered
      Given the skill "a" is registered with "one"
      And the skill "a" is registered with "two"
      When I call "skills::rollback" with:
        """
        {"id": "a", "version": 1, "if_match": null}
        """
      Then it fails as "conflict"
      When I read "iii://a"
      Then the text is "two"

    Scenario: a prompt
      When I register the prompt "greet", described as "Says hello"
      And I register the prompt "greet", described as "Says goodbye"
      And I call "prompts::rollback" with:
        """
        {"name": "greet", "version": 1}
        """
      Then the result is:
        """
        {"name": "greet", "version": 3, "from": 1, "registered_at": "{time}"}
        """
      When I call "prompts::history" with:
        """
        {"name": "greet"}
        """
      Then version 3 has:
        | op                 | rollback   |
        | prompt.description | Says hello |

  Rule: the space of what is not registered any more can be given back

    Scenario: texts are given back, and numbers go on
      Given the skill "a" is registered with "one"
      And the skill "b" is registered with "two"
      When I unregister the skill "a"
      And I call "skills::gc" with:
        """
        {"history": true}
        """
      Then the result is:
        """
        {"dry_run": false, "skills": [], "prompts": [], "owners": [], "rows": 0,
         "history": {"versions": 1, "bytes": 3, "skills": ["a"], "prompts": []}}
        """
      And the versions of the skill "a" are:
        | 2 | unregister | |
      When I register the skill "a" with "three"
      Then the versions of the skill "a" are:
        | 3 | register   | current |
        | 2 | unregister |         |
      And the versions of the skill "b" are:
        | 1 | register | current |

    Scenario: what would be given back
      Given the skill "a" is registered with "one"
      When I unregister the skill "a"
      And I call "skills::gc" with:
        """
        {"history": true, "dry_run": true}
        """
      Then it succeeds
      When I read "iii://a@1"
      Then the text is "one"

  Rule: the log tells who changed what

    Scenario: changes of skills and prompts, newest first
      When I register the skill "a" with "one" as "mailer"
      And I register the prompt "greet", described as "Says hello"
      And I unregister the skill "a"
      And I call "skills::log"
      Then the log is:
        | a     | 2 | unregister |        |
        | greet | 1 | register   |        |
        | a     | 1 | register   | mailer |

    Scenario: the changes of one skill
      Given the skill "a" is registered with "one"
      And the skill "b" is registered with "two"
      When I call "skills::log" with:
        """
        {"id": "b"}
        """
      Then the log is:
        | b | 1 | register | |

    Scenario: a time that has not come yet
      Given the skill "a" is registered with "one"
      When I call "skills::log" with:
        """
        {"since": "9999-01-01T00:00:00Z"}
        """
      Then the result is:
        """
        {"changes": [], "total": 0}
        """

    Scenario Outline: bad requests
      When I call "skills::log" with:
        """
        <request>
        """
      Then it fails as "invalid_input"
      And the message says "<message>"

      Examples:
        | request                    | message                      |
        | {"since": "yesterday"}     | is not a time                |
        | {"limit": 0}               | must be 1 to 10000, not 0    |
        | {"id": "a", "name": "b"}   | must not both be given       |

    Scenario: an entry past its lease
      Given entries are removed 20 ms after their leases
      When I register the skill "resend" with "# Resend" as "mailer" for 20 ms
      Then the log has the change "expire" of "resend" by "mailer"
