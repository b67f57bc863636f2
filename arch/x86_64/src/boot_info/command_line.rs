//! The command line: bytes of a stranger to a string.

/// Copies the bytes before the first zero byte to `into`; bytes that are no ASCII become `?`.
/// Says how many did not fit.
pub(super) fn copy<'a>(bytes: &[u8], into: &'a mut [u8]) -> (&'a str, usize) {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let kept = text.len().min(into.len());
    let (into, _) = into.split_at_mut(kept);
    for (place, byte) in into.iter_mut().zip(text) {
        *place = if byte.is_ascii() { *byte } else { b'?' };
    }
    // ASCII is UTF-8, so this cannot fail.
    (str::from_utf8(into).unwrap_or_default(), text.len() - kept)
}

#[cfg(test)]
mod tests {
    use super::copy;

    #[test]
    fn it_ends_at_a_zero_byte_or_with_the_bytes() {
        assert_eq!(copy(b"hashdist=0\0junk", &mut [0; 64]), ("hashdist=0", 0));
        assert_eq!(copy(b"numa=off", &mut [0; 64]), ("numa=off", 0));
        assert_eq!(copy(b"", &mut [0; 64]), ("", 0));
    }

    #[test]
    fn foreign_bytes_become_question_marks_and_the_rest_is_counted() {
        assert_eq!(copy("näin\0".as_bytes(), &mut [0; 64]), ("n??in", 0));
        assert_eq!(copy(b"hashdist=0", &mut [0; 4]), ("hash", 6));
    }
}
