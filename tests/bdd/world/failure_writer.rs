//! Prints only the scenarios that failed.
//!
//! With `-v` every step is printed.

use std::io::Stdout;

use cucumber::event::{Cucumber, Feature, Rule, Scenario, Step};
use cucumber::writer::basic::{self, Basic, Coloring};
use cucumber::writer::{Arbitrary, NonTransforming, Verbosity};
use cucumber::{Event, Writer, parser};

use super::World;

type Happened = parser::Result<Event<Cucumber<World>>>;

/// A writer that buffers a scenario until it has failed or passed.
pub struct FailureWriter {
    basic: Basic<Stdout>,
    scenario: Vec<Happened>,
    failed: bool,
}

impl FailureWriter {
    /// Prints to stdout.
    pub fn stdout() -> Self {
        let basic = Basic::raw(std::io::stdout(), Coloring::Auto, Verbosity::Default);
        Self {
            basic,
            scenario: Vec::new(),
            failed: false,
        }
    }

    fn note(&mut self, event: &Scenario<World>) {
        match event {
            Scenario::Started => self.failed = false,
            Scenario::Hook(_, cucumber::event::Hook::Failed(..))
            | Scenario::Background(_, Step::Failed(..))
            | Scenario::Step(_, Step::Failed(..)) => self.failed = true,
            _ => {}
        }
    }
}

impl Writer<World> for FailureWriter {
    type Cli = basic::Cli;

    async fn handle_event(&mut self, event: Happened, cli: &Self::Cli) {
        let scenario = match event.as_deref() {
            Ok(Cucumber::Feature(
                _,
                Feature::Scenario(_, scenario) | Feature::Rule(_, Rule::Scenario(_, scenario)),
            )) if cli.verbose == 0 => scenario.event.clone(),
            // Errors outside a scenario, and the titles of features and rules.
            _ => return self.basic.handle_event(event, cli).await,
        };
        self.note(&scenario);
        self.scenario.push(event);
        if matches!(scenario, Scenario::Finished) {
            for event in self.scenario.drain(..) {
                if self.failed {
                    self.basic.handle_event(event, cli).await;
                }
            }
        }
    }
}

/// The summary at the end.
impl Arbitrary<World, String> for FailureWriter {
    async fn write(&mut self, text: String) {
        Arbitrary::<World, String>::write(&mut self.basic, text).await;
    }
}

impl NonTransforming for FailureWriter {}
