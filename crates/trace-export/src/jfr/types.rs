//! The types of a recording. Those of the JDK are as JDK 17 describes them in its recordings, so
//! that tools which know the JDK's events know these. What differs is in `docs/export.md`.

/// A type: its number, its name, and what it consists of.
pub(super) struct Type {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) fields: &'static [Field],
    pub(super) annotations: &'static [Annotation],
}

#[derive(Clone, Copy)]
pub(super) enum Form {
    /// A number, a text, or what consists of fields.
    Plain,
    /// Stands for its only field.
    Simple,
    Event,
    Annotation,
}

pub(super) struct Field {
    pub(super) name: &'static str,
    /// The number of its type.
    pub(super) of: u64,
    pub(super) holds: Holds,
    pub(super) annotations: &'static [Annotation],
}

/// What a field has.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    Value,
    Values,
    /// The number of a constant, 0 for none.
    Constant,
}

/// An annotation: the number of its type, and its values.
pub(super) type Annotation = (u64, &'static [&'static str]);

impl Type {
    const fn new(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            number,
            name,
            form: Form::Plain,
            fields,
            annotations: &[],
        }
    }

    const fn simple(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            form: Form::Simple,
            ..Self::new(number, name, fields)
        }
    }

    const fn event(
        number: u64,
        name: &'static str,
        annotations: &'static [Annotation],
        fields: &'static [Field],
    ) -> Self {
        Self {
            form: Form::Event,
            annotations,
            ..Self::new(number, name, fields)
        }
    }

    const fn annotation(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            form: Form::Annotation,
            ..Self::new(number, name, fields)
        }
    }

    /// An annotation that says how a number is shown.
    const fn content_type(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            annotations: &[(CONTENT_TYPE, &[])],
            ..Self::annotation(number, name, fields)
        }
    }
}

const fn field(name: &'static str, of: u64, annotations: &'static [Annotation]) -> Field {
    Field {
        name,
        of,
        holds: Holds::Value,
        annotations,
    }
}

const fn constant(name: &'static str, of: u64, annotations: &'static [Annotation]) -> Field {
    Field {
        holds: Holds::Constant,
        ..field(name, of, annotations)
    }
}

const fn array(name: &'static str, of: u64, annotations: &'static [Annotation]) -> Field {
    Field {
        holds: Holds::Values,
        ..field(name, of, annotations)
    }
}

const BOOLEAN: u64 = 2;
const INT: u64 = 3;
const LONG: u64 = 4;
pub(super) const STRING: u64 = 5;
pub(super) const CLASS: u64 = 6;
pub(super) const THREAD: u64 = 7;
pub(super) const SYMBOL: u64 = 8;
pub(super) const METHOD: u64 = 9;
pub(super) const STACK_TRACE: u64 = 10;
const STACK_FRAME: u64 = 11;
const FRAME_TYPE: u64 = 12;
const CLASS_LOADER: u64 = 13;
const PACKAGE: u64 = 14;
const THREAD_GROUP: u64 = 15;

pub(super) const JVM_INFORMATION: u64 = 20;
pub(super) const MONITOR_ENTER: u64 = 21;
pub(super) const THREAD_PARK: u64 = 22;
pub(super) const BLAME: u64 = 23;

const LABEL: u64 = 30;
const DESCRIPTION: u64 = 31;
pub(super) const CATEGORY: u64 = 32;
const TIMESTAMP: u64 = 33;
const TIMESPAN: u64 = 34;
const UNSIGNED: u64 = 35;
const MEMORY_ADDRESS: u64 = 36;
const MONITOR_ADDRESS: u64 = 37;
const CONTENT_TYPE: u64 = 38;

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

/// An address tells apart locks, and is the same in all events that are about one.
const fn address(annotations: &'static [Annotation; 4]) -> Field {
    field("address", LONG, annotations)
}

