//! The clients that are counted by name. The set is closed: metrics have no more labels than the configuration has names, and a
//! request cannot choose one.

use std::sync::Arc;

use crate::ConfigError;

/// Most clients that may be counted by name: each has some counters of its own in Envoy.
const MOST: usize = 1_000;
const LONGEST: usize = 64;
/// Names of the labels in our metrics. Labels stand in a metric's name, where a client of such a name would pass for the
/// label itself; and the two labels of those who are not listed.
const RESERVED: [&str; 12] = [
    "agent", "cause", "client", "dialect", "kind", "model", "none", "other", "outcome", "signal", "status",
    "verdict",
];

#[derive(Clone, Debug)]
pub struct Clients {
    /// Sorted.
    listed: Vec<Arc<str>>,
    other: Arc<str>,
    none: Arc<str>,
}

impl Clients {
    pub fn of(names: &[String]) -> Result<Self, ConfigError> {
        let path = "identity.clients";
        if names.len() > MOST {
            return Err(ConfigError::new(path, format!("must not have more than {MOST} names")));
        }
        for (index, name) in names.iter().enumerate() {
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
            let problem = if name.is_empty() || name.len() > LONGEST || !name.bytes().all(is_plain) {
                format!("must be a name of letters, digits, `-` and `_`, at most {LONGEST} of them")
            } else if RESERVED.contains(&name.as_str()) {
                format!("`{name}` is a word of the metrics themselves; give the client another name")
            } else {
                continue;
            };
            return Err(ConfigError::new(format!("{path}[{index}]"), problem));
        }
        let mut listed: Vec<Arc<str>> = Vec::with_capacity(names.len());
        for name in names {
            if let Err(place) = listed.binary_search_by(|known| (**known).cmp(name.as_str())) {
                listed.insert(place, Arc::from(name.as_str()));
            }
        }
        Ok(Self { listed, other: Arc::from("other"), none: Arc::from("none") })
    }

    /// How the client of this name is counted.
    pub fn label(&self, name: Option<&[u8]>) -> Arc<str> {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Arc::clone(&self.none) };
        let place = self.listed.binary_search_by(|known| known.as_bytes().cmp(name)).ok();
        let listed = place.and_then(|place| self.listed.get(place));
        Arc::clone(listed.unwrap_or(&self.other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients(names: &[&str]) -> Result<Clients, ConfigError> {
        Clients::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn who_is_not_listed_is_nobody_by_name() {
        let clients = clients(&["billing", "Night_Batch-2"]).unwrap();
        for (name, label) in [
            (Some("billing"), "billing"),
            (Some("Night_Batch-2"), "Night_Batch-2"),
            (Some("night_batch-2"), "other"),
            (Some("other"), "other"),
            (Some(""), "none"),
            (None, "none"),
        ] {
            assert_eq!(&*clients.label(name.map(str::as_bytes)), label, "{name:?}");
        }
        assert_eq!(&*clients.label(Some(b"\xff")), "other");
    }

    #[test]
    fn a_name_that_could_pass_for_another_label_is_refused() {
        let long = "x".repeat(65);
        for name in ["", "a.b", "a b", "ä", "status", "other", &long] {
            let error = clients(&["fine", name]).unwrap_err();
            assert_eq!(error.path, "identity.clients[1]", "{name}");
        }
        let many: Vec<String> = (0..=MOST).map(|n| format!("c{n}")).collect();
        assert_eq!(Clients::of(&many).unwrap_err().path, "identity.clients");
    }
}
