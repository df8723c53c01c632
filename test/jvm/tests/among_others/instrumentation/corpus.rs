//! Libraries that other compilers than javac have compiled, or that ProGuard has changed.

use std::path::Path;

use jvm_tests::{Jar, dependencies, is_nightly, scratch_directory};

use super::support::{AnyJdk, Calls, Instrumented};
use super::verification::{check_same_outcomes, jars_in};

const JARS: [Jar; 27] = [
    Jar {
        name: "kotlin-stdlib-2.2.20.jar",
        sha256: "8836ccffd3585fadda9901244b20d42901d2f3cd581058d8434e2ffabcf3a3e7",
    },
    Jar {
        name: "kotlin-compiler-embeddable-2.2.20.jar",
        sha256: "1c6c3f810bfe6a41abcbc34b3a2ef639f1e3f4aeed3a953a4b0974eea4f41889",
    },
    Jar {
        name: "kotlinx-coroutines-core-jvm-1.10.2.jar",
        sha256: "5ca175b38df331fd64155b35cd8cae1251fa9ee369709b36d42e0a288ccce3fd",
    },
    Jar {
        name: "clojure-1.12.3.jar",
        sha256: "cb2a1a3db1c2cd76ef4fa4a545d5a65f10b1b48b7f7672f0a109f5476f057166",
    },
    Jar {
        name: "spec.alpha-0.5.238.jar",
        sha256: "94cd99b6ea639641f37af4860a643b6ed399ee5a8be5d717cff0b663c8d75077",
    },
    Jar {
        name: "scala-library-2.13.16.jar",
        sha256: "1ebb2b6f9e4eb4022497c19b1e1e825019c08514f962aaac197145f88ed730f1",
    },
    Jar {
        name: "scala-compiler-2.13.16.jar",
        sha256: "f59982714591e321ba9c087af2c8666e2f5fb92b11a0cef72c2c5e9b342152d3",
    },
    Jar {
        name: "scala3-library_3-3.3.6.jar",
        sha256: "cf4ddaf76c0ce71cf68ca5d2dc7bad46c5a921aaf18909317ddc9ba6e67fb12b",
    },
    Jar {
        name: "scala3-compiler_3-3.3.6.jar",
        sha256: "3312960a654fd3421b1396378734ccb693bc0cbed21cca9e3974ad6f0c24191d",
    },
    Jar {
        name: "groovy-4.0.28.jar",
        sha256: "d77164a44ab994837e61eecead64721bdb1794fa2bc6704ac6fe70cd32ef9dd3",
    },
    Jar {
        name: "netty-common-4.1.127.Final.jar",
        sha256: "a6732bb70dc15ed96aa33ecca82c0d7b20f8ff41adf04f74f168f626adf359e8",
    },
    Jar {
        name: "netty-buffer-4.1.127.Final.jar",
        sha256: "4a0a17dc5a58d910c56545be6912b9923cfe902522dc1df268e774bc22443eb6",
    },
    Jar {
        name: "netty-transport-4.1.127.Final.jar",
        sha256: "0d1ad82bc658f9919ca750cebe2571d4b0ae4514ec781964091f405343760e92",
    },
    Jar {
        name: "netty-handler-4.1.127.Final.jar",
        sha256: "88b6892bc1321d32409392e5b9f94e59d8e800678c029c71e7c0d76daf6050d0",
    },
    Jar {
        name: "netty-codec-http2-4.1.127.Final.jar",
        sha256: "0eb1befa55f785b47729d58d4fce72abea73b7f48fc1c434d71953e6a558ffaa",
    },
    Jar {
        name: "tomcat-embed-core-10.1.46.jar",
        sha256: "7f8f6d269ce666ad6f317ef496f8fb4e5f4ae5432a7e91e44fc79285d549d929",
    },
    Jar {
        name: "kafka-clients-3.9.1.jar",
        sha256: "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
    },
    Jar {
        name: "kafka_2.13-3.9.1.jar",
        sha256: "5631c61356d55611c158291a69ad028f3c4fed5d0a610c62a0853c65c89d10f6",
    },
    Jar {
        name: "hazelcast-5.5.0.jar",
        sha256: "cf560b40b988526e780e4fae12cb6fe01c5158bb9e00839882857f32b544a19e",
    },
    Jar {
        name: "spring-core-6.2.11.jar",
        sha256: "a1de6ff2d88c05442468360b89f881b77ff7a393b8cd5b1d5758756b2e247f8a",
    },
    Jar {
        name: "spring-beans-6.2.11.jar",
        sha256: "f9ba5dedee94947b11d930209ff1a12bbe9e28b1b4f73c5baeba2fb3fe32d08e",
    },
    Jar {
        name: "spring-context-6.2.11.jar",
        sha256: "a2c732fce8b24ead7caf4a21a157167bce991048638805cf1277a5ed6a568057",
    },
    Jar {
        name: "spring-web-6.2.11.jar",
        sha256: "b8a7000ac68dea59f208148bf40a1e02cf3f1f6c120e9eb6696d7d46f57d7ed0",
    },
    Jar {
        name: "spring-webmvc-6.2.11.jar",
        sha256: "c1949970b2702809fb85bafa1e3b3c6e68a8e69248e77cd77cde273fb24db139",
    },
    Jar {
        name: "lucene-core-9.12.3.jar",
        sha256: "b64a3f8098a7572034fb30085cdee01b34ec81fb0e5a31b471536af58dc6c01b",
    },
    Jar {
        name: "caffeine-3.2.2.jar",
        sha256: "c74a6c72221dfb76eb92f2bb40108ea561a7da2f315dc3b1e64afa8f077f210c",
    },
    Jar {
        name: "ecj-3.38.0.jar",
        sha256: "97c566b120009c203a2fc8b291f4a9adbc171cf1ccb70f06f6b4e1828c00ce8e",
    },
];

/// Prints the table of `docs/design/agent.md`.
#[test]
fn all_releases_call_a_hook_whatever_compiler() {
    if !is_nightly() {
        return;
    }
    let jars = dependencies("instrumentation/corpus", &JARS);
    let scratch = scratch_directory("corpus");
    let mut releases = 0;
    let mut known = 0;
    for jar in &jars {
        let of_jar = Instrumented::of_all(
            std::slice::from_ref(jar),
            Calls::Before,
            &scratch.path().join("jar"),
        );
        let (blocks, left) = (of_jar.blocks(), of_jar.blocks_left_alone);
        let share = 100.0 * blocks as f64 / (blocks + left).max(1) as f64;
        let name = jar.file_name().expect("a jar has a name").display();
        println!("| {name} | {} | {share:.2} % |", blocks + left);
        (releases, known) = (releases + blocks + left, known + blocks);
    }
    assert!(releases > 8_000, "{releases}");
    assert!(
        known as f64 >= 0.995 * releases as f64,
        "{known} of {releases}"
    );
    let verified = jars.iter().filter(|jar| !is_signed(jar)).cloned();
    let verified: Vec<_> = verified.collect();
    let class_path = jars_in(jars[0].parent().expect("a jar is in a directory"));
    // Some classes are of versions that JDK 8 does not know.
    for jdk in AnyJdk::with_modules() {
        for calls in Calls::ALL {
            check_same_outcomes(&jdk, &verified, &class_path, calls);
        }
    }
}

/// A changed class of such a jar has no signature.
fn is_signed(jar: &Path) -> bool {
    jar.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("ecj-"))
}
