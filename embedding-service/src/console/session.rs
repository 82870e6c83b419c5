//! Sessions. A cookie says when a session began and when it was last used, and is signed with what follows from the operators' key: nothing
//! is stored here, so a session outlives a restart and holds on every replica, and ends when the key is changed.

use blake3::Hash;

use crate::control::options::ControlKey;

pub const COOKIE: &str = "sentinel_session";
/// A session ends when it was not used for so long,
const IDLE_MS: u64 = 3_600_000;
/// and at the latest when it is so old.
const LONGEST_MS: u64 = 12 * 3_600_000;
/// How old the cookie becomes before a page renews it.
const RENEWED_MS: u64 = 300_000;

/// Who has logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    began_ms: u64,
    used_ms: u64,
    /// Tells sessions apart.
    chance: u64,
}

impl Session {
    #[must_use]
    pub fn begin(now_ms: u64, chance: u64) -> Self {
        Self { began_ms: now_ms, used_ms: now_ms, chance }
    }

    /// The session of a cookie, if it is ours and has not ended.
    #[must_use]
    pub fn read(cookie: &str, key: &ControlKey, now_ms: u64) -> Option<Self> {
        let (said, signature) = cookie.rsplit_once('.')?;
        if signed(key, "session", said) != Hash::from_hex(signature).ok()? {
            return None;
        }
        let mut numbers = said.split('.').map(|number| u64::from_str_radix(number, 16).ok());
        let session =
            Self { began_ms: numbers.next()??, used_ms: numbers.next()??, chance: numbers.next()?? };
        let is_young = now_ms.saturating_sub(session.began_ms) < LONGEST_MS;
        (is_young && now_ms.saturating_sub(session.used_ms) < IDLE_MS).then_some(session)
    }

    /// The same session, used now; `None`: the cookie is good as it is.
    #[must_use]
    pub fn renewed(&self, now_ms: u64) -> Option<Self> {
        let is_old = now_ms.saturating_sub(self.used_ms) >= RENEWED_MS;
        is_old.then(|| Self { used_ms: now_ms, ..self.clone() })
    }

    #[must_use]
    pub fn cookie(&self, key: &ControlKey) -> String {
        let said = format!("{:x}.{:x}.{:x}", self.began_ms, self.used_ms, self.chance);
        format!("{said}.{}", signed(key, "session", &said).to_hex())
    }

    /// What every form of the session carries.
    #[must_use]
    pub fn token(&self, key: &ControlKey) -> String {
        signed(key, "form", &format!("{:x}.{:x}", self.began_ms, self.chance)).to_hex().to_string()
    }
}

/// What the forms of whoever sends the key with each request carry: a gateway that adds it has a browser behind it.
#[must_use]
pub fn token_of_key(key: &ControlKey) -> String {
    signed(key, "form", "key").to_hex().to_string()
}

/// Whether a form carries its token. In constant time.
#[must_use]
pub fn is_token(given: &str, wanted: &str) -> bool {
    blake3::hash(given.as_bytes()) == blake3::hash(wanted.as_bytes())
}

fn signed(key: &ControlKey, purpose: &str, text: &str) -> Hash {
    blake3::keyed_hash(&key.derived("agent-sentinel console"), format!("{purpose}\n{text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_790_000_000_000;

    fn key(text: &str) -> ControlKey {
        ControlKey::new(text).unwrap()
    }

    #[test]
    fn a_session_lasts_while_it_is_used_and_not_for_ever() {
        let key = key("0123456789abcdef");
        let session = Session::begin(NOW, 7);
        let cookie = session.cookie(&key);
        assert_eq!(Session::read(&cookie, &key, NOW + IDLE_MS - 1), Some(session.clone()));
        assert_eq!(Session::read(&cookie, &key, NOW + IDLE_MS), None);
        assert_eq!(session.renewed(NOW + 1), None);
        let mut session = session;
        for hour in 1..24 {
            let now = NOW + hour * 3_000_000;
            let Some(read) = Session::read(&session.cookie(&key), &key, now) else {
                assert!(now - NOW >= LONGEST_MS, "it ended after {hour}");
                return;
            };
            session = read.renewed(now).unwrap();
        }
        panic!("it never ended");
    }

    #[test]
    fn only_what_the_key_has_signed_counts() {
        let (ours, other) = (key("0123456789abcdef"), key("0123456789abcdeF"));
        let session = Session::begin(NOW, 7);
        let cookie = session.cookie(&ours);
        assert_eq!(Session::read(&cookie, &other, NOW), None);
        let longer = cookie.replacen(&format!("{NOW:x}"), &format!("{:x}", NOW + 1), 1);
        assert_ne!(longer, cookie);
        let (mut headless, mut cut) = (cookie.clone(), cookie.clone());
        headless.remove(0);
        cut.pop();
        for forged in [longer.as_str(), "", ".", "a.b.c.d", &headless, &cut] {
            assert_eq!(Session::read(forged, &ours, NOW), None, "{forged}");
        }
        assert_ne!(
            session.token(&ours),
            Session::begin(NOW, 8).token(&ours),
            "each session has its own token"
        );
        assert_eq!(session.token(&ours), session.renewed(NOW + RENEWED_MS).unwrap().token(&ours));
        assert!(is_token("a", "a") && !is_token("", "a"));
    }
}
