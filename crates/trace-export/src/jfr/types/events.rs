//! The events. A recording has no instance of some: `jfr view` asks for several types at once, and
//! gives no answer where one of them is not described.

use super::description::*;
use super::numbers::*;

const START_TIME: Field = field(
    "startTime",
    LONG,
    &[(LABEL, &["Start Time"]), (TIMESTAMP, &["TICKS"])],
);
const DURATION: Field = field(
    "duration",
    LONG,
    &[(LABEL, &["Duration"]), (TIMESPAN, &["TICKS"])],
);
const EVENT_THREAD: Field = constant("eventThread", THREAD, &[(LABEL, &["Event Thread"])]);
const EVENT_STACK: Field = constant("stackTrace", STACK_TRACE, &[(LABEL, &["Stack Trace"])]);

/// Returns the field of an address, which identifies a lock in all events that are about it.
const fn address(annotations: &'static [Annotation; 4]) -> Field {
    field("address", LONG, annotations)
}

// Fields that several events have.
const CLASS_OF_MONITOR: Field = constant("monitorClass", CLASS, &[(LABEL, &["Monitor Class"])]);
const ADDRESS_OF_MONITOR: Field = address(&[
    (UNSIGNED, &[]),
    (MEMORY_ADDRESS, &[]),
    (MONITOR_ADDRESS, &[]),
    (LABEL, &["Monitor Address"]),
]);
const REMOTE_HOST: Field = field("host", STRING, &[(LABEL, &["Remote Host"])]);
const REMOTE_ADDRESS: Field = field("address", STRING, &[(LABEL, &["Remote Address"])]);
const REMOTE_PORT: Field = field("port", INT, &[(LABEL, &["Remote Port"])]);
const PATH: Field = field("path", STRING, &[(LABEL, &["Path"])]);
const BYTES_READ: Field = field(
    "bytesRead",
    LONG,
    &[(LABEL, &["Bytes Read"]), (DATA_AMOUNT, &["BYTES"])],
);
const BYTES_WRITTEN: Field = field(
    "bytesWritten",
    LONG,
    &[(LABEL, &["Bytes Written"]), (DATA_AMOUNT, &["BYTES"])],
);

const APPLICATION: Annotation = (CATEGORY, &["Java Application"]);

