//! What one CPU does.

use std::fmt;
use std::ops::AddAssign;
use std::sync::Mutex;

use nearmem::alloc::{FrameBlock, Interleave, Policy, Request};
use nearmem::platform::PhysMap;
use nearmem::zone::{Zone, ZoneKind};
use nearmem::{NodeId, NodeSet, Order, Pfn, PfnRange};
use nearmem_checks::random::Random;

use crate::machine::Mm;
use crate::owners::Owners;

/// What a CPU has.
#[derive(Default)]
pub struct Kept<'m> {
    pub blocks: Vec<FrameBlock<'m>>,
    /// Contiguous frames, allocated.
    pub ranges: Vec<(&'m Zone<'m>, PfnRange)>,
    /// Frames that were taken off their zone.
    pub reserved: Vec<(&'m Zone<'m>, PfnRange)>,
}

/// How many operations did something; `refused` ones found nothing.
#[derive(Clone, Copy, Default)]
pub struct Done {
    allocs: u64,
    frees: u64,
    bulk: u64,
    contiguous: u64,
    shrinks: u64,
    drains: u64,
    refused: u64,
}

impl AddAssign for Done {
    fn add_assign(&mut self, other: Done) {
        self.allocs += other.allocs;
        self.frees += other.frees;
        self.bulk += other.bulk;
        self.contiguous += other.contiguous;
        self.shrinks += other.shrinks;
        self.drains += other.drains;
        self.refused += other.refused;
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Done { allocs, frees, bulk, contiguous, shrinks, drains, refused } = self;
        let all = allocs + frees + bulk + contiguous + shrinks + drains;
        write!(
            f,
            "{all} operations ({allocs} blocks and {bulk} bulks allocated, {frees} freed, \
             {contiguous} contiguous ranges, {shrinks} taken off zones, {drains} drains) and \
             {refused} refused"
        )
    }
}

/// One CPU, for one round.
pub struct Cpu<'a, 'm> {
    mm: &'a Mm<'m>,
    owners: &'a Owners,
    exchange: &'a Mutex<Kept<'m>>,
    random: Random,
    set: NodeSet,
    turns: Interleave,
    kept: Kept<'m>,
    /// Above so many blocks it frees more than it allocates.
    enough: usize,
    done: Done,
}

impl<'a, 'm> Cpu<'a, 'm> {
    pub fn new(
        mm: &'a Mm<'m>,
        owners: &'a Owners,
        exchange: &'a Mutex<Kept<'m>>,
        random: Random,
    ) -> Cpu<'a, 'm> {
        let set: NodeSet = mm.map().with_memory().iter().skip(1).collect();
        let turns = Interleave::new(*mm.map().with_memory());
        let (kept, done) = Default::default();
        Cpu { mm, owners, exchange, random, set, turns, kept, enough: 0, done }
    }

    /// What it has at the end, and what it did.
    pub fn into_kept(self) -> (Kept<'m>, Done) {
        (self.kept, self.done)
    }

    /// One random operation.
    pub fn step(&mut self) {
        let much = self.kept.blocks.len() > self.enough;
        match self.random.below(64) {
            0..24 if !much => self.alloc(),
            0..46 => self.free(),
            46..49 if !much => self.bulk(),
            46..49 => self.free(),
            49..52 => self.take_contiguous(),
            52..55 => self.put_contiguous(),
            55..58 => self.shrink(),
            58..60 => self.grow(),
            60 => self.swap(),
            61 => self.drain(),
            62 => drop(self.mm.serve_requests(&self.mm.pin())),
            _ => {
                // From next to nothing to all that there is.
                let bits = 3 + self.random.below(12);
                self.enough = self.random.below(1 << bits);
            }
        }
    }

