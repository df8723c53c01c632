//! Where traces come from.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Where traces come from, for tables over many hosts.
#[derive(Clone, Debug, Args)]
pub(crate) struct OriginArguments {
    /// Name of the host in tables [default: the name of this machine]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    host: Option<String>,

    /// Version of the application in tables
    #[arg(long, value_name = "VERSION", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) release: Option<String>,

    /// Also write the table nestings: the locks that were owned while others were waited for.
    /// Takes several times as long
    #[arg(long)]
    pub(crate) nestings: bool,
}

impl OriginArguments {
    /// One of the options was given.
    pub(crate) fn is_given(&self) -> bool {
        self.host.is_some() || self.release.is_some() || self.nestings
    }

    /// What the machine is called.
    pub(crate) fn host(&self) -> String {
        let this_host = || {
            let name = rustix::system::uname();
            name.nodename().to_string_lossy().into_owned()
        };
        self.host.clone().unwrap_or_else(this_host)
    }
}
