//! Loads the agent into a JVM that runs, and ends its trace.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use trace_format::agent_result;

use crate::commands::attach_progress;
use crate::jvm::attach;
use crate::jvm::process::{self, Process};
use crate::outcome::{self, Outcome, cause};
use crate::output;

#[derive(Args, Debug)]
#[command(after_help = "\
Options of the agent, separated by commas or spaces:
  file=PATH        the trace; %p is the process id, %t the time; default locktrace-%p.lct, here
  duration=TIME    end the trace after 30 (seconds), 30s, 5m or 2h
  chains=FRAMES    record at most this number of frames of a call chain
  sample=PERCENT   record only a sample of the call chains as a whole while the agent takes more of
                   a processor's time than this
  include=PACKAGE  instrument the releases in this package or class only
  exclude=PACKAGE  leave the code of this package or class as it is

Examples:
  locktrace attach 4711 -- file=app.lct duration=1m
  locktrace top 4711
  locktrace detach 4711")]
pub(crate) struct AttachArguments {
    #[command(flatten)]
    pub(crate) agent: AgentArguments,

    /// Wait until loaded classes are changed, as is done on a terminal, where that is shown
    #[arg(long)]
    pub(crate) wait: bool,

    /// Options of the agent
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct DetachArguments {
    #[command(flatten)]
    pub(crate) agent: AgentArguments,
}

/// Which agent, and where.
#[derive(Args, Debug)]
pub(crate) struct AgentArguments {
    /// The process id of the JVM
    #[arg(value_name = "PID")]
    pub(crate) pid: u32,

    /// The agent's library [default: the one that is installed with this program]
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

/// What the library is called.
const LIBRARY: &str = "liblocktrace.so";

/// Why there is no trace, or none that ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    #[error(
        "there is no {LIBRARY} beside this program, nor in ../agent or ../lib from there: build \
         it with `make agent`, or name it with --agent"
    )]
    NoLibrary,
    #[error("{}: there is no such library", .0.display())]
    Missing(PathBuf),
    #[error("{}: this name cannot be passed to a JVM", .0.display())]
    Name(PathBuf),
    #[error("process {0} is traced already: end that trace with `locktrace detach {0}`")]
    TracedAlready(u32),
    #[error("process {0} is not traced by an agent")]
    NotTraced(u32),
    #[error("process {0} does not tell agents of monitors")]
    NoEvents(u32),
    #[error("process {0} cannot write the trace: its standard error says why")]
    File(u32),
    #[error(
        "process {0} has loaded another copy of the agent before, and only that one can trace it: use {1}"
    )]
    OtherCopy(u32, String),
    #[error("process {0} cannot load the agent (code {1}): its standard error may say why")]
    Code(u32, i32),
}

/// The agent does not know its options.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OptionError {
    #[error("option '{0}': expected NAME=VALUE; `locktrace attach --help` lists the options")]
    NoValue(String),
    #[error("option '{0}' would end where it has a comma")]
    Comma(String),
    #[error("the agent does not understand '{0}': `locktrace attach --help` lists the options")]
    Refused(String),
}

cause!(Trace: AgentError);
cause!(Usage: OptionError);

/// Starts a trace.
///
/// # Errors
///
/// If the JVM cannot be asked, or the agent does not start one.
pub(crate) fn attach(arguments: &AttachArguments) -> outcome::Result<Outcome> {
    let pid = arguments.agent.pid;
    let options = options(&arguments.options)?;
    let debugger = Process::find(pid)?.mapped_file(|file| file.ends_with("/libjdwp.so"));
    if debugger.is_some() {
        output::complain(&format_args!(
            "process {pid} can be debugged: HotSpot removes breakpoints from classes whose code an agent \
             changes"
        ));
    }
    load(&arguments.agent, &options)?;
    let trace = process::trace_of(pid)?;
    let mut out = output::machine();
    writeln!(out, "Tracing process {pid} to {}", trace.display())?;
    out.flush()?;
    if arguments.wait || io::stderr().is_terminal() {
        attach_progress::show(&trace, pid, &mut out)?;
        out.flush()?;
    }
    Ok(Outcome::Complete)
}

