@pure @engine @doctor
Feature: what is wrong with the registry that runs

  `skills::doctor` lists the findings of the registry: its configuration, its store, its rows and its
  files. `skills doctor` shows them.

  Scenario: nothing is wrong
    Given the skill "a" is registered with "# A␊␊Words."
    When I call "skills::doctor"
    Then the doctor finds no problem

  Scenario: front matter that is not closed
    Given the skill "open" is registered with "---␊name: a␊description: b␊"
    When I call "skills::doctor"
    Then the doctor finds a problem of the group "to_correct" at "/open"
