//! The models that a request may run on, wherever it names them.

use crate::{
    conversation::Conversation,
    disguise::search,
    json::{Raw, members::Key, object::Object},
    loaded_tools, tool_names,
    tools::{self, listed},
};

impl Conversation<'_> {
    /// All models that the request may run on: the one that the body names, and the alternatives for a router of
    /// providers.
    pub fn models(&self) -> Vec<String> {
        // The provider may use the model of the path, and a router before it the model of the body. OpenRouter reads `models`,
        // and `analysis_models` in `plugins`. LiteLLM reads `fallbacks`, `deployment_id` and `model_id`. LM Studio reads
        // `draft_model`.
        let is_fallback = |key: &Key<'_>| names_models(key) == Some(Naming::Fallbacks);
        let (mut lists, mut tables) = (self.handed_on(&is_model), self.handed_on(&is_fallback));
        for (key, value) in self.top.members() {
            match names_models(key) {
                Some(Naming::Fallbacks | Naming::Other) if !value.is_string() => tables.push(*value),
                Some(_) => lists.push(*value),
                None if key.is("deployment_id") || key.is("model_id") => lists.push(*value),
                // Vertex AI uses the model of a route that the request names.
                None if key.is("generationConfig") || key.is("generation_config") => {
                    for route in Object::of(*value).all(&["routingConfig", "routing_config"]) {
                        search(route, &is_model, tools::DEEPEST, &mut lists);
                    }
                }
                None => {}
            }
        }
        if self.format.has_agents {
            let mut agents = self.handed_on(&|key| AGENTS.iter().any(|name| key.is(name)));
            agents.extend(self.top.all(&AGENTS));
            for agent in agents {
                let names = Object::of(agent).all(&["name"]);
                lists.extend(if names.is_empty() { vec![agent] } else { names });
            }
        }
        // A fallback may have fallbacks of its own, to a depth that bounds the work.
        let mut from = 0_usize;
        for _ in 0..tools::DEEPEST {
            let to = tables.len();
            for table in tables.get(from..to).unwrap_or_default().to_vec() {
                search(table, &is_fallback, tools::DEEPEST, &mut tables);
            }
            from = to;
        }
        let mut found = Vec::new();
        lists.into_iter().for_each(|list| add_models(list, false, &mut found));
        // A string in place of a table may say anything.
        let tables = tables.into_iter().filter(|table| !table.is_string());
        tables.for_each(|table| add_models(table, true, &mut found));
        loaded_tools::lists(self)
            .into_iter()
            .for_each(|list| add_models_of_tools(list, tools::DEEPEST, &mut found));
        found.into_iter().map(tool_names::text).filter(|name| !name.is_empty()).collect()
    }
}

/// An agent of the provider in place of a model (Gemini), or beside one (Azure).
const AGENTS: [&str; 2] = ["agent", "agent_reference"];

/// What a member names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Models,
    /// Models, or tables of models.
    Fallbacks,
    /// Something else about fallbacks. Beside a model it may name one. Among settings, it may say when fallbacks are used.
    Other,
}

/// Whether a member's name says that it names models.
#[inline(never)]
fn names_models(key: &Key<'_>) -> Option<Naming> {
    let name = key.text().to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    // With an adapter the model answers as another one (SGLang's `lora_path`, LoRAX's `adapter_id`). `adapter_source` only says where
    // the adapter comes from.
    let is_adapter =
        name.starts_with("lora") || name.starts_with("adapter") || ends(&["adapter", "adapters"]);
    let is_of_models = is_adapter && !ends(&["source"])
        || ends(&["model", "models", "modelname", "model_name", "variant_name"]);
    if !name.as_bytes().windows(8).any(|part| part == b"fallback") {
        return is_of_models.then_some(Naming::Models);
    }
    let is_known = is_of_models || ends(&["fallback", "fallbacks", "fallback_dict"]);
    Some(if is_known { Naming::Fallbacks } else { Naming::Other })
}

#[inline(never)]
fn is_model(key: &Key<'_>) -> bool {
    names_models(key) == Some(Naming::Models)
}

/// Adds the models of a list: names, objects that name one, or tables from one model to others. Of any other element, all strings.
#[inline(never)]
fn add_models<'a>(list: Raw<'a>, has_tables: bool, found: &mut Vec<Raw<'a>>) {
    for element in listed(list) {
        if element.is_string() {
            found.push(element);
            continue;
        }
        let named = Object::of(element).all(&["model"]);
        if named.is_empty() && has_tables {
            let others = element.members().map(|(_, others)| others).chain(element.elements());
            others.for_each(|others| found.extend(listed(others)));
        } else if named.is_empty() {
            add_strings(element, tools::DEEPEST, found);
        }
        found.extend(named);
    }
}

/// Adds all strings in a value. What is nested too deeply is added as a whole.
fn add_strings<'a>(value: Raw<'a>, left: usize, found: &mut Vec<Raw<'a>>) {
    let Some(left) = left.checked_sub(1).filter(|_| !value.is_string()) else { return found.push(value) };
    let values = value.members().map(|(_, value)| value).chain(value.elements());
    values.for_each(|value| add_strings(value, left, found));
}

/// Members of a tool whose content the client chooses freely.
const OF_FUNCTIONS: [&str; 9] = [
    "function",
    "functionDeclarations",
    "function_declarations",
    "parameters",
    "custom",
    "toolSpec",
    "input_schema",
    "inputSchema",
    "input_examples",
];

/// Adds the models that tools use, as an adviser, a panel or a ranker: named beside the tool's type, in its settings, or deeper
/// in a tool of the provider. Names in a schema are the client's own. `left`: levels of tools within tools that may still follow.
/// What is nested deeper counts as an unknown model.
fn add_models_of_tools<'a>(list: Raw<'a>, left: usize, found: &mut Vec<Raw<'a>>) {
    let Some(left) = left.checked_sub(1) else { return found.push(list) };
    for tool in listed(list).into_iter().map(Object::of) {
        let mut named = Vec::new();
        // Writer's tools name a model within `function`.
        let settings = tool.all(&["parameters", "function", "custom"]).into_iter().map(Object::of);
        for (object, is_deep) in settings.map(|settings| (settings, false)).chain([(tool, true)]) {
            for (key, value) in object.members() {
                if key.is("tools") {
                    add_models_of_tools(*value, left, found);
                } else if is_model(key) {
                    named.push(*value);
                } else if is_deep && !OF_FUNCTIONS.iter().any(|name| key.is(name)) {
                    search(*value, &is_model, tools::DEEPEST, &mut named);
                }
            }
        }
        found.extend(named.into_iter().flat_map(listed).filter(|model| model.is_string()));
    }
}
