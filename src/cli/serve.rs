//! `skills serve`: the registry with an engine of its own, on one machine.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use skills_access::AccessPolicy;

use super::log::{self, LogArgs};
use super::options::TargetArgs;
use super::paths::check_paths;
use super::ready::announce;
use super::{CliError, block_on};
use crate::app::{self, ServeOptions};
use crate::config::LoadedConfig;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Folders to serve: skill folders (`SKILL.md`), markdown files and `.3md` documents.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    target: TargetArgs,

    /// The HTTP listen address.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:49135")]
    http: String,

    /// A host name of this server, such as `skills.example.com`, besides `localhost` and loopback
    /// addresses. May be repeated [config.yaml: `http.allowed_hosts`].
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// An origin whose pages may connect, such as `https://app.example.com`. May be repeated
    /// [config.yaml: `http.allowed_origins`].
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    #[command(flatten)]
    log: LogArgs,
}

const EXAMPLES: &str = "Examples:
  skills serve                                engine, registry and HTTP on this machine
  skills serve skills                         every skill below the folder skills
  skills serve --discover                     the skills of every agent on this machine
  skills serve --data-dir ./data              state in this directory
  skills serve --url ws://127.0.0.1:0         a free port for workers, shown in the log
  skills serve --token T                      require this token of workers and HTTP clients
  skills serve --http 0.0.0.0:49135 --token T --allow-host skills.example.com
                                              serve other machines too";

pub fn run(args: ServeArgs) -> Result<(), CliError> {
    log::start(args.log);
    let loaded = LoadedConfig {
        paths: check_paths(&args.paths)?,
        ..args.target.engine.load_config()
    };
    app::log_warnings(&loaded);
    let data_dir = args.target.required_data_dir()?;
    let http = &loaded.config.http;
    let options = ServeOptions {
        url: args.target.engine.url(),
        http: args.http,
        data_dir,
        access: AccessPolicy {
            allowed_hosts: [args.allow_host, http.allowed_hosts.clone()].concat(),
            allowed_origins: [args.allow_origin, http.allowed_origins.clone()].concat(),
            token: args.target.engine.token,
        },
        announce: (args.log.is_for_people() && io::stderr().is_terminal()).then_some(announce),
    };
    block_on(async {
        let served = app::serve(options, &loaded, app::stop_signal()).await;
        served.map_err(|error| CliError {
            kind: error.kind(),
            hint: error.hint(),
            message: error.to_string(),
        })
    })
}
