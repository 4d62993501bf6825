//! Owners and leases on the command line: `--owner` and `--ttl`, and `skills renew`.

use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_api::leases::RENEW;
use skills_core::{Owner, Ttl};

use super::CliError;
use super::connection::open;
use super::humanize::count;
use super::options::{Options, parse_duration};

/// Who keeps a registration, and how long it is valid.
#[derive(Args)]
pub struct LeaseArgs {
    /// Who keeps it registered, such as the name of a worker.
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,

    /// How long it is valid without being renewed, such as `30s`, `5m` or `2h`; then it is
    /// removed.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    ttl: Option<Duration>,
}

impl LeaseArgs {
    /// Checks the values and adds them to the input of a registration.
    pub fn add_to(&self, payload: &mut Value) -> Result<(), CliError> {
        if let Some(owner) = &self.owner {
            payload["owner"] = owner.parse::<Owner>()?.as_str().into();
        }
        if let Some(ttl) = &self.ttl {
            let ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
            payload["ttl_ms"] = Ttl::from_ms(ms)?.as_ms().into();
        }
        Ok(())
    }
}

/// Extend the leases of every skill and prompt that names an owner.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RenewArgs {
    /// The owner that the registrations named.
    owner: String,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills register resend/email email.md --owner mailer --ttl 5m
  skills renew mailer                  as long again

An owner without a lease is an error with exit code 3: its entries were removed.";

#[derive(Deserialize, Serialize)]
struct Renewed {
    owner: String,
    skills: usize,
    prompts: usize,
    expires_at: String,
}

pub fn renew(args: &RenewArgs) -> Result<(), CliError> {
    let owner: Owner = args.owner.parse()?;
    open(&args.options, async |connection| {
        let payload = json!({ "owner": owner.as_str() });
        let renewed: Renewed = connection.call(&RENEW, &payload).await?;
        let output = &connection.output;
        output.data("renew", &renewed, |_| format!("{owner}\n"))?;
        let (skills, prompts) = (
            count(renewed.skills, "skill"),
            count(renewed.prompts, "prompt"),
        );
        output.remark(&format!("renewed {skills} and {prompts}"));
        Ok(())
    })
}
