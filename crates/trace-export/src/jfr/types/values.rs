//! Types of the values of fields.

use super::description::*;
use super::numbers::*;

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
            // Mission Control identifies threads by it.
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
    // Without constants: a trace has no values for these.
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
        &[
            constant("name", SYMBOL, &[]),
            constant("module", MODULE, &[]),
            field("exported", BOOLEAN, &[]),
        ],
    ),
    Type::new(
        MODULE,
        "jdk.types.Module",
        &[
            constant("name", SYMBOL, &[]),
            constant("version", SYMBOL, &[]),
            constant("location", SYMBOL, &[]),
            constant("classLoader", CLASS_LOADER, &[]),
        ],
    ),
    Type::new(
        THREAD_GROUP,
        "jdk.types.ThreadGroup",
        &[
            constant("parent", THREAD_GROUP, &[]),
            field("name", STRING, &[]),
        ],
    ),
];
