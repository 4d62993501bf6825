@pure @fs_sources
Feature: skills as clients of Agent Skills see them

  Every skill is published as a folder with a `SKILL.md` whose addresses begin with `skill://`. The
  MCP extension `io.modelcontextprotocol/skills` lists them with the digests of their files.

  Rule: a folder is published as it is, if the specification accepts it

    Background:
      Given the file "skills/pdf/SKILL.md" holds:
        """
        ---
        name: pdf
        description: Reads PDF files.
        ---
        # PDF
        """
      And the file "skills/pdf/scripts/run.py" holds "print()"
      And the file "skills/pdf/forms/SKILL.md" holds:
        """
        ---
        name: forms
        description: Fills forms.
        ---
        # Forms
        """

    Scenario: a skill has the files of the skills below it
      When the skills are "skills/**/*.md"
      Then the published skills are "pdf, pdf/forms"
      And "pdf" is published with "skill://pdf/SKILL.md, skill://pdf/forms/SKILL.md, skill://pdf/scripts/run.py"
      And "pdf/forms" is published with "skill://pdf/forms/SKILL.md"
      And every published file has its digest

    Scenario: a registered skill below a folder is one of its files
      When the skills are "skills/**/*.md"
      And the skill "pdf/extra" is registered as well
      And the skill "pdf/forms" is registered as well
      Then the published skills are "pdf, pdf/extra, pdf/forms"
      And "pdf" is published with "skill://pdf/SKILL.md, skill://pdf/extra/SKILL.md, skill://pdf/forms/SKILL.md, skill://pdf/scripts/run.py"
      And every published file has its digest

    Scenario: a folder that the specification rejects is served and not published
      Given the file "skills/other/SKILL.md" holds:
        """
        ---
        name: another
        description: Has the wrong name.
        ---
        # Other
        """
      When the skills are "skills/**/*.md"
      Then the published skills are "pdf, pdf/forms"
      And "other" is not published because "has the name `another`, but its folder is `other`"
      And the address "iii://other" has "# Other"

  Rule: every other skill gets a generated SKILL.md, and its iii:// address keeps the body

    Scenario: markdown and registered skills
      Given the file "skills/mail.md" holds:
        """
        # Mail

        Sends: mail.
        """
      When the skills are "skills/*.md"
      And the skill "team/send" is registered as well
      Then the published skills are "mail, team/send"
      And the address "skill://mail/SKILL.md" is:
        """
        ---
        name: "mail"
        description: "Sends: mail."
        ---
        # Mail

        Sends: mail.
        """
      And the address "skill://team/send/SKILL.md" is:
        """
        ---
        name: "send"
        description: "Registered"
        ---
        # Registered
        """
      And the address "iii://team/send" is:
        """
        # Registered
        """
      And every published file has its digest

    Scenario: an id whose last segment cannot be a name is not published
      Given the file "skills/send_mail.md" holds "# Mail"
      When the skills are "skills/*.md"
      Then the published skills are ""
      And "send_mail" is not published because "cannot be the name of an Agent Skill"
      And the address "skill://send_mail/SKILL.md" is not found: "file not found"

  Rule: of skills with one name, the discovery document of a web server has the first

    Clients of that document install skills by their names, so a second one would overwrite the
    first. Lists of the MCP extension have both.

    Scenario: two folders in different places
      Given the file "skills/team-b/pdf/SKILL.md" holds "---␊name: pdf␊description: B␊---␊# B"
      And the file "skills/team-a/pdf/SKILL.md" holds "---␊name: pdf␊description: A␊---␊# A"
      When the skills are "skills/**/*.md"
      Then the published skills are "team-a/pdf, team-b/pdf"
      And the skills to install by name are "team-a/pdf"
      And "team-b/pdf" has the name of "team-a/pdf"

  Rule: folders list what is directly in them

    Scenario: a folder above skills, a skill and a folder in it
      Given the file "skills/team/pdf/SKILL.md" holds:
        """
        ---
        name: pdf
        description: Reads PDF files.
        ---
        # PDF
        """
      And the file "skills/team/pdf/scripts/run.py" holds "print()"
      When the skills are "skills/**/*.md"
      Then the folder "skill://" has "team/"
      And the folder "skill://team" has "pdf/"
      And the folder "skill://team/pdf" has "SKILL.md, scripts/"
      And the folder "skill://team/pdf/scripts" has "run.py"
      And "skill://team/pdf/SKILL.md" is no folder
