//! Records of one type in frames of the page allocator: where vmalloc keeps what it knows of its
//! areas. A frame whose last record goes is given back.

use core::marker::PhantomData;
use core::mem::{ManuallyDrop, align_of, size_of};
use core::ptr::{self, NonNull};

use crate::units::{PAGE_SIZE, Pfn};

/// Room for records. It allocates nothing itself: frames come in by [`Slab::add_frame`].
pub(super) struct Slab<T> {
    /// The first frame that has room.
    partial: *mut Header<T>,
    records: PhantomData<T>,
}

// SAFETY: the frames belong to the slab alone, so it goes to another thread with its records.
unsafe impl<T: Send> Send for Slab<T> {}

/// At the start of each frame. Records follow.
struct Header<T> {
    /// Neighbours among the frames that have room.
    previous: *mut Header<T>,
    next: *mut Header<T>,
    /// The first free record.
    free: *mut Slot<T>,
    frame: Pfn,
    used: usize,
}

/// A record, or the link to the next free one.
union Slot<T> {
    next: *mut Slot<T>,
    _record: ManuallyDrop<T>,
}

impl<T> Slab<T> {
    const FIRST: usize = size_of::<Header<T>>().next_multiple_of(align_of::<Slot<T>>());
    /// Records in one frame.
    pub(super) const PER_FRAME: usize = (PAGE_SIZE as usize - Self::FIRST) / size_of::<Slot<T>>();

    pub(super) const fn new() -> Slab<T> {
        Slab { partial: ptr::null_mut(), records: PhantomData }
    }

    /// Brings a frame for more records.
    ///
    /// # Safety
    /// `memory` points to the whole of `frame`, which belongs to the slab until
    /// [`Slab::remove`] returns it.
    pub(super) unsafe fn add_frame(&mut self, frame: Pfn, memory: *mut u8) {
        const { assert!(Self::PER_FRAME > 0) };
        let header = memory.cast::<Header<T>>();
        let mut free = ptr::null_mut();
        for index in (0..Self::PER_FRAME).rev() {
            // SAFETY: the record lies within the frame.
            unsafe {
                let slot = memory.add(Self::FIRST).cast::<Slot<T>>().add(index);
                slot.write(Slot { next: free });
                free = slot;
            }
        }
        let (previous, next) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the header lies within the frame, before the records.
        unsafe { header.write(Header { previous, next, free, frame, used: 0 }) };
        self.link(header);
    }

    /// Keeps a record; gives it back when there is no room.
    pub(super) fn insert(&mut self, record: T) -> Result<NonNull<T>, T> {
        let header = self.partial;
        if header.is_null() {
            return Err(record);
        }
        // SAFETY: the frames of the list are ours and initialised; one that is in it has a free
        // record, which holds the link to the next.
        unsafe {
            let slot = (*header).free;
            (*header).free = (*slot).next;
            (*header).used += 1;
            if (*header).free.is_null() {
                self.unlink(header);
            }
            let place = slot.cast::<T>();
            place.write(record);
            Ok(NonNull::new_unchecked(place))
        }
    }

    /// Takes a record out, and its frame, too, when it was the last in it.
    ///
    /// # Safety
    /// The record is from [`Slab::insert`] of this slab, and nobody uses it any more.
    pub(super) unsafe fn remove(&mut self, record: NonNull<T>) -> (T, Option<Pfn>) {
        let slot = record.as_ptr().cast::<Slot<T>>();
        let header = slot.map_addr(|at| at & !(PAGE_SIZE as usize - 1)).cast::<Header<T>>();
        // SAFETY: frames are aligned to their size, so this is the header of the record's frame.
        unsafe {
            let value = record.as_ptr().read();
            if (*header).free.is_null() {
                self.link(header);
            }
            slot.write(Slot { next: (*header).free });
            (*header).free = slot;
            (*header).used -= 1;
            if (*header).used > 0 {
                return (value, None);
            }
            self.unlink(header);
            (value, Some((*header).frame))
        }
    }

    fn link(&mut self, header: *mut Header<T>) {
        // SAFETY: both are headers of frames that are ours.
        unsafe {
            (*header).previous = ptr::null_mut();
            (*header).next = self.partial;
            if !self.partial.is_null() {
                (*self.partial).previous = header;
            }
        }
        self.partial = header;
    }

    fn unlink(&mut self, header: *mut Header<T>) {
        // SAFETY: it is in the list, and so are its neighbours.
        unsafe {
            let (previous, next) = ((*header).previous, (*header).next);
            match previous.is_null() {
                true => self.partial = next,
                false => (*previous).next = next,
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::{Layout, alloc, dealloc};
    use std::vec::Vec;

    #[test]
    fn frames_fill_up_one_after_the_other_and_come_back_when_empty() {
        let layout = Layout::from_size_align(4096, 4096).unwrap();
        // SAFETY: the size is not 0.
        let frames: Vec<*mut u8> = (0..2).map(|_| unsafe { alloc(layout) }).collect();
        let mut slab = Slab::<[u64; 3]>::new();
        let per_frame = Slab::<[u64; 3]>::PER_FRAME;
        assert!(per_frame > 160);
        assert_eq!(slab.insert([0; 3]), Err([0; 3]));
        let mut records = Vec::new();
        for (index, &memory) in frames.iter().enumerate() {
            // SAFETY: a page of our own.
            unsafe { slab.add_frame(Pfn(index as u64), memory) };
            for _ in 0..per_frame {
                let number = records.len() as u64;
                records.push(slab.insert([number; 3]).unwrap());
            }
            assert!(slab.insert([0; 3]).is_err(), "full");
        }
        let mut back = Vec::new();
        // From both frames in turn.
        let order = (0..per_frame).flat_map(|index| [index, per_frame + index]);
        for index in order {
            // SAFETY: from `insert`, and each once.
            let (record, frame) = unsafe { slab.remove(records[index]) };
            assert_eq!(record, [index as u64; 3]);
            back.extend(frame);
        }
        assert_eq!(back, [Pfn(0), Pfn(1)]);
        assert!(slab.insert([0; 3]).is_err(), "no frame is left");
        for memory in frames {
            // SAFETY: allocated above with this layout.
            unsafe { dealloc(memory, layout) };
        }
    }
}
