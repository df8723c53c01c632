//! The events of the tool interface.

use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_THREAD_END,
    JVMTI_EVENT_VIRTUAL_THREAD_END, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, jvmtiEvent,
};

/// An event that the agent asks the JVM for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    VmInit,
    VmDeath,
    ThreadEnd,
    VirtualThreadEnd,
    ContendedEnter,
    ContendedEntered,
    Wait,
    ClassFileLoad,
}

impl Event {
    pub(super) fn number(self) -> jvmtiEvent {
        match self {
            Self::VmInit => JVMTI_EVENT_VM_INIT,
            Self::VmDeath => JVMTI_EVENT_VM_DEATH,
            Self::ThreadEnd => JVMTI_EVENT_THREAD_END,
            Self::VirtualThreadEnd => JVMTI_EVENT_VIRTUAL_THREAD_END,
            Self::ContendedEnter => JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
            Self::ContendedEntered => JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
            Self::Wait => JVMTI_EVENT_MONITOR_WAIT,
            Self::ClassFileLoad => JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        }
    }
}