/// All types.
pub(super) const TYPES: &[Type] = &[
    Type::new(BOOLEAN, "boolean", &[]),
    Type::new(INT, "int", &[]),
    Type::new(LONG, "long", &[]),
    Type::new(STRING, "java.lang.String", &[]),
    Type::new(
        CLASS,
        "java.lang.Class",
        &[
            constant("classLoader", CLASS_LOADER, &[(LABEL, &["Class Loader"])]),
            constant("name", SYMBOL, &[(LABEL, &["Name"])]),
            constant("package", PACKAGE, &[(LABEL, &["Package"])]),
            field("modifiers", INT, &[(LABEL, &["Access Modifiers"])]),
            field("hidden", BOOLEAN, &[(LABEL, &["Hidden"])]),
        ],
    ),
    Type::new(
        THREAD,
        "java.lang.Thread",
        &[
            field("osName", STRING, &[(LABEL, &["OS Thread Name"])]),
            // Mission Control tells threads apart by it.
            field(
                "osThreadId",
                LONG,
                &[(LABEL, &["Number in this Recording"])],
            ),
            field("javaName", STRING, &[(LABEL, &["Java Thread Name"])]),
            field("javaThreadId", LONG, &[(LABEL, &["Java Thread Id"])]),
            constant("group", THREAD_GROUP, &[(LABEL, &["Java Thread Group"])]),
        ],
    ),
    Type::simple(SYMBOL, "jdk.types.Symbol", &[field("string", STRING, &[])]),
    Type::new(
        METHOD,
        "jdk.types.Method",
        &[
            constant("type", CLASS, &[(LABEL, &["Type"])]),
            constant("name", SYMBOL, &[(LABEL, &["Name"])]),
            constant("descriptor", SYMBOL, &[(LABEL, &["Descriptor"])]),
            field("modifiers", INT, &[(LABEL, &["Access Modifiers"])]),
            field("hidden", BOOLEAN, &[(LABEL, &["Hidden"])]),
        ],
    ),
    Type::new(
        STACK_TRACE,
        "jdk.types.StackTrace",
        &[
            field("truncated", BOOLEAN, &[(LABEL, &["Truncated"])]),
            array("frames", STACK_FRAME, &[(LABEL, &["Stack Frames"])]),
        ],
    ),
    Type::new(
        STACK_FRAME,
        "jdk.types.StackFrame",
        &[
            constant("method", METHOD, &[(LABEL, &["Java Method"])]),
            field("lineNumber", INT, &[(LABEL, &["Line Number"])]),
            field("bytecodeIndex", INT, &[(LABEL, &["Bytecode Index"])]),
            constant("type", FRAME_TYPE, &[(LABEL, &["Frame Type"])]),
        ],
    ),
    // Of these there are no constants: a trace does not tell.
    Type::simple(
        FRAME_TYPE,
        "jdk.types.FrameType",
        &[field("description", STRING, &[])],
    ),
    Type::new(
        CLASS_LOADER,
        "jdk.types.ClassLoader",
        &[constant("type", CLASS, &[]), constant("name", SYMBOL, &[])],
    ),
    Type::new(
        PACKAGE,
        "jdk.types.Package",
        &[constant("name", SYMBOL, &[])],
    ),
    Type::new(
        THREAD_GROUP,
        "jdk.types.ThreadGroup",
        &[
            constant("parent", THREAD_GROUP, &[]),
            field("name", STRING, &[]),
        ],
    ),
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
            field("pid", LONG, &[(LABEL, &["Process Identifier"])]),
        ],
    ),
    Type::event(
        MONITOR_ENTER,
        "jdk.JavaMonitorEnter",
        &[
            (CATEGORY, &["Java Application"]),
            (LABEL, &["Java Monitor Blocked"]),
        ],
        &[
            START_TIME,
            DURATION,
            EVENT_THREAD,
            EVENT_STACK,
            constant("monitorClass", CLASS, &[(LABEL, &["Monitor Class"])]),
            constant(
                "previousOwner",
                THREAD,
                &[(LABEL, &["Previous Monitor Owner"])],
            ),
            address(&[
                (UNSIGNED, &[]),
                (MEMORY_ADDRESS, &[]),
                (MONITOR_ADDRESS, &[]),
                (LABEL, &["Monitor Address"]),
            ]),
        ],
    ),
    Type::event(
        THREAD_PARK,
        "jdk.ThreadPark",
        &[
            (CATEGORY, &["Java Application"]),
            (LABEL, &["Java Thread Park"]),
        ],
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
            // The JDK's event does not have it.
            constant("previousOwner", THREAD, &[(LABEL, &["Previous Owner"])]),
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
    Type::annotation(LABEL, "jdk.jfr.Label", &[field("value", STRING, &[])]),
    Type::annotation(
        DESCRIPTION,
        "jdk.jfr.Description",
        &[field("value", STRING, &[])],
    ),
    Type::annotation(CATEGORY, "jdk.jfr.Category", &[array("value", STRING, &[])]),
    Type::annotation(CONTENT_TYPE, "jdk.jfr.ContentType", &[]),
    Type::content_type(
        TIMESTAMP,
        "jdk.jfr.Timestamp",
        &[field("value", STRING, &[])],
    ),
    Type::content_type(TIMESPAN, "jdk.jfr.Timespan", &[field("value", STRING, &[])]),
    Type::content_type(MEMORY_ADDRESS, "jdk.jfr.MemoryAddress", &[]),
    Type::annotation(UNSIGNED, "jdk.jfr.Unsigned", &[]),
    Type::annotation(MONITOR_ADDRESS, "jdk.types.JavaMonitorAddress", &[]),
];
