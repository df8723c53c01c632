//! Reading ahead in a thread of its own, for those who have other things to do than to wait.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// Bytes that are passed on at once, at most.
const BLOCK_LEN: usize = 64 << 10;
/// So many blocks are read ahead.
const MAX_AHEAD: usize = 16;

/// What another thread reads. Has [nothing yet](io::ErrorKind::WouldBlock) while that waits.
pub(crate) struct Fed {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    taken: usize,
}

/// Lets a thread read from `source` until its end, or until nobody wants any more of it.
pub(crate) fn feed(mut source: impl Read + Send + 'static) -> Fed {
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
    Fed {
        blocks,
        block: Vec::new(),
        taken: 0,
    }
}

impl Read for Fed {
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
