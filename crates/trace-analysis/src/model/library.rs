//! Code that is no program of the user's own: the JDK, and the libraries that the
//! user names.

/// Packages of the JDK's that programs, too, may have classes in.
const SHARED_PACKAGES: [&str; 9] = [
    "javax.",
    "com.sun.",
    "com.oracle.",
    "oracle.",
    "org.omg.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "org.ietf.jgss.",
    "org.jcp.xml.",
];

/// Packages that only the JDK has classes in, some of them made while it runs.
const OWN_PACKAGES: [&str; 5] = ["java.", "jdk.", "sun.", "com.sun.proxy.", "com.sun.tools."];

/// A class of this name is the JDK's if a loader of class `loader_class` defined it, or
/// the JVM itself (`None`). What else is on the boot class path is not: an agent, for
/// example.
pub(crate) fn is_jdk(name: &str, loader_class: Option<&str>) -> bool {
    let is_in = |packages: &[&str]| packages.iter().any(|package| name.starts_with(package));
    let by_jdk = matches!(
        loader_class,
        None | Some("sun.misc.Launcher$ExtClassLoader")
    );
    is_in(&OWN_PACKAGES) || by_jdk && is_in(&SHARED_PACKAGES)
}

/// The class of this name is the one called `prefix`, inside of it, or in its package.
pub(crate) fn has_prefix(name: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('.');
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '$']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_decides_whose_a_shared_package_is() {
        let launcher = Some("sun.misc.Launcher$AppClassLoader");
        assert!(is_jdk("java.util.HashMap", None));
        assert!(is_jdk("javax.crypto.Cipher", None));
        assert!(is_jdk(
            "com.sun.nio.zipfs.ZipPath",
            Some("sun.misc.Launcher$ExtClassLoader")
        ));
        assert!(is_jdk(
            "sun.reflect.GeneratedMethodAccessor1",
            Some("sun.reflect.DelegatingClassLoader")
        ));
        assert!(is_jdk("com.sun.proxy.$Proxy7", launcher));
        assert!(!is_jdk("javax.servlet.http.HttpServlet", launcher));
        assert!(!is_jdk("com.example.Main", launcher));
        assert!(!is_jdk("com.example.Agent", None));
    }

    #[test]
    fn a_prefix_ends_with_a_name() {
        for name in ["org.h2", "org.h2.Driver", "org.h2$1"] {
            assert!(has_prefix(name, "org.h2"), "{name}");
            assert!(has_prefix(name, "org.h2."), "{name}");
        }
        assert!(!has_prefix("org.h2o.Main", "org.h2"));
        assert!(!has_prefix("org", "org.h2"));
    }
}