    fn alloc(&mut self) {
        let order = match self.random.below(16) {
            0..11 => 0,
            11..14 => self.random.below(4),
            _ => self.random.below(Order::COUNT),
        };
        let node = NodeId(self.random.below(4) as u16);
        let policy = match self.random.below(8) {
            0..3 => Policy::Local,
            3..5 => Policy::Preferred(node),
            5 => Policy::Bind(&self.set),
            6 => Policy::PreferredMany(&self.set),
            _ => Policy::Interleave(&self.turns),
        };
        let limit = ZoneKind::ALL[[0, 1, 2, 2][self.random.below(4)]];
        let request = Request::new(Order::new(order as u8).unwrap()).on(policy).limit(limit);
        let request = match self.random.below(8) {
            0 => request.this_node(),
            1 => request.atomic(),
            2 => request.no_retry(),
            _ => request,
        };
        let block = match self.random.below(2) {
            0 => self.mm.alloc(&request),
            _ => self.mm.try_alloc(&self.mm.pin(), &request),
        };
        match block {
            Ok(block) => {
                assert!(block.zone().kind <= limit);
                assert!(!matches!(policy, Policy::Bind(set) if !set.contains(block.zone().node)));
                self.done.allocs += 1;
                self.keep(block);
            }
            Err(_) => self.done.refused += 1,
        }
    }

    fn bulk(&mut self) {
        let node = NodeId(self.random.below(4) as u16);
        let count = self.random.below(200);
        let mut blocks = Vec::new();
        self.mm.alloc_bulk(node, count, &mut |block| blocks.push(block));
        assert!(blocks.len() <= count);
        self.done.bulk += 1;
        blocks.into_iter().for_each(|block| self.keep(block));
    }

    fn keep(&mut self, block: FrameBlock<'m>) {
        let frames = frames_of(&block);
        self.owners.take(frames);
        self.stamp(frames);
        self.kept.blocks.push(block);
    }

    /// Frees a block, or splits it, or frees a part of it.
    fn free(&mut self) {
        let Some(block) = pick(&mut self.kept.blocks, &mut self.random) else { return };
        match self.random.below(8) {
            0 => match block.into_halves() {
                Ok((low, high)) => self.kept.blocks.extend([low, high]),
                Err(single) => self.give(single),
            },
            1 => {
                let keep = self.random.below(block.order().pages() as usize);
                for (at, frame) in block.into_frames().enumerate() {
                    if at == keep {
                        self.kept.blocks.push(frame);
                    } else {
                        self.give(frame);
                    }
                }
            }
            _ => self.give(block),
        }
    }

    fn give(&mut self, block: FrameBlock<'m>) {
        let frames = frames_of(&block);
        self.check_stamp(frames);
        self.owners.give(frames);
        self.mm.free(block).unwrap();
        self.done.frees += 1;
    }

    fn take_contiguous(&mut self) {
        let zone = self.zone();
        let bits = self.random.below(12);
        let frames = 1 + self.random.below(1 << bits) as u64;
        let align = 1 << self.random.below(11);
        let limit = match self.random.below(2) {
            0 => zone.span(),
            _ => PfnRange { start: self.place(zone).start, end: zone.span().end },
        };
        let cpu = self.mm.pin();
        let Some(start) = zone.take_contiguous(cpu.token(), frames, align, limit) else {
            self.done.refused += 1;
            return;
        };
        drop(cpu);
        let range = PfnRange { start, end: start + frames };
        assert!(start.0.is_multiple_of(align) && range.intersect(limit) == range);
        self.owners.take(range);
        self.stamp(range);
        self.kept.ranges.push((zone, range));
        self.done.contiguous += 1;
    }

    /// Gives contiguous frames back, all or a part.
    fn put_contiguous(&mut self) {
        let Some((zone, range)) = pick(&mut self.kept.ranges, &mut self.random) else { return };
        let (first, last) = match self.random.below(2) {
            0 => (range, None),
            _ => {
                let middle = range.start + self.random.below(range.len() as usize) as u64;
                (PfnRange { end: middle, ..range }, Some(PfnRange { start: middle, ..range }))
            }
        };
        self.put_range(zone, first);
        self.kept.ranges.extend(last.map(|last| (zone, last)));
    }

    fn put_range(&mut self, zone: &'m Zone<'m>, range: PfnRange) {
        self.check_stamp(range);
        self.owners.give(range);
        // SAFETY: taken from this zone, and not looked at any more.
        unsafe { zone.put_range(self.mm.pin().token(), range) }.unwrap();
        self.done.frees += 1;
    }

    fn shrink(&mut self) {
        let zone = self.zone();
        let range = self.place(zone);
        if range.is_empty() || zone.shrink(self.mm.pin().token(), range).is_err() {
            self.done.refused += 1;
            return;
        }
        self.owners.take(range);
        self.stamp(range);
        self.kept.reserved.push((zone, range));
        self.done.shrinks += 1;
    }

