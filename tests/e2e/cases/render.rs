//! The requests of a case in the words of a dialect: one before each turn of the assistant, and the last.

use sentinel_harness::Dialect;
use sentinel_wire::{Call, Run};
use serde_json::Value;

use super::{Case, Event, Text, Texts};

pub struct Requests {
    pub bodies: Vec<String>,
    /// Each of them is a conversation of its own.
    pub is_fresh: bool,
}

impl Requests {
    pub fn of(case: &Case, dialect: Dialect, stream: bool) -> Self {
        let mut writer = Writer {
            case,
            stream,
            run: Run::new(dialect, &case.task),
            whole: Vec::new(),
            bodies: Vec::new(),
            is_fresh: false,
        };
        case.does.iter().for_each(|event| writer.repeat(event, None));
        if !writer.is_fresh {
            writer.ask();
        }
        Self { bodies: writer.bodies, is_fresh: writer.is_fresh }
    }
}

struct Writer<'c> {
    case: &'c Case,
    stream: bool,
    run: Run,
    /// Calls of a run that is one turn: tool, arguments and result.
    whole: Vec<[String; 3]>,
    bodies: Vec<String>,
    is_fresh: bool,
}

impl Writer<'_> {
    /// The event as often as it comes; in a round all numbers are the round's.
    fn repeat(&mut self, event: &Event, round: Option<&str>) {
        let times = event.times.unwrap_or(event.of.len().max(1));
        for at in 0..times {
            let number = match (round, event.of.get(at % event.of.len().max(1))) {
                (_, Some(Text::Text(text))) => text.clone(),
                (_, Some(Text::Number(number))) => number.to_string(),
                (Some(round), None) => round.to_owned(),
                (None, None) => (at + 1).to_string(),
            };
            if event.round.is_empty() {
                self.happen(event, at, &|text| text.replace("{n}", &number));
            } else {
                event.round.iter().for_each(|event| self.repeat(event, Some(&number)));
            }
        }
    }

    fn happen(&mut self, event: &Event, at: usize, filled: &dyn Fn(&str) -> String) {
        let text = |of: &Option<String>| of.as_deref().map(filled);
        let result = filled(match &event.result {
            Texts::One(text) => text,
            Texts::Several(texts) => &texts[at % texts.len()],
        });
        let arguments = text(&event.arguments).unwrap_or_else(|| "{}".to_owned());
        if let Some(tool) = text(&event.tool) {
            self.ask();
            if self.case.whole {
                self.whole.push([tool, arguments, result]);
                return;
            }
            let call = Call { tool: &tool, arguments: &arguments, result: &result };
            self.run.step_with(&call, event.fails, text(&event.pictures).as_deref());
        } else if !event.calls.is_empty() {
            self.ask();
            let calls: Vec<[String; 3]> =
                event.calls.iter().map(|call| call.each_ref().map(|text| filled(text))).collect();
            let calls: Vec<Call> =
                calls.iter().map(|[tool, arguments, result]| Call { tool, arguments, result }).collect();
            self.run.turn(&calls);
        } else if let Some(tool) = text(&event.mcp) {
            self.ask();
            self.run.mcp_call(&tool, &arguments, &result);
        } else if let Some(code) = text(&event.code) {
            self.ask();
            self.run.code_interpreter_call(&code, &result);
        } else if let Some(said) = text(&event.say) {
            self.ask();
            self.run.assistant(&said);
        } else if let Some(said) = text(&event.user) {
            let texts: Vec<String> = [Some(said), text(&event.beside)].into_iter().flatten().collect();
            self.run.user_texts(&texts);
        } else {
            self.is_fresh = true;
            let asked = text(&event.asks).expect("an event is one of its kinds");
            let body = self.run.dialect.ask(&asked, self.stream);
            let with = |body: Value, system: String| self.run.dialect.with_instructions(body, &system);
            let body = match text(&event.system) {
                Some(system) => with(body, system),
                None => body,
            };
            self.bodies.push(body.to_string());
        }
    }

    /// The request with what there is so far.
    fn ask(&mut self) {
        let mut run = self.run.clone();
        let calls: Vec<Call> =
            self.whole.iter().map(|[tool, arguments, result]| Call { tool, arguments, result }).collect();
        if !calls.is_empty() {
            run.turn(&calls);
        }
        self.bodies.push(run.body(self.stream));
    }
}
