@pure @engine @compare_and_set
Feature: compare and set

  `skills::register` takes `if_match`: the digest of the body that must be registered, or null if
  none must be. Another body is not replaced. Without `if_match` any body is. `skills::unregister` takes
  `if_match` too. `prompts::register`, `prompts::unregister` and `prompts::rollback` take the digest of
  the definition, which `prompts::history` has.

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
      Then the result is:
        """
        {"id": "a", "removed": false}
        """

  Rule: a prompt is replaced only if its definition is the expected one

    Scenario: null, and nothing is registered
      When I call "prompts::register" with:
        """
        {"name": "p", "description": "one", "function_id": "mailer::compose", "if_match": null}
        """
      Then it succeeds

    Scenario: the digest of the registered definition
      When I register the prompt "p", described as "one"
      And I call "prompts::register" with:
        """
        {"name": "p", "description": "two", "function_id": "mailer::compose", "if_match": "sha256:1c1ef345009a8564e62238e1395019b9da180c8a1598cd2f64b6c151ba80fc31"}
        """
      Then it succeeds

    Scenario: another definition is registered
      When I register the prompt "p", described as "two"
      And I call "prompts::register" with:
        """
        {"name": "p", "description": "three", "function_id": "mailer::compose", "if_match": "sha256:1c1ef345009a8564e62238e1395019b9da180c8a1598cd2f64b6c151ba80fc31"}
        """
      Then it fails as "conflict"
      And the message says "prompt `p` is registered with the digest sha256:2568b93a5b3aa3ddaaa86519a2e87065b92af4b69ca8db9f702c9e16a0c44f99"

    Scenario: a rollback over another definition
      When I register the prompt "p", described as "one"
      And I register the prompt "p", described as "two"
      And I call "prompts::rollback" with:
        """
        {"name": "p", "version": 1, "if_match": "sha256:1c1ef345009a8564e62238e1395019b9da180c8a1598cd2f64b6c151ba80fc31"}
        """
      Then it fails as "conflict"
      When I call "prompts::rollback" with:
        """
        {"name": "p", "version": 1, "if_match": "sha256:2568b93a5b3aa3ddaaa86519a2e87065b92af4b69ca8db9f702c9e16a0c44f99"}
        """
      Then it succeeds

  Rule: a prompt is removed only if its definition is the expected one

    Scenario: the digest of the registered definition
      When I register the prompt "p", described as "one"
      And I call "prompts::unregister" with:
        """
        {"name": "p", "if_match": "sha256:1c1ef345009a8564e62238e1395019b9da180c8a1598cd2f64b6c151ba80fc31"}
        """
      Then it succeeds
      When I call "prompts::register" with:
        """
        {"name": "p", "description": "one", "function_id": "mailer::compose", "if_match": null}
        """
      Then it succeeds

    Scenario: another definition is registered
      When I register the prompt "p", described as "two"
      And I call "prompts::unregister" with:
        """
        {"name": "p", "if_match": "sha256:1c1ef345009a8564e62238e1395019b9da180c8a1598cd2f64b6c151ba80fc31"}
        """
      Then it fails as "conflict"
      And the message says "prompt `p` is registered with the digest sha256:2568b93a5b3aa3ddaaa86519a2e87065b92af4b69ca8db9f702c9e16a0c44f99"

    Scenario: the prompt is gone already
      When I call "prompts::unregister" with:
        """
        {"name": "p", "if_match": "sha256:1c1ef345009a8564e62238e1395019b9da180c8a1598cd2f64b6c151ba80fc31"}
        """
      Then the result is:
        """
        {"name": "p", "removed": false}
        """
