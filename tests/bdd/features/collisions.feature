@pure @engine @collisions
Feature: one id in several places

  A registered skill hides the file of the same id, and a file hides the skill of a 3md document.
  The list and the index mark the winner. The others stay readable at addresses with their
  origin.

  Rule: the winner is marked

    @in_memory
    Scenario: a registered skill hides a file
      Given a file holds the skill "resend":
        """
        # From a file
        """
      And the skill "resend" is registered with "# From a worker"
      And the skill "stripe" is registered with "# Stripe"
      Then the skill "resend" hides "fs"
      And the skill "stripe" hides nothing
      And the index lists:
        """
        - [`resend`](iii://resend) — From a worker (hides iii://@files/)
        - [`stripe`](iii://stripe) — Stripe
        """

    @in_memory
    Scenario: a file hides the skill of a 3md document
      Given a file holds the skill "dev":
        """
        # From a file
        """
      And a 3md document holds the skill "dev":
        """
        # From a document
        """
      Then the skill "dev" hides "3md"
      And the index lists:
        """
        ## Custom skills

        - [`dev`](iii://dev) — From a file (hides iii://@agents/)
        """

    @in_memory
    Scenario: a registered skill hides a file and a document
      Given a file holds the skill "dev":
        """
        # From a file
        """
      And a 3md document holds the skill "dev":
        """
        # From a document
        """
      And the skill "dev" is registered with "# From a worker"
      Then the skill "dev" hides "fs and 3md"
      And the index lists:
        """
        - [`dev`](iii://dev) — From a worker (hides iii://@files/, iii://@agents/)
        """

    @in_memory
    Scenario: the mark goes with the collision
      Given a file holds the skill "resend":
        """
        # From a file
        """
      And the skill "resend" is registered with "# From a worker"
      When I unregister the skill "resend"
      Then the skill "resend" hides nothing

    @in_memory
    Scenario: a prompt hides a file
      Given a file holds the prompt "greet" about "A file", which says "Hello."
      And the prompt "greet" is registered for "w::greet"
      Then the prompt "greet" hides "fs"

  Rule: equal bodies count as one

    @in_memory
    Scenario: a worker registers what the file has
      Given a file holds the skill "resend":
        """
        # Resend
        """
      And the skill "resend" is registered with "# Resend"
      Then the skill "resend" hides nothing
      And the index lists:
        """
        - [`resend`](iii://resend) — Resend
        """

    @in_memory
    Scenario: bodies of the same length are compared
      Given a file holds the skill "resend":
        """
        # Resent
        """
      And the skill "resend" is registered with "# Resend"
      Then the skill "resend" hides "fs"

  Rule: a registration hides a markdown file in the folder of a skill

    Background:
      Given a file holds the skill "pdf":
        """
        # PDF
        """
      And the folder of the skill "pdf" has the file "references/api.md":
        """
        ---
        title: The API
        ---
        # From a file
        """

    @in_memory
    Scenario: it is marked
      Given the skill "pdf/references/api" is registered with "# From a worker"
      And the skill "pdf/references/other" is registered with "# Other"
      Then the skill "pdf/references/api" hides "fs"
      And the skill "pdf/references/other" hides nothing
      And the skill "pdf" hides nothing
      And the index lists:
        """
        - `pdf/`
          - `pdf/references/`
            - [`pdf/references/api`](iii://pdf/references/api) — From a worker (hides iii://@files/)
            - [`pdf/references/other`](iii://pdf/references/other) — Other

        ## Custom skills

        - [`pdf`](iii://pdf) — PDF
        """
      When I read "iii://@files/pdf/references/api"
      Then the text is "# From a file"

    @in_memory
    Scenario: equal bodies count as one
      Given the skill "pdf/references/api" is registered with "# From a file"
      Then the skill "pdf/references/api" hides nothing

    @in_memory
    Scenario: a 3md document has the id too
      Given a 3md document holds the skill "pdf/references/api":
        """
        # From a document
        """
      And the skill "pdf/references/api" is registered with "# From a worker"
      Then the skill "pdf/references/api" hides "fs and 3md"

    @in_memory
    Scenario: the doctor names the file
      Given the skill "pdf/references/api" is registered with "# From a worker"
      When I call "skills::doctor"
      Then the doctor finds a problem of the group "hidden" at "pdf/references/api.md"

  Rule: every origin has its address

    Scenario: a registered skill
      Given the skill "resend" is registered with:
        """
        # Resend

        ## Use

        Send.
        """
      When I read "iii://@state/resend#use"
      Then the text is:
        """
        ## Use

        Send.
        """
      When I read "iii://@files/resend"
      Then it fails as "not_found"
      And the message says "skill not found: iii://@files/resend (`iii://resend` has a text)"

    @in_memory
    Scenario: a hidden file and its sections
      Given a file holds the skill "resend":
        """
        # From a file

        ## Use

        Read it.
        """
      And the skill "resend" is registered with "# From a worker"
      When I read "iii://@files/resend"
      Then the text is:
        """
        # From a file

        ## Use

        Read it.
        """
      When I read "iii://@files/resend#use"
      Then the text is:
        """
        ## Use

        Read it.
        """
      When I read "iii://resend"
      Then the text is "# From a worker"

    @in_memory
    Scenario: a hidden 3md document
      Given a 3md document holds the skill "dev":
        """
        # From a document
        """
      And the skill "dev" is registered with "# From a worker"
      When I read "iii://@agents/dev"
      Then the text is "# From a document"
      When I read "iii://@files/dev"
      Then it fails as "not_found"

    Scenario Outline: addresses that cannot be read
      When I read "<uri>"
      Then it fails as "<code>"
      And the message says "<part>"

      Examples:
        | uri              | code          | part                           |
        | iii://@x/a       | invalid_input | unknown origin `@x`            |
        | iii://@files     | invalid_input | non-empty                      |
        | iii://@files/A   | invalid_input | lowercase                      |
        | iii://@state/abc | not_found     | skill not found: iii://@state/abc |

  Rule: `sources.on_conflict` decides whether a registration may hide a file

    @in_memory
    Scenario: refuse
      Given `sources.on_conflict` is "refuse"
      And a file holds the skill "resend":
        """
        # From a file
        """
      When I register the skill "resend" with "# From a worker"
      Then it fails as "conflict"
      And the message says "skill `resend` is in conflict with resend.md"
      When I register the skill "resend" with "# From a file"
      Then it succeeds
      When I register the skill "stripe" with "# Stripe"
      Then it succeeds

    @in_memory
    Scenario: refuse what a markdown file in the folder of a skill has
      Given `sources.on_conflict` is "refuse"
      And a file holds the skill "pdf":
        """
        # PDF
        """
      And the folder of the skill "pdf" has the file "references/api.md":
        """
        # From a file
        """
      When I register the skill "pdf/references/api" with "# From a worker"
      Then it fails as "conflict"
      And the message says "skill `pdf/references/api` is in conflict with pdf/references/api.md"
      When I register the skill "pdf/references/api" with "# From a file"
      Then it succeeds
      When I register the skill "pdf/references/other" with "# Other"
      Then it succeeds

    @in_memory
    Scenario: refuse a prompt
      Given `sources.on_conflict` is "refuse"
      And a file holds the prompt "greet" about "A file", which says "Hello."
      When I register the prompt "greet"
      Then it fails as "conflict"
      And the message says "prompt `greet` is in conflict with greet.md"

    @in_memory
    Scenario Outline: hide, as a warning or without one
      Given `sources.on_conflict` is "<rule>"
      And a file holds the skill "resend":
        """
        # From a file
        """
      When I register the skill "resend" with "# From a worker"
      Then it succeeds
      And the skill "resend" hides "fs"

      Examples:
        | rule |
        | hide |
        | warn |
