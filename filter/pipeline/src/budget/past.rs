//! What a request will probably take, by what the last answers of its run took.

use sentinel_config::price::BYTES_A_TOKEN;
use sentinel_llm_api::usage::Usage;

/// Output tokens of a run's first answer, before any answer is known.
const FIRST_OUTPUT: u64 = 1_000;

/// The last answer of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Length of the request that it answered.
    bytes: u64,
    usage: Usage,
    is_known: bool,
}

impl Past {
    /// The same after one more answer. If the output was longer before, that is forgotten little by little.
    #[must_use]
    pub fn after(self, bytes: usize, usage: &Usage) -> Self {
        let before = self.usage.output.saturating_mul(3).checked_div(4).unwrap_or(0);
        let usage = Usage { output: usage.output.max(before), ..*usage };
        Self { bytes: length(bytes), usage, is_known: true }
    }

    /// What the next request will probably take. `bytes`: its length. `most`: the output that it allows. `is_part`: the provider
    /// keeps the messages before it, and sends them to the model again.
    pub fn next(self, bytes: usize, most: Option<u64>, is_part: bool) -> Usage {
        let Self { bytes: before, usage: Usage { input, cached, output }, is_known } = self;
        let most = most.unwrap_or(u64::MAX);
        let (bytes, a_token) = (length(bytes), length(BYTES_A_TOKEN));
        let by_bytes = bytes.div_ceil(a_token.max(1));
        if !is_known {
            return Usage { input: by_bytes, cached: 0, output: most.min(FIRST_OUTPUT) };
        }
        let output = output.min(most);
        if is_part {
            return Usage { input: input.saturating_add(by_bytes), cached, output };
        }
        // The tokens for each byte, and the share of them from the provider's cache, are those of the last time.
        let scaled = |tokens: u64| tokens.saturating_mul(bytes).checked_div(before).unwrap_or(by_bytes);
        let cached = scaled(cached);
        Usage { input: scaled(input), cached, output }
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_is_judged_by_its_bytes_and_the_next_by_the_last_answer() {
        let first = Past::default();
        assert_eq!(first.next(401, None, false), Usage { input: 101, cached: 0, output: 1_000 });
        assert_eq!(first.next(401, Some(50), false).output, 50);
        let past = first.after(400, &Usage { input: 50, cached: 150, output: 400 });
        assert_eq!(past.next(800, None, false), Usage { input: 100, cached: 300, output: 400 });
        assert_eq!(past.next(40, None, true), Usage { input: 60, cached: 150, output: 400 });
        let shorter = past.after(400, &Usage { input: 50, cached: 150, output: 8 });
        assert_eq!(shorter.next(400, Some(1_000), false).output, 300);
        assert_eq!(Past::default().after(0, &Usage::default()).next(8, None, false).input, 2);
    }
}
