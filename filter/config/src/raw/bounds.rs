//! How much of a history reaches the model.

use serde_json::Value;

use crate::{
    ConfigError,
    field::{Field, group, join, wrong_type},
};

group! {
    /// Bounds.
    ///
    /// ```json
    /// {
    ///   "bounds": {
    ///     "truncation": {"enabled": true, "max_tool_result_chars": 50000},
    ///     "repair": true,
    ///     "pruning": {"enabled": true},
    ///     "memory_flush": {"enabled": true}
    ///   }
    /// }
    /// ```
    struct RawBounds {
        /// User messages and tool results that are too long are cut at their end, and the model is told how much is missing.
        truncation: RawTruncation = RawTruncation::default(),
        /// Whether calls and results are paired as the provider wants it. Results without a call are dropped, results in the
        /// wrong place are moved, and missing ones are made: `[Tool result missing -- session was compacted]`.
        repair: bool = false,
        /// How many user turns the model sees, with all that belongs to them. When there are more, the oldest are dropped, apart
        /// from system messages. The beginning moves at most every 10th request, so up to 9 turns more may
        /// be seen.
        /// Range: 0 and more.
        history_limit: u32 = 0,
        /// Old tool results are cut down when the history takes much of the context window.
        pruning: RawPruning = RawPruning::default(),
        /// A hint to store what matters, shortly before the context window is full.
        memory_flush: RawMemoryFlush = RawMemoryFlush::default(),
        /// The context window of models that neither `context_windows` nor the filter knows, in tokens.
        /// Range: 1 and more.
        context_window: u32 = 200_000,
    }
}

group! {
    /// Truncation.
    struct RawTruncation {
        /// Whether long messages and tool results are cut.
        enabled: bool = false,
        /// The characters of a user message that the model sees.
        /// Range: 0 and more.
        max_message_chars: u32 = 32_768,
        /// The characters of a tool result that the model sees.
        /// Range: 0 and more.
        max_tool_result_chars: u32 = 100_000,
    }
}

group! {
    /// Pruning.
    struct RawPruning {
        /// Whether old tool results are cut down. What is cut changes at most every 10th request, so that the provider's
        /// prompt cache keeps the rest.
        enabled: bool = false,
        /// The number of last assistant turns that stay whole, with all that follows them.
        /// Range: 0 and more.
        keep_last_assistants: u32 = 3,
        /// When the request takes this share of the context window, long tool results lose their middle.
        /// Range: 0 to 1.
        soft_trim_ratio: f64 = 0.3,
        /// When it still takes this share, whole tool results are replaced by `[Old tool result content cleared]`, the oldest
        /// first, until it is less.
        /// Range: `bounds.pruning.soft_trim_ratio` to 1.
        hard_clear_ratio: f64 = 0.5,
        /// Tool results with more characters than this lose their middle.
        /// Range: more than `soft_trim_head` and `soft_trim_tail` together.
        soft_trim_chars: u32 = 4_000,
        /// The characters that stay at the beginning of such a result.
        /// Range: less than `soft_trim_chars`.
        soft_trim_head: u32 = 1_500,
        /// The characters that stay at its end.
        /// Range: less than `soft_trim_chars`.
        soft_trim_tail: u32 = 1_500,
        /// Whole results are replaced only if those that may be cut have at least this many characters in all.
        /// Range: 0 and more.
        min_prunable_tool_chars: u32 = 50_000,
    }
}

group! {
    /// The hint before the context window is full.
    struct RawMemoryFlush {
        /// Whether there is such a hint. Its text is `hint.messages.memory_flush`.
        enabled: bool = false,
        /// How many tokens of the window are left when it comes.
        /// Range: 0 and more.
        tokens_left: u32 = 24_000,
    }
}

group! {
    /// The context window of some models. An entry needs exactly one of `name` and `prefix`.
    ///
    /// ```json
    /// {"context_windows": [{"prefix": "my-llama-", "tokens": 32768}]}
    /// ```
    struct RawContextWindow {
        /// The exact name of the model, as requests give it.
        name: Option<String> = None,
        /// The beginning of the model's name.
        prefix: Option<String> = None,
        /// The tokens that it reads at most.
        /// Range: 1 and more.
        tokens: u32 = 0,
    }
}
