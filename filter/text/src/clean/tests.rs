use super::*;

/// What is left of a text that comes in these pieces.
fn in_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, Cuts) {
    let (mut cleaner, mut left) = (Cleaner::default(), String::new());
    pieces.into_iter().for_each(|piece| cleaner.push(piece, &mut left));
    cleaner.finish(&mut left);
    (left, cleaner.cuts())
}

/// What is left of it, which must be the same wherever it is cut in two, and character by character.
fn left(text: &str) -> String {
    let (whole, cuts) = in_pieces([text]);
    for at in 0..=text.len() {
        if let Some((a, b)) = text.split_at_checked(at) {
            assert_eq!(in_pieces([a, b]), (whole.clone(), cuts), "cut at {at} of {text:?}");
        }
    }
    let chars: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(in_pieces(chars.iter().map(String::as_str)), (whole.clone(), cuts), "{text:?}");
    whole
}

#[test]
fn what_is_not_meant_for_a_reader_goes() {
    for (text, expected) in [
        // Thinking.
        ("<think>Hm.</think>The answer.", "The answer."),
        ("<THINKING>a\n\nb</Thinking>\n\nIt is 7.", "It is 7."),
        ("Well <thought>no <b> `</thought>yes.", "Well yes."),
        ("<antThinking>x</antThinking><think>y</think>z", "z"),
        ("<think type=\"x\">a</think >b", "b"),
        ("a</think>b<think/>c", "abc"),
        ("<think>a <think> b</think>c</think>d", "cd"),
        ("<thinking>a</think> b</thinking>c", "c"),
        // Final.
        ("<final>Take **this**.</final>", "Take **this**."),
        ("<Final>a</FINAL >", "a"),
        // Tool calls as XML.
        ("<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"<b>\"}}</tool_call>", ""),
        (
            "Look:\n<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"q\">x</parameter>\n</invoke>\n</minimax:tool_call>",
            "Look:\n",
        ),
        (
            "<tool_call>get_weather\n<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>Done.",
            "Done.",
        ),
        ("<function=f><parameter=city>Rome</parameter></function>ok", "ok"),
        ("<parameter name=\"q\">weather</parameter>", ""),
        ("<tool_use>Hello</tool_use> you", "Hello you"),
        ("Say <tool_call> to the tool.", "Say  to the tool."),
        ("</parameter>\n</tool_call>Hi", "Hi"),
        ("<tool_call>\n{\"name\":\"f\"}", "{\"name\":\"f\"}"),
        // Tool calls as text.
        ("[Tool Call: search (ID: 1)]\nArguments: {\n  \"q\": \"}\"\n}\nThe answer.", "The answer."),
        (
            "Before\n  [Tool Call: a]\n{\"b\":1}\n\n[Tool Result for ID 1]\nrow\nrow\n\nAfter",
            "Before\n  After",
        ),
        ("[Tool Result: x]\n{\"a\":[1]}\nIt is 1.", "It is 1."),
        ("[Historical context: a model called `x`]\nHello", "Hello"),
        ("[Tool Call: a]\n{ never closed\n\nThe answer.", "The answer."),
        ("[Tool Call: a]\nArgs differ", "Args differ"),
        ("[Tool Call: a]", ""),
        // Echoes.
        ("[System Message] Stats: 1\nReply now\n\nHello", "Hello"),
        ("Hi\n[System Message]\nx\n \ny", "Hi\ny"),
        // The beginning.
        ("\n \n  indented\n\nrest\n", "  indented\n\nrest\n"),
        ("<think>a</think>\n\n<final>\nb</final>", "b"),
    ] {
        assert_eq!(left(text), expected, "{text:?}");
        assert!(!in_pieces([text]).1.is_empty(), "{text:?}");
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    for text in [
        "Plain words, a < b and c > d, [a link](x), 5 <thinkers>, <b>bold</b>.",
        "Take `<think>` and ``<tool_call>{}</tool_call>``.",
        "```xml\n<think>a</think>\n[Tool Call: x]\n```\nand",
        "~~~~\n~~~\n<final>a</final>\n~~~~ \nthen ```<final>``` it",
        "1. ```\n   <think>x</think>\n   ```\n2. more",
        "```\n<think>never closed",
        "Never closed: <think>the rest is the answer.",
        "in a line [Tool Call: x] and [System Message]",
        "[Tool Results] are fine, [Tool",
        "<final answer> <parameter> <function> </function> <invoke>",
        "<think",
        "<",
        "a <thinking about=\"it\nall\">",
        "Ends with </",
        "x\u{a0}<\u{301}think> \u{1F600}<é>",
        "",
        "  two spaces",
    ] {
        assert_eq!(left(text), text);
        assert_eq!(clean(text).text, text.trim());
    }
}

#[test]
fn code_ends_where_it_ends() {
    assert_eq!(left("`a` <final>b</final> `<final>`"), "`a` b `<final>`");
    assert_eq!(left("an ` alone\n<final>b</final>"), "an ` alone\nb");
    assert_eq!(left("```\nx\n```\n<final>b"), "```\nx\n```\nb");
    assert_eq!(left("```a`<final>` `\n<final>b"), "```a`<final>` `\nb");
    assert_eq!(left("````\n```\n<final>\n````\n<final>"), "````\n```\n<final>\n````\n");
}

#[test]
fn paragraphs_are_said_once_and_code_as_often_as_it_likes() {
    for (text, expected) in [
        ("One.\n\nOne.\n\n One. \n\nTwo.", "One.\n\nTwo."),
        ("One.\n\n\n\nOne.\n\nTwo.", "One.\n\n\n\nTwo."),
        ("One.\n\nTwo.\n\nOne.", "One.\n\nTwo.\n\nOne."),
        ("```\na\n\na\n\na\n```\n\na\n\na", "```\na\n\na\n\na\n```\n\na"),
        ("<think>x</think>One.\n\nOne.\n", "One."),
    ] {
        assert_eq!(clean(text).text, expected, "{text:?}");
    }
    let cleaned = clean("One.\n\nOne.");
    assert!(cleaned.cuts.has(Step::Repetition) && !cleaned.cuts.has(Step::Thinking));
}

#[test]
fn an_element_without_an_end_goes_back_as_it_came() {
    let long = format!("Look: <think>{}", "x <i> ".repeat(50_000));
    let cleaned = clean(&long);
    assert_eq!((cleaned.text.as_str(), cleaned.is_partial), (long.trim(), true));
    assert_eq!(in_pieces(long.as_bytes().chunks(7).map(|piece| str::from_utf8(piece).unwrap())).0, long);
    let (mut cleaner, mut left) = (Cleaner::default(), String::new());
    cleaner.push(&long, &mut left);
    assert!(!cleaner.holds(), "what is too long is not held any more");
    cleaner.push("</think> <final>on</final>", &mut left);
    assert!(left.ends_with("</think> <final>on</final>"), "from there on the text is as it came");
}

#[test]
fn no_more_is_held_than_a_tag() {
    for text in [
        "<thinking about=\"".to_owned() + &"a".repeat(500),
        "[Tool".repeat(100),
        "<".repeat(500),
        " ".repeat(500),
    ] {
        let (mut cleaner, mut left) = (Cleaner::default(), String::new());
        for (at, c) in (1_usize..).zip(text.chars()) {
            cleaner.push(c.encode_utf8(&mut [0; 4]), &mut left);
            assert!(at - left.len() <= tags::LONGEST, "{text}");
        }
    }
}

#[test]
fn texts_of_one_pattern_are_read_once() {
    for unit in [
        "<",
        "<think>",
        "</think>",
        "[Tool Call:",
        "[Tool Call: x]\n{",
        "`",
        "~~~\n",
        "\n",
        "<think ",
        "a\n\n",
        "[System Message]\n\n",
        "<tool_call>{",
        "<tool_call>a\n<",
    ] {
        let text = unit.repeat(300_000 / unit.len());
        let cleaned = clean(&text);
        assert!(cleaned.text.len() <= text.len(), "{unit:?}");
    }
}

/// Numbers that look like chance, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Texts made of everything that matters here, in any order.
#[test]
fn any_text_is_the_same_in_any_pieces() {
    const PARTS: [&str; 36] = [
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "<final>",
        "</final>",
        "<tool_call>",
        "</tool_call>",
        "<parameter name=\"a\">",
        "</parameter>",
        "<invoke name='x'>",
        "</invoke>",
        "<",
        ">",
        "</",
        "[",
        "]",
        "`",
        "``",
        "```",
        "```\n",
        "~~~\n",
        "\n",
        "\n\n",
        " ",
        "\t",
        "[Tool Call: f]",
        "[Tool Result for 1]",
        "[System Message]",
        "Arguments:",
        "{",
        "}",
        "\"",
        "\\",
        "word",
        "é\u{1F600}",
    ];
    let mut dice = Dice(7);
    for _ in 0..2_000 {
        let length = dice.roll(24);
        let text: String = (0..length).map(|_| PARTS[dice.roll(PARTS.len())]).collect();
        let (whole, cuts) = in_pieces([text.as_str()]);
        let mut rest = text.as_str();
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let at = rest.ceil_char_boundary(1 + dice.roll(12).min(rest.len() - 1));
            let (piece, after) = rest.split_at(at);
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(in_pieces(pieces.iter().copied()), (whole.clone(), cuts), "{pieces:?}");
        assert!(cuts.is_empty() == (whole == text), "{text:?} became {whole:?}");
        // Nothing is made up, and nothing moves.
        let mut said = text.chars();
        assert!(whole.chars().all(|c| said.any(|other| other == c)), "{text:?} became {whole:?}");
    }
}

#[test]
fn nothing_to_say_is_a_word_of_its_own() {
    for (text, expected) in [
        ("NO_REPLY", true),
        (" NO_REPLY.\n", true),
        ("Stored. NO_REPLY", true),
        ("NO_REPLYING", false),
        ("SAY_NO_REPLY", false),
        ("Use NO_REPLY here", false),
        ("", false),
    ] {
        assert_eq!(is_no_reply(text), expected, "{text:?}");
    }
}
