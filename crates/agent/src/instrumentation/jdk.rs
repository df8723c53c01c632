//! The JDK's own classes. Their code is changed only once threads wait in it, as programs that run
//! in one thread call it all the time.

use crate::classes::internal_name;
use crate::ffi::{Env, Object};

/// Classes that are changed at once. A change is for calls that begin after it, so it would come too
/// late for a thread that locks in a loop which never ends, in the method that the thread was started
/// with. These are all such classes of JDK 8 to 25 on a server. Locks of references are waited for by
/// the JVM's own threads.
const LOCK_IN_ENDLESS_LOOPS: [&[u8]; 18] = [
    b"com/sun/jmx/remote/internal/ClientCommunicatorAdmin$Checker",
    b"com/sun/jmx/remote/internal/ClientNotifForwarder$LinearExecutor$1",
    b"com/sun/jndi/ldap/Connection",
    b"com/sun/jndi/ldap/pool/PoolCleaner",
    b"java/lang/ref/Reference",
    b"java/lang/ref/ReferenceQueue",
    b"java/util/TimerThread",
    b"java/util/prefs/AbstractPreferences$EventDispatchThread",
    b"jdk/internal/net/http/HttpClientImpl$SelectorManager",
    b"sun/misc/GC$Daemon",
    b"sun/net/httpserver/ServerImpl$Dispatcher",
    b"sun/net/www/http/KeepAliveCache",
    b"sun/net/www/http/KeepAliveStreamCleaner",
    b"sun/rmi/transport/DGCClient$EndpointEntry$RenewCleanThread",
    b"sun/rmi/transport/GC$Daemon",
    b"sun/rmi/transport/ObjectTable$Reaper",
    b"sun/rmi/transport/tcp/ConnectionMultiplexer",
    b"sun/security/provider/SeedGenerator$ThreadedSeedGenerator",
];

/// Returns whether a class of the JDK is changed before any thread waits in it.
pub(super) fn locks_in_endless_loop(name: &[u8]) -> bool {
    LOCK_IN_ENDLESS_LOOPS.contains(&name)
}

/// Returns whether a loader is the boot loader, which `None` stands for, or the platform loader: their
/// classes are never unloaded.
pub(super) fn is_of_jdk(env: Env<'_>, loader: Option<Object<'_>>) -> bool {
    let Some(loader) = loader else { return true };
    let Some(class) = env.class_of(loader) else {
        return false;
    };
    let name = env.signature(class);
    let is_platform = matches!(
        internal_name(&name),
        b"jdk/internal/loader/ClassLoaders$PlatformClassLoader"
            | b"sun/misc/Launcher$ExtClassLoader"
    );
    env.delete(class);
    is_platform
}