/// Ends a trace.
///
/// # Errors
///
/// If the JVM cannot be asked, or writes no trace.
pub(crate) fn detach(arguments: &DetachArguments) -> outcome::Result<Outcome> {
    load(&arguments.agent, "stop")?;
    Ok(Outcome::Complete)
}

/// The options as the agent wants them. The file is meant from here, not from the JVM's directory.
fn options(words: &[String]) -> outcome::Result<String> {
    let words = words.iter().flat_map(|word| word.split(','));
    let mut options = vec!["start".to_owned()];
    let mut file = "locktrace-%p.lct";
    for word in words.filter(|word| !word.is_empty()) {
        match word.split_once('=') {
            Some(("file", name)) => file = name,
            Some(_) => options.push(word.to_owned()),
            None => return Err(OptionError::NoValue(word.to_owned()).into()),
        }
    }
    let path = std::path::absolute(file)?;
    let name = path
        .to_str()
        .ok_or_else(|| AgentError::Name(path.clone()))?;
    if name.contains(',') {
        return Err(OptionError::Comma(name.to_owned()).into());
    }
    options.push(format!("file={name}"));
    Ok(options.join(","))
}

/// Loads the agent and lets it do what the options say.
fn load(arguments: &AgentArguments, options: &str) -> outcome::Result<()> {
    let pid = arguments.pid;
    Process::find(pid)?;
    let library = library(arguments.agent.as_deref())?;
    let name = library.to_str();
    let name = name.ok_or_else(|| AgentError::Name(library.clone()))?;
    match attach::load_agent(pid, name, options)? {
        agent_result::DONE => Ok(()),
        agent_result::OPTIONS => Err(OptionError::Refused(options.to_owned()).into()),
        agent_result::TRACED_ALREADY => Err(AgentError::TracedAlready(pid).into()),
        agent_result::NOT_TRACED => Err(AgentError::NotTraced(pid).into()),
        agent_result::JVM => Err(AgentError::NoEvents(pid).into()),
        agent_result::OTHER_COPY => Err(AgentError::OtherCopy(pid, other_copy(pid, name)).into()),
        agent_result::FILE => Err(AgentError::File(pid).into()),
        code => Err(AgentError::Code(pid, code).into()),
    }
}

/// How to name the copy of the library that the process has loaded first.
fn other_copy(pid: u32, this: &str) -> String {
    let process = Process::find(pid).ok();
    let file = process.and_then(|process| {
        process.mapped_file(|file| file != this && file.contains("liblocktrace"))
    });
    file.map_or_else(|| "that".to_owned(), |file| format!("--agent {file}"))
}

/// The agent's library, under a name that does not depend on the working directory.
fn library(named: Option<&Path>) -> outcome::Result<PathBuf> {
    if let Some(named) = named {
        return match named.canonicalize() {
            Ok(path) => Ok(path),
            Err(_) => Err(AgentError::Missing(named.to_owned()).into()),
        };
    }
    let program = env::current_exe()?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let places =
        ["", "../agent", "../lib/locktrace"].map(|place| directory.join(place).join(LIBRARY));
    let found = places.iter().find_map(|path| path.canonicalize().ok());
    found.ok_or_else(|| AgentError::NoLibrary.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_meant_from_here() {
        let words =
            |words: &[&str]| options(&words.iter().map(|&word| word.into()).collect::<Vec<_>>());
        let here = env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(
            words(&["duration=5s,chains=9", "file=x.lct"]).unwrap(),
            format!("start,duration=5s,chains=9,file={here}/x.lct")
        );
        assert_eq!(
            words(&[]).unwrap(),
            format!("start,file={here}/locktrace-%p.lct")
        );
        assert!(
            words(&["stop"])
                .unwrap_err()
                .downcast::<OptionError>()
                .is_ok()
        );
    }
}
