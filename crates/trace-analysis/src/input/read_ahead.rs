//! Reads ahead in a thread of its own, for callers that must not block.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// The most bytes that are passed on at once.
const BLOCK_LEN: usize = 64 << 10;
/// The number of blocks that are read ahead.
const MAX_AHEAD: usize = 16;

/// The bytes that another thread reads; [`WouldBlock`](io::ErrorKind::WouldBlock) while there are
/// none.
pub(crate) struct ReadAhead {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    taken: usize,
}

/// Starts a thread that reads from `source` until its end, or until the result is dropped.
pub(crate) fn feed(mut source: impl Read + Send + 'static) -> ReadAhead {
    let (sender, blocks) = sync_channel(MAX_AHEAD);
    thread::spawn(move || {
        let mut buffer = vec![0; BLOCK_LEN];
        loop {
            let block = match source.read(&mut buffer) {
                Ok(0) => return,
                Ok(len) => Ok(buffer[..len].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_last = block.is_err();
            if sender.send(block).is_err() || is_last {
                return;
            }
        }
    });
    ReadAhead {
        blocks,
        block: Vec::new(),
        taken: 0,
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.block.len() {
            match self.blocks.try_recv() {
                Ok(block) => {
                    self.block = block?;
                    self.taken = 0;
                }
                Err(TryRecvError::Empty) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(TryRecvError::Disconnected) => return Ok(0),
            }
        }
        let len = (&self.block[self.taken..]).read(buffer)?;
        self.taken += len;
        Ok(len)
    }
}
