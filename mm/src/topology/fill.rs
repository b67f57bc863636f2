//! A list that grows into slots which the caller brought.

/// The first `count` slots are used.
pub struct Fill<'m, T> {
    slots: &'m mut [T],
    count: usize,
}

impl<'m, T> Fill<'m, T> {
    /// An empty list with room for as many as there are slots.
    pub fn new(slots: &'m mut [T]) -> Fill<'m, T> {
        Fill { slots, count: 0 }
    }

    /// Appends; false when there is no room.
    pub fn push(&mut self, value: T) -> bool {
        let Some(slot) = self.slots.get_mut(self.count) else { return false };
        *slot = value;
        self.count += 1;
        true
    }

    /// The last one.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.slots.get_mut(self.count.checked_sub(1)?)
    }

    /// Takes all out.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        self.slots.get(..self.count).unwrap_or_default()
    }

    /// All of them, to change.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.slots.get_mut(..self.count).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many there can be.
    pub fn room(&self) -> usize {
        self.slots.len()
    }

    /// All of them, for good.
    pub fn finish(self) -> &'m mut [T] {
        self.slots.get_mut(..self.count).unwrap_or_default()
    }
}
