//! Whether a body says something in a way that only some servers read: names in another case, a second list of messages, members
//! that are written as text. Only checked if an operator forbids something.

use crate::{
    conversation::Conversation,
    disguise::{hides, is_disguised},
    json::{Raw, Unreadable, members::Key, object::Object},
    tool_names::text,
};

/// Names that decide what a request is. Servers written in Go take `Tools` and `toolſ` for `tools`.
const OF_BODIES: [&str; 26] = [
    "tools",
    "functions",
    "tool_choice",
    "function_call",
    "toolConfig",
    "tool_config",
    "mcp_servers",
    "messages",
    "contents",
    "input",
    "models",
    "fallbacks",
    "system",
    "prompt",
    "promptVariables",
    "agent",
    "agent_reference",
    "extra_body",
    "web_search_options",
    "search_parameters",
    "enable_search",
    "web_search",
    "enable_enhancement",
    "force_search_enhancement",
    "enable_code_interpreter",
    "plugins",
];
/// The same in a message or a call.
const OF_ITEMS: [&str; 17] = [
    "role",
    "type",
    "content",
    "parts",
    "text",
    "tools",
    "tool",
    "definition",
    "tool_calls",
    "function_call",
    "arguments",
    "output",
    "outputs",
    "result",
    "functionResponse",
    "response",
    "toolResult",
];
/// Objects in a part of a message that hold such names themselves.
const WITHIN: [&str; 4] = ["functionResponse", "function_response", "toolResult", "tool"];
/// The list of messages in one format or another. LiteLLM takes `input` on a path of chat.
const MESSAGES: [&str; 3] = ["messages", "contents", "input"];

impl Conversation<'_> {
    /// Returns an error if a name that decides something is written in a way that only some servers read.
    pub fn check_names(&self) -> Result<(), Unreadable> {
        let is_within = |key: &Key<'_>| WITHIN.iter().any(|name| key.is(name));
        let hides_here = |(key, value): (Key<'_>, Raw<'_>)| {
            is_disguised(&key, &OF_ITEMS) || is_within(&key) && hides(value, &OF_ITEMS)
        };
        let hides_part = |part: Raw<'_>| part.members().any(hides_here);
        let in_parts = |content: Raw<'_>| hides_part(content) || content.elements().any(hides_part);
        let in_items = || {
            self.history.items().any(|(item, _)| {
                item.members().any(hides_here) || (self.format.content)(item).is_some_and(in_parts)
            })
        };
        let in_body = self.top.members().iter().any(|(key, _)| is_disguised(key, &OF_BODIES));
        if in_body || self.has_other_messages() || self.hands_on_texts() || in_items() {
            return Err(Unreadable::Shape);
        }
        Ok(())
    }

    /// Whether there is another list of messages beside the format's own.
    fn has_other_messages(&self) -> bool {
        let is_own =
            |value: &Raw<'_>| self.list.is_some_and(|list| list.get().as_ptr() == value.get().as_ptr());
        let is_empty = |value: &Raw<'_>| matches!(value.get(), "\"\"" | "[]" | "{}");
        self.top.all(&MESSAGES).iter().any(|value| !is_own(value) && !is_empty(value))
    }

    /// Whether the body holds a text from which a gateway behind this one makes members of the body: JSON in Open WebUI's
    /// `custom_params`, or a pointer in TensorZero's `extra_body` to something that decides.
    fn hands_on_texts(&self) -> bool {
        let is_json = |value: Raw<'_>| {
            value.inside().is_some_and(|text| text.trim_start().starts_with(['{', '[', '\\']))
        };
        let params = self.top.all(&["params"]).into_iter().map(Object::of);
        let mut custom = params.flat_map(|params| params.all(&["custom_params"]));
        let decides = |pointer: Raw<'_>| {
            let pointer = text(pointer).to_ascii_lowercase();
            ["tool", "function", "model", "plugin", "search", "server", "fallback", "messages"]
                .iter()
                .any(|part| pointer.contains(part))
        };
        let bodies = self.top.members().iter().filter(|(key, _)| key.text().ends_with("extra_body"));
        let mut pointers = bodies
            .flat_map(|(_, list)| list.elements())
            .flat_map(|element| Object::of(element).all(&["pointer"]));
        custom.any(|custom| custom.members().any(|(_, value)| is_json(value))) || pointers.any(decides)
    }
}
