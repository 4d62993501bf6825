@pure @engine @compare_and_set
Feature: compare and set

  `skills::register` takes `if_match`: the digest of the body that must be registered, or null if
  none must be. Another body is not replaced. Without `if_match` any body is. `skills::unregister` takes
  `if_match` too.

  Rule: a registration with the digest of what is registered succeeds

    Scenario: the digest of the registered body
      Given the skill "a" is registered with "one"
      When I call "skills::register" with:
        """
        {"id": "a", "skill": "two", "if_match": "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}
        """
      Then it succeeds
      When I read "iii://a"
      Then the text is "two"

    Scenario: null, and nothing is registered
      When I call "skills::register" with:
        """
        {"id": "a", "skill": "one", "if_match": null}
        """
      Then it succeeds

    Scenario: without if_match
      Given the skill "a" is registered with "one"
      When I register the skill "a" with "two"
      Then it succeeds

  Rule: another registration is a conflict, and the error has the current digest

    Scenario: another body is registered
      Given the skill "a" is registered with "two"
      When I call "skills::register" with:
        """
        {"id": "a", "skill": "three", "if_match": "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}
        """
      Then it fails as "conflict"
      And the message says "sha256:3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
      When I read "iii://a"
      Then the text is "two"

    Scenario: null, and a body is registered
      Given the skill "a" is registered with "two"
      When I call "skills::register" with:
        """
        {"id": "a", "skill": "three", "if_match": null}
        """
      Then it fails as "conflict"
      And the message says "is registered with the digest sha256:3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"

    Scenario: a digest, and nothing is registered
      When I call "skills::register" with:
        """
        {"id": "a", "skill": "two", "if_match": "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}
        """
      Then it fails as "conflict"
      And the message says "skill `a` is not registered"

    Scenario: a digest that is none
      When I call "skills::register" with:
        """
        {"id": "a", "skill": "two", "if_match": "sha256:12"}
        """
      Then it fails as "invalid_input"
      And the message says "64 lowercase hexadecimal digits"

  Rule: what is removed can be checked in the same way

    Scenario: the digest of the registered body
      Given the skill "a" is registered with "one"
      When I call "skills::unregister" with:
        """
        {"id": "a", "if_match": "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}
        """
      Then it succeeds
      When I read "iii://a"
      Then it fails as "not_found"

    Scenario: another body is registered
      Given the skill "a" is registered with "two"
      When I call "skills::unregister" with:
        """
        {"id": "a", "if_match": "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}
        """
      Then it fails as "conflict"
      And the message says "sha256:3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
      When I read "iii://a"
      Then the text is "two"

    Scenario: the skill is gone already
      When I call "skills::unregister" with:
        """
        {"id": "a", "if_match": "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}
        """
      Then it succeeds
