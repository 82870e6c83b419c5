//! What a reader of a request could miss, though a server behind the filter may read it: members that a gateway hands on to the
//! provider as they are. Only checked if an operator forbids something. Names in another spelling are in `check_names`, and
//! switches for tools in `switches`.

use crate::{
    conversation::{Conversation, texts_of_media},
    json::{Raw, Unreadable, members::Key, object::Object},
    switches::{SWITCHES, is_on, is_switch},
    tool_names::{element_names, snake_case},
    tools::{self, DEEPEST, May, PolicyLists, listed},
};

/// Members of a body that every provider reads itself, or in which the client chooses the names: schemas, labels.
const READ: [&str; 28] = [
    "messages",
    "contents",
    "input",
    "instructions",
    "system",
    "systemInstruction",
    "system_instruction",
    "tools",
    "functions",
    "tool_choice",
    "function_call",
    "toolConfig",
    "tool_config",
    "mcp_servers",
    "prompt",
    "promptVariables",
    "response_format",
    "text",
    "generationConfig",
    "generation_config",
    "output_config",
    "outputConfig",
    "output_format",
    "metadata",
    "requestMetadata",
    "labels",
    // OpenAI's model that moderates, and what Open WebUI's page knows about the model.
    "moderation",
    "model_item",
];
/// Schemas, documents, and what the client fills in or notes for itself, at any depth. The client chooses the names in them too, but
/// the guard reads them.
const OWN: [&str; 11] = [
    "guided_json",
    "structured_outputs",
    "structured",
    "json_schema",
    "output_schema",
    "response_schema",
    "format",
    "documents",
    "prompt_variables",
    "client_metadata",
    "litellm_metadata",
];
/// Members of the body with tools in one format or another.
const OF_FORMATS: [&str; 5] = ["tools", "functions", "toolConfig", "tool_config", "mcp_servers"];
/// Lists of tools, wherever a provider may look for them. Open WebUI runs those of `tool_ids` itself.
const TOOLS: [&str; 5] = ["tools", "functions", "functionDeclarations", "function_declarations", "tool_ids"];
const SERVERS: [&str; 2] = ["mcp_servers", "mcpServers"];
/// Beginnings of the names of lists with tools that are left out.
const LEFT_OUT: [&str; 7] = ["exclude", "disable", "disallow", "block", "deny", "denied", "forbid"];

/// Whether a member's name equals one of these only if the case of its letters does not count.
pub(crate) fn is_disguised(key: &Key<'_>, known: &[&str]) -> bool {
    let name = key.text();
    // No other spelling is shorter. Most names already differ in the first letter.
    known.iter().any(|known| name.len() >= known.len() && is_alike(&name, known) && *known != name)
}

/// Whether an object has a member with such a name.
#[inline(never)]
pub(crate) fn hides(raw: Raw<'_>, known: &[&str]) -> bool {
    raw.members().any(|(key, _)| is_disguised(&key, known))
}

/// Whether two names are equal if case does not count. For two letters beyond ASCII, the other case is an ASCII letter.
fn is_alike(name: &str, known: &str) -> bool {
    let mut known = known.bytes();
    name.chars().all(|letter| {
        let letter = match letter {
            'ſ' => 's',
            '\u{212A}' => 'k',
            other => other.to_ascii_lowercase(),
        };
        known.next().is_some_and(|byte| char::from(byte.to_ascii_lowercase()) == letter)
    }) && known.next().is_none()
}