pub(super) const TYPES: &[Type] = &[
    Type::event(
        JVM_INFORMATION,
        "jdk.JVMInformation",
        &[
            (CATEGORY, &["Java Virtual Machine"]),
            (LABEL, &["JVM Information"]),
        ],
        &[
            START_TIME,
            field("jvmName", STRING, &[(LABEL, &["JVM Name"])]),
            field("jvmVersion", STRING, &[(LABEL, &["JVM Version"])]),
            field(
                "jvmArguments",
                STRING,
                &[(LABEL, &["JVM Command Line Arguments"])],
            ),
            field(
                "jvmFlags",
                STRING,
                &[(LABEL, &["JVM Settings File Arguments"])],
            ),
            field(
                "javaArguments",
                STRING,
                &[(LABEL, &["Java Application Arguments"])],
            ),
            field(
                "jvmStartTime",
                LONG,
                &[
                    (TIMESTAMP, &["MILLISECONDS_SINCE_EPOCH"]),
                    (LABEL, &["JVM Start Time"]),
                ],
            ),
            field("pid", LONG, &[(LABEL, &["Process Identifier"])]),
        ],
    ),
    Type::event(
        MONITOR_ENTER,
        "jdk.JavaMonitorEnter",
        &[APPLICATION, (LABEL, &["Java Monitor Blocked"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            CLASS_OF_MONITOR,
            constant(
                "previousOwner",
                THREAD,
                &[(LABEL, &["Previous Monitor Owner"])],
            ),
            ADDRESS_OF_MONITOR,
        ],
    ),
    Type::event(
        MONITOR_WAIT,
        "jdk.JavaMonitorWait",
        &[APPLICATION, (LABEL, &["Java Monitor Wait"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            CLASS_OF_MONITOR,
            constant("notifier", THREAD, &[(LABEL, &["Notifier Thread"])]),
            field(
                "timeout",
                LONG,
                &[(TIMESPAN, &["MILLISECONDS"]), (LABEL, &["Timeout"])],
            ),
            field("timedOut", BOOLEAN, &[(LABEL, &["Timed Out"])]),
            ADDRESS_OF_MONITOR,
        ],
    ),
    Type::event(
        THREAD_PARK,
        "jdk.ThreadPark",
        &[APPLICATION, (LABEL, &["Java Thread Park"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            constant("parkedClass", CLASS, &[(LABEL, &["Class Parked On"])]),
            field(
                "timeout",
                LONG,
                &[(TIMESPAN, &["NANOSECONDS"]), (LABEL, &["Park Timeout"])],
            ),
            field(
                "until",
                LONG,
                &[
                    (TIMESTAMP, &["MILLISECONDS_SINCE_EPOCH"]),
                    (LABEL, &["Park Until"]),
                ],
            ),
            address(&[
                (UNSIGNED, &[]),
                (MEMORY_ADDRESS, &[]),
                (MONITOR_ADDRESS, &[]),
                (LABEL, &["Address of Object Parked"]),
            ]),
        ],
    ),
    Type::event(
        THREAD_SLEEP,
        "jdk.ThreadSleep",
        &[APPLICATION, (LABEL, &["Java Thread Sleep"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            field(
                "time",
                LONG,
                &[(TIMESPAN, &["MILLISECONDS"]), (LABEL, &["Sleep Time"])],
            ),
        ],
    ),
    Type::event(
        SOCKET_READ,
        "jdk.SocketRead",
        &[APPLICATION, (LABEL, &["Socket Read"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            REMOTE_HOST,
            REMOTE_ADDRESS,
            REMOTE_PORT,
            field(
                "timeout",
                LONG,
                &[(LABEL, &["Timeout Value"]), (TIMESPAN, &["MILLISECONDS"])],
            ),
            BYTES_READ,
            field("endOfStream", BOOLEAN, &[(LABEL, &["End of Stream"])]),
        ],
    ),
    Type::event(
        SOCKET_WRITE,
        "jdk.SocketWrite",
        &[APPLICATION, (LABEL, &["Socket Write"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            REMOTE_HOST,
            REMOTE_ADDRESS,
            REMOTE_PORT,
            BYTES_WRITTEN,
        ],
    ),
    Type::event(
        FILE_READ,
        "jdk.FileRead",
        &[APPLICATION, (LABEL, &["File Read"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            PATH,
            BYTES_READ,
            field("endOfFile", BOOLEAN, &[(LABEL, &["End of File"])]),
        ],
    ),
    Type::event(
        FILE_WRITE,
        "jdk.FileWrite",
        &[APPLICATION, (LABEL, &["File Write"])],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            PATH,
            BYTES_WRITTEN,
        ],
    ),
    Type::event(
        BLAME,
        "locktrace.Blame",
        &[
            (CATEGORY, &["Java Application", "Lock Contention"]),
            (LABEL, &["Wait Caused by Owner"]),
            (
                DESCRIPTION,
                &[
                    "A part of a wait for a lock, on the thread that held the lock meanwhile; \
                   of another wait, on the thread that ended it",
                ],
            ),
        ],
        &[
            START_TIME,
            DURATION,
            constant(
                "eventThread",
                THREAD,
                &[
                    (LABEL, &["Event Thread"]),
                    (DESCRIPTION, &["The owner; none if it is not known"]),
                ],
            ),
            constant(
                "stackTrace",
                STACK_TRACE,
                &[
                    (LABEL, &["Stack Trace"]),
                    (DESCRIPTION, &["Where the owner released the lock"]),
                ],
            ),
            field(
                "ownerMethod",
                STRING,
                &[
                    (LABEL, &["Owner Method"]),
                    (DESCRIPTION, &["As in a report; if there is no owner, why"]),
                ],
            ),
            constant("blockedThread", THREAD, &[(LABEL, &["Blocked Thread"])]),
            constant(
                "blockedStackTrace",
                STACK_TRACE,
                &[(LABEL, &["Blocked Stack Trace"])],
            ),
            constant("lockClass", CLASS, &[(LABEL, &["Lock Class"])]),
            address(&[
                (UNSIGNED, &[]),
                (MEMORY_ADDRESS, &[]),
                (MONITOR_ADDRESS, &[]),
                (LABEL, &["Lock Address"]),
            ]),
            field(
                "lock",
                STRING,
                &[
                    (LABEL, &["Lock"]),
                    (DESCRIPTION, &["What a report calls it"]),
                ],
            ),
            field("kind", STRING, &[(LABEL, &["Kind of Wait"])]),
        ],
    ),
];