    fn grow(&mut self) {
        if let Some((zone, range)) = pick(&mut self.kept.reserved, &mut self.random) {
            self.release(zone, range);
        }
    }

    fn release(&mut self, zone: &'m Zone<'m>, range: PfnRange) {
        self.check_stamp(range);
        self.owners.give(range);
        // SAFETY: the frames were taken off this zone, and nobody looks at them any more.
        let released = unsafe { zone.release(self.mm.pin().token(), range) };
        if released.is_err() {
            // The list of ranges is full: later.
            self.owners.take(range);
            self.kept.reserved.insert(0, (zone, range));
            self.done.refused += 1;
        }
    }

    /// Gives what it has to the others, and takes half of what is there.
    fn swap(&mut self) {
        let mut exchange = self.exchange.lock().unwrap();
        exchange.blocks.append(&mut self.kept.blocks);
        exchange.ranges.append(&mut self.kept.ranges);
        exchange.reserved.append(&mut self.kept.reserved);
        half(&mut exchange.blocks, &mut self.kept.blocks);
        half(&mut exchange.ranges, &mut self.kept.ranges);
        half(&mut exchange.reserved, &mut self.kept.reserved);
    }

    fn drain(&mut self) {
        match self.random.below(8) {
            0 => self.mm.drain_all(),
            1 => self.mm.drain_zone(self.zone().id()),
            2 => self.mm.set_watermarks(),
            3 => {
                let cpu = self.mm.pin();
                self.mm.set_offline(&cpu);
                self.mm.set_online(cpu.cpu());
            }
            _ => self.mm.drain_local(&self.mm.pin()),
        }
        self.done.drains += 1;
    }

    /// Gives all of it back.
    pub fn give_all(&mut self, kept: Kept<'m>) {
        kept.blocks.into_iter().for_each(|block| self.give(block));
        kept.ranges.into_iter().for_each(|(zone, range)| self.put_range(zone, range));
        self.kept.reserved.extend(kept.reserved);
        // One that does not fit on the list does when its neighbours are there.
        while let Some((zone, range)) = self.kept.reserved.pop() {
            self.release(zone, range);
        }
    }

    fn zone(&mut self) -> &'m Zone<'m> {
        let zones = self.mm.zones();
        zones[self.random.below(zones.len())]
    }

    /// Some frames of one range of a zone.
    fn place(&mut self, zone: &Zone<'_>) -> PfnRange {
        let range = zone.ranges()[self.random.below(zone.ranges().len())];
        let start = range.start + self.random.below(range.len() as usize) as u64;
        let bits = self.random.below(12);
        let frames = 1 + self.random.below(1 << bits) as u64;
        PfnRange { start, end: (start + frames).min(range.end) }
    }

    /// Writes into frames of which it is the owner.
    fn stamp(&self, frames: PfnRange) {
        for frame in (frames.start.0..frames.end.0).map(Pfn) {
            // SAFETY: the frame is ours alone: RAM of the machine, mapped for as long as it lives.
            unsafe { self.word(frame).write(frame.0) };
        }
    }

    /// What was written is still there.
    fn check_stamp(&self, frames: PfnRange) {
        for frame in (frames.start.0..frames.end.0).map(Pfn) {
            // SAFETY: as above.
            assert_eq!(unsafe { self.word(frame).read() }, frame.0, "{frame:?} was written to");
        }
    }

    /// A frame's first word.
    fn word(&self, frame: Pfn) -> *mut u64 {
        self.mm.platform().phys_to_virt(frame.addr()).cast()
    }
}

fn frames_of(block: &FrameBlock<'_>) -> PfnRange {
    PfnRange { start: block.pfn(), end: block.pfn() + block.order().pages() }
}

/// Takes one out.
fn pick<T>(from: &mut Vec<T>, random: &mut Random) -> Option<T> {
    (!from.is_empty()).then(|| from.swap_remove(random.below(from.len())))
}

/// Moves half of it.
fn half<T>(from: &mut Vec<T>, to: &mut Vec<T>) {
    to.extend(from.drain(from.len() / 2..));
}