impl<'a> Conversation<'a> {
    /// The values of all members with such a name, within members that the provider's format does not know and that a gateway may
    /// hand on (`extra_body`, `additionalModelRequestFields`).
    pub(crate) fn handed_on(&self, is_one: IsOne<'_>) -> Vec<Raw<'a>> {
        let mut found = Vec::new();
        self.unknown().for_each(|(_, value)| search(*value, is_one, DEEPEST, &mut found));
        found
    }

    /// The members that the provider's format does not know, and those with tools of another format, which `offer` does not cut.
    fn unknown(&self) -> impl Iterator<Item = &(Key<'a>, Raw<'a>)> {
        let is_one = |key: &Key<'_>, names: &[&str]| names.iter().any(|name| key.is(name));
        let is_others = move |key: &Key<'_>| is_one(key, &OF_FORMATS) && !is_one(key, self.format.tools);
        self.top
            .members()
            .iter()
            .filter(move |(key, _)| !(is_one(key, &READ) || is_one(key, &OWN)) || is_others(key))
    }

    /// A denied tool in such a member, if there is one.
    pub(crate) fn denied_elsewhere(&self, may: May<'_>) -> Result<Option<String>, Unreadable> {
        let are_servers = one_of(&SERVERS);
        for (is_list, are_servers) in [(&holds_tools as IsOne<'_>, false), (&are_servers, true)] {
            let mut lists = self.handed_on(is_list);
            lists.extend(self.unknown().filter(|(key, _)| is_list(key)).map(|(_, value)| *value));
            if !are_servers {
                // Open WebUI adds the tools of such servers to the request.
                let mut adding = self.handed_on(&one_of(&["tool_servers"]));
                adding.extend(self.top.all(&["tool_servers"]));
                let servers = adding.into_iter().flat_map(listed);
                lists.extend(servers.flat_map(|server| Object::of(server).all(&["specs"])));
            }
            for list in lists.into_iter().flat_map(lists_in) {
                let filtered = tools::filter(self.body, list, are_servers, may)?;
                if filtered.has_nameless {
                    return Err(Unreadable::Shape);
                }
                if let Some(denied) = filtered.denied.into_iter().next() {
                    return Ok(Some(denied));
                }
            }
        }
        // In `features`, any object means yes (Open WebUI).
        let features: Vec<_> = self.top.all(&["features"]).into_iter().map(Object::of).collect();
        let is_on = |switch: &str| {
            let is_one = |key: &Key<'_>| is_switch(key, switch) || one_of(&[switch])(key);
            let mut values = self.handed_on(&is_one);
            // In the other formats `restrict` has cut the switches at the top of the body already.
            if !self.format.tools.contains(&"functions") {
                values.extend(self.unknown().filter(|(key, _)| is_one(key)).map(|(_, value)| *value));
            }
            values.into_iter().any(|value| is_on(switch, value))
                || features.iter().flat_map(|all| all.all(&[switch])).any(Raw::is_object)
        };
        let on = SWITCHES.iter().find(|(switch, tool)| !may(tool, PolicyLists::Both) && is_on(switch));
        Ok(on.map(|(_, tool)| (*tool).to_owned()))
    }

    /// Gives `visit` what a client fills into a prompt that the provider keeps, and what only some servers put into a prompt:
    /// documents, values for a template.
    pub fn variables(&self, visit: &mut dyn FnMut(&'a str)) {
        for (key, value) in self.top.members() {
            // Servers may put one of these in front of the tools (TGI).
            let is_of_prompt = ["prompt", "promptVariables", "tool_prompt"].iter().any(|name| key.is(name));
            if is_of_prompt || !value.is_string() && !READ.iter().any(|name| key.is(name)) {
                texts_of_media(value.get(), visit);
            }
        }
    }
}

/// Whether a member is one of those that are searched for.
type IsOne<'n> = &'n dyn Fn(&Key<'_>) -> bool;

/// Whether a member has one of these names, in any case, and in snake case or camel case.
fn one_of<'n>(names: &'n [&'n str]) -> impl Fn(&Key<'_>) -> bool + 'n {
    |key| names.contains(&&*snake_case(&key.text())) || is_disguised(key, names)
}

/// Whether a member is a list of tools, as a router or a template has one (`custom_tools`), and not a list of tools that are left out.
#[inline(never)]
fn holds_tools(key: &Key<'_>) -> bool {
    let name = snake_case(&key.text());
    let is_left_out = || LEFT_OUT.iter().any(|begin| name.starts_with(begin));
    name.ends_with("tools") && !is_left_out() || one_of(&TOOLS)(key)
}

/// The lists in a member that may be a list itself or a table of lists (Groq's `enabled_tools`). Only an object, or a list with
/// an object or a string in it, counts.
#[inline(never)]
fn lists_in(value: Raw<'_>) -> Vec<Raw<'_>> {
    let is_table = || element_names(value).own.iter().all(String::is_empty);
    let lists = value.members().filter(|(key, _)| holds_tools(key)).map(|(_, list)| list);
    let mut lists: Vec<_> = lists.collect();
    if lists.is_empty() || !is_table() {
        lists = vec![value];
    }
    let says = |element: Raw<'_>| element.is_object() || element.is_string();
    lists.retain(|list| list.is_object() || list.elements().any(says));
    lists
}

/// Finds the members with these names in a value, at any depth, but not in schemas and documents.
#[inline(never)]
pub(crate) fn search<'a>(value: Raw<'a>, is_one: IsOne<'_>, left: usize, found: &mut Vec<Raw<'a>>) {
    let Some(left) = left.checked_sub(1) else { return };
    for (key, inner) in value.members() {
        if is_one(&key) {
            found.push(inner);
        } else if !OWN.iter().any(|name| key.is(name)) {
            search(inner, is_one, left, found);
        }
    }
    value.elements().for_each(|element| search(element, is_one, left, found));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    fn read(body: &str) -> Conversation<'_> {
        registry::read(registry::by_label("openai_chat").unwrap(), body.as_bytes()).unwrap()
    }

    #[test]
    fn a_name_in_another_case_is_not_overlooked() {
        for (more, is_plain) in [
            (r#""tools":[]"#, true),
            (r#""t\u006fols":[]"#, true),
            (r#""Tools":[]"#, false),
            (r#""tool\u017f":[]"#, false),
            ("\"toolſ\":[]", false),
            ("\"too\u{212A}s\":[]", true),
            (r#""TOOL_CHOICE":"any""#, false),
            (r#""toolConfig":{}"#, true),
            (r#""toolconfig":{}"#, false),
            (r#""Web_Search":{}"#, false),
            (r#""web_search":{}"#, true),
            (r#""metadata":{"Model":"m"}"#, true),
        ] {
            let body = format!(r#"{{"messages":[{{"role":"user","content":"a"}}],{more}}}"#);
            assert_eq!(read(&body).check_names().is_ok(), is_plain, "{more}");
        }
        let item = r#"{"messages":[{"role":"user","Content":"a"}]}"#;
        assert!(read(item).check_names().is_err());
    }

    #[test]
    fn what_is_handed_on_is_searched() {
        let denied = |more: &str| {
            let body = format!(r#"{{"messages":[],{more}}}"#);
            read(&body).denied_elsewhere(&|name, _| name != "rm")
        };
        for more in [
            r#""extra_body":{"tools":[{"name":"rm"}]}"#,
            r#""a":[{"b":{"Tools":[{"name":"ls"},{"function":{"name":"rm"}}]}}]"#,
            r#""a":{"functionDeclarations":{"name":"rm"}}"#,
            r#""tool_ids":["ls","rm"]"#,
            r#""extra_body":{"toolIds":["rm"]}"#,
        ] {
            assert_eq!(denied(more), Ok(Some("rm".to_owned())), "{more}");
        }
        for more in [
            r#""extra_body":{"tools":[{"name":"ls"}]}"#,
            r#""response_format":{"schema":{"properties":{"tools":{"name":"rm"}}}}"#,
            r#""extra_body":{"tools":"rm"}"#,
            r#""tool_ids":["ls","rm2","server:mcp:rm"]"#,
            r#""tool_ids":[]"#,
            r#""tool_ids":null"#,
            r#""tool_call_ids":["rm"]"#,
        ] {
            assert_eq!(denied(more), Ok(None), "{more}");
        }
        assert!(denied(r#""x":{"tools":[{"type":"function","Function":{"Name":"rm"}}]}"#).is_err());
        for (more, tool) in [
            (r#""x":{"vector_store_ids":["v"]}"#, "file_search"),
            (r#""x":{"vectorStoreId":"v"}"#, "file_search"),
            (r#""x":{"with_search_enhance":true}"#, "web_search"),
            (r#""x":{"enableDeepSearch":true}"#, "web_search"),
            (r#""x":{"search_enabled":1}"#, "web_search"),
            (r#""x":{"use-online-search":"auto"}"#, "web_search"),
            (r#""x":{"with_search_enhance":"True"}"#, "web_search"),
            (r#""tool_ids":["server:mcp:files"]"#, "mcp:files"),
            (r#""tool_ids":["server:0"]"#, "server:0"),
        ] {
            let body = format!(r#"{{"messages":[],{more}}}"#);
            assert_eq!(read(&body).denied_elsewhere(&|_, _| false), Ok(Some(tool.to_owned())), "{more}");
        }
        for more in [
            r#""x":{"vector_store_ids":[],"vector_store_id":""}"#,
            r#""x":{"with_search_enhance":false,"search":"cats"}"#,
            r#""x":{"with_search_enhance":"False","search":"True story"}"#,
            r#""x":{"use_beam_search":true,"disable_search":true,"hybrid_search":true}"#,
            r#""x":{"search_options":{"forced_search":true},"enable_search_classifier":true}"#,
            r#""x":{"search_mode":"web","search_queries_only":true,"research":true}"#,
            r#""x":{"enabled":true,"use_web":true}"#,
        ] {
            let body = format!(r#"{{"messages":[],{more}}}"#);
            assert_eq!(read(&body).denied_elsewhere(&|_, _| false), Ok(None), "{more}");
        }
        let deep = format!(r#""x":{}{{"tools":[{{"name":"rm"}}]}}{}"#, "[".repeat(40), "]".repeat(40));
        assert_eq!(denied(&deep), Ok(None), "deeper than any provider's own");
        let body = r#"{"messages":[],"extra_body":{"model":"big","y":[{"models":["b"]}]}}"#;
        let models: Vec<_> =
            read(body).handed_on(&one_of(&["model", "models"])).into_iter().map(Raw::get).collect();
        assert_eq!(models, [r#""big""#, r#"["b"]"#]);
    }
}
