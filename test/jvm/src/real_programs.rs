//! Real programs, the H2 database and a shop on Tomcat: their class paths, and what a report on them
//! must name.

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use crate::locktrace::{ReportNode, report};
use crate::maven::{Jar, program_class_path};

const DATABASE: Jar = Jar {
    name: "h2-1.2.121.jar",
    sha256: "3233d38ee11e15243f66c98ad388da9f12cf038a203cf507415081e3329ac4f4",
};

/// The server and what it depends on.
const JARS: [Jar; 2] = [
    Jar {
        name: "tomcat-embed-core-9.0.98.jar",
        sha256: "93cd8259690732cd6e25eb084090ea9e21db95631ca1ec8e05b26002379f185a",
    },
    Jar {
        name: "tomcat-annotations-api-9.0.98.jar",
        sha256: "a6451be75cbe373e79f30d626f199e77b70020bd164a23632e5f4f58eaffbaef",
    },
];

const LOGGER: Jar = Jar {
    name: "log4j-1.2.17.jar",
    sha256: "1d31696445697720527091754369082a6651bd49781b6005deb94e56753406f9",
};

const REENTRANT_LOCK: &str = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
const SEMAPHORE: &str = "java.util.concurrent.Semaphore$NonfairSync";

/// The compiled programs in `h2/` and the database.
pub fn database_class_path() -> OsString {
    static CLASS_PATH: OnceLock<OsString> = OnceLock::new();
    let class_path = CLASS_PATH.get_or_init(|| program_class_path("h2", &[DATABASE]));
    class_path.clone()
}

/// The lock of the database, in a report by lock classes and owners' methods.
pub const DATABASE_LOCK: &str = "org.h2.engine.Database";

/// Panics unless the report on `h2.BankTransfers` names the commands that run under the lock of
/// the database as its owners.
///
/// Every command runs in a `synchronized (database)` of `Command`, which does not always end
/// there: where another client holds the lock of a table, `TableData.doLock` waits on the database
/// in the middle of the command. How often it does depends on how the clients are scheduled.
pub fn check_bank(trace: &Path) {
    let report = report(trace, "lock-class,owner-chain");
    let database = report.node(DATABASE_LOCK);
    let of_commands = |owner: &&ReportNode| {
        let mut frames = owner.frames.iter();
        frames.any(|frame| frame.class == "org.h2.command.Command")
    };
    let known: u64 = known_owners(database).map(|node| node.duration_ns).sum();
    let commands = known_owners(database).filter(of_commands);
    let commands: u64 = commands.map(|node| node.duration_ns).sum();
    assert!(commands as f64 > 0.9 * known as f64, "{database:#?}");
}

/// The compiled programs in `server/` and the server.
pub fn shop_class_path() -> OsString {
    static CLASS_PATH: OnceLock<OsString> = OnceLock::new();
    let class_path = CLASS_PATH.get_or_init(|| program_class_path("server", &JARS));
    class_path.clone()
}

/// The compiled programs in `pairs/`, and the real applications that some of them are.
pub(crate) fn pairs_class_path() -> OsString {
    static CLASS_PATH: OnceLock<OsString> = OnceLock::new();
    let jars = [JARS[0], JARS[1], DATABASE, LOGGER];
    let class_path = CLASS_PATH.get_or_init(|| program_class_path("pairs/real", &jars));
    class_path.clone()
}

/// Panics unless the report on `server.WebShop` names what the comment on top of it says.
pub fn check_shop(trace: &Path) {
    let report = report(trace, "lock-class,owner-method,method");

    // Tomcat and the JDK use locks of this class, too.
    let lock = report.node(REENTRANT_LOCK);
    let additions = |owner: &ReportNode| -> u64 {
        let blocked = owner.children.iter();
        let additions = blocked.filter(|node| node.label == "server.Sales.add");
        additions.map(|node| node.duration_ns).sum()
    };
    let all: u64 = lock.children.iter().map(additions).sum();
    let known: u64 = known_owners(lock).map(additions).sum();
    let reports = additions(owner(lock, "server.Sales.report"));
    assert!(reports as f64 > 0.9 * known as f64, "{lock:#?}");
    // The rest is the time that threads take to wake up.
    assert!(known as f64 > 0.5 * all as f64, "{lock:#?}");

    let connections = report.node(SEMAPHORE);
    owner(connections, "server.Database.insertOrder");
    owner(connections, "server.Database.selectHistory");
    assert_eq!(known_owners(connections).count(), 2, "{connections:#?}");
}

/// The owners that a report names for a lock.
fn known_owners(lock: &ReportNode) -> impl Iterator<Item = &ReportNode> {
    let owners = lock.children.iter();
    // In angle brackets: a free lock, an unknown owner.
    owners.filter(|owner| !owner.label.starts_with('<'))
}

fn owner<'a>(lock: &'a ReportNode, method: &str) -> &'a ReportNode {
    known_owners(lock)
        .find(|owner| owner.label == method)
        .unwrap_or_else(|| panic!("no {method} in {lock:#?}"))
}
