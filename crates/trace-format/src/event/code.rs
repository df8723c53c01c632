//! Events that describe classes, methods and call chains, and end them.

use super::payload::payload;
use super::value::Frame;
use crate::id::{ChainId, ClassId, LoaderId, MethodId};

payload! {
    /// Describes a class.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ClassDescription<'a> {
        /// The class described.
        pub class: ClassId,
        /// Its superclass; none for an interface or where that is `java.lang.Object`.
        pub super_class: ClassId,
        /// Its class loader; 0 for the boot loader.
        pub loader: LoaderId,
        /// Binary name with dots, as `Class.getName()` prints it.
        pub name: &'a str,
        /// Source file, empty where the class names none.
        pub source_file: &'a str,
        /// Class name of the loader, empty for the boot loader.
        pub loader_class: &'a str,
    }
}

payload! {
    /// Describes a method.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct MethodDescription<'a> {
        /// The method described.
        pub method: MethodId,
        /// The class that declares it.
        pub class: ClassId,
        /// Its name.
        pub name: &'a str,
        /// Its descriptor, as in the class file.
        pub signature: &'a str,
    }
}

payload! {
    /// Describes a call chain, innermost frame first.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct ChainDescription {
        /// The chain described.
        pub chain: ChainId,
        /// The frames, innermost first.
        pub frames: Vec<Frame>,
        /// Frames are missing at the outer end: the stack was deeper than the
        /// tracer's limit.
        pub truncated: bool,
    }
}

payload! {
    /// All classes of a loader were unloaded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LoaderUnload {
        /// The loader.
        pub loader: LoaderId,
        /// Time of the unloading.
        pub time_ns: u64,
    }
}

payload! {
    /// The compiled code or the class of a frame of a call chain is gone. No event
    /// after this one in file order refers to the chain. Written by no thread.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ChainRetired {
        /// The chain that ended.
        pub chain: ChainId,
    }
}

payload! {
    /// A method was unloaded, or replaced by redefinition of its class and run to
    /// its end. No event after this one in file order refers to it, nor to a chain
    /// that contains it. Written by no thread.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct MethodRetired {
        /// The method that ended.
        pub method: MethodId,
    }
}
