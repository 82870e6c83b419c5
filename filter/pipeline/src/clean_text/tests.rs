use super::*;

/// The text that is left, if it comes in these pieces.
fn in_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, Cuts) {
    let (mut cleaner, mut left) = (Cleaner::default(), String::new());
    pieces.into_iter().for_each(|piece| cleaner.push(piece, &mut left));
    cleaner.finish(&mut left);
    (left, cleaner.cuts())
}

/// The text that is left. It must be the same wherever the text is cut in two, and character by character.
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
        // Thinking, before the answer.
        ("<think>Hm.</think>The answer.", "The answer."),
        ("<THINKING>a\n\nb</Thinking>\n\nIt is 7.", "It is 7."),
        ("<antThinking>x</antThinking><think>y</think>z", "z"),
        ("\n<think>x</think>\n\n  indented", "  indented"),
        ("<think type=\"x\">a</think >b", "b"),
        ("<think/>c", "c"),
        ("<think>a <think> b</think>c</think>d", "c</think>d"),
        ("<thinking>a</think> b</thinking>c", "c"),
        // Final, around the answer.
        ("<final>Take **this**.</final>", "Take **this**."),
        ("<Final>a</FINAL >\n", "a"),
        // Tool calls as XML, behind the answer.
        (
            "Look.\n<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"q\">x</parameter>\n</invoke>\n</minimax:tool_call>",
            "Look.\n",
        ),
        (
            "Let me see.\n<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"<b>\"}}</tool_call>\n<tool_call>{\"name\":\"g\"}</tool_call>\n",
            "Let me see.\n",
        ),
        (
            "Let me see.\n<tool_call>get_weather\n<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>",
            "Let me see.\n",
        ),
        ("ok\n<function=f><parameter=city>Rome</parameter></function>", "ok\n"),
        // Tool calls as text, before it or behind it.
        ("[Tool Call: search (ID: 1)]\nArguments: {\n  \"q\": \"}\"\n}\nThe answer.", "The answer."),
        ("Before\n  [Tool Call: a]\n{\"b\":1}\n\n[Tool Result for ID 1]\nrow\nrow\n\n", "Before\n  "),
        ("[Tool Result: x]\n{\"a\":[1]}\nIt is 1.", "It is 1."),
        ("[Tool Result]\n{\"a\":[1]}\nIt is 1.", "It is 1."),
        ("[Tool Result]\n\nIt is 1.", "It is 1."),
        ("Look.\n[Tool Result]\nrow\nrow", "Look.\n"),
        ("[Historical context: a model called `x`]\nHello", "Hello"),
        ("[Tool Call: a]\n{ never closed\n\nThe answer.", "The answer."),
        ("[Tool Call: a]\nArgs differ", "Args differ"),
        // Echoes, before it.
        ("[System Message] Stats: 1\nReply now\n\nHello", "Hello"),
        // The beginning.
        ("\n \n  indented\n\nrest\n", "  indented\n\nrest\n"),
        ("<think>a</think>\n\n<final>\nb</final>", "b"),
        // One answer behind another.
        ("<final>a</final><final>b</final>", "ab"),
        ("<final>One.</final>\n\n<final>Two.</final>\n<final>Three.</final>", "One.\n\nTwo.\nThree."),
        ("<think>x</think><final>a</final> <final>", "a"),
        // A new sentence.
        ("<think>a</think> Sure.", " Sure."),
        ("<think>a\nb</think> so it is", " so it is"),
        ("<think>a</think>\n so it is", " so it is"),
        ("<think>a</think><final> so it is</final>", " so it is"),
        ("<think>a</think>so it is", "so it is"),
    ] {
        assert_eq!(left(text), expected, "{text:?}");
        assert!(!in_pieces([text]).1.is_empty(), "{text:?}");
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    for text in [
        // Between words.
        "Well <thought>no <b> `</thought>yes.",
        "Models write <think> and </think> around their thoughts.",
        "A reply looks like this:\n\n<think>The user asks.</think>\nParis.\n\nOr so.",
        "a</think>b<think/>c",
        "Before\n[Tool Call: a]\n{\"b\":1}\n\n[Tool Result for ID 1]\nrow\n\nAfter",
        "Hi\n[System Message]\nx\n \ny",
        // Code by its indentation.
        "    <think>x</think>\n    y = 1",
        "      <final>x</final>\n",
        // Only named.
        "[Tool Result] column: shows the output.\n\n[Tool Call] column: shows the input.",
        "[Tool Result]: 42\nSo it is.",
        "[Tool Result] = 7\n\nSo it is.",
        "[Tool Result]s are listed below.\nNone.",
        "Legend\n[Tool Result] (see below)",
        "Hi\n[System Message]\nx",
        "One.\n<tool_call>{\"name\":\"f\"}</tool_call>\nDone.",
        "Say <tool_call> to the tool.",
        "a <final>b</final> c",
        // Examples, and other XML.
        "The form is:\n<tool_call>{\"name\":\"f\"}</tool_call>",
        "Use this\n<function name=\"f\"><body/></function>",
        "Use this\n<parameter name=\"q\">weather</parameter>",
        "<parameter name=\"q\">weather</parameter>\nis the timeout.",
        "<tool_use>Hello</tool_use> you",
        "</parameter>\n</tool_call>Hi",
        // A sentence that begins with the tag.
        "<thought> opens a thought and </thought> ends it.",
        "<thinking>Out loud</thinking> is the title of the album.",
        "<final> is a keyword in Java, `final` too.",
        "<final> and </final> stand around the answer; <final> opens it.",
        "<think>, </think> and <final> are tags.",
        "<think/> is an empty element.",
        "<final>, as in the example, ends <final>with</final> it.",
        "[Historical context: 1812]\nIt began in June.",
        // All that there is.
        "<think>Nothing else.</think>",
        "<think>a</think>\n\n<think>b</think>\n",
        "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
        "<tool_call>\n{\"name\":\"f\"}",
        "[Tool Call: a]",
        "  [System Message] x\n",
        "<final></final>",
        // Tables and verse.
        "  a | b\n  --|--\n  1 | 2\n",
        "Row, row, row your boat.\n\nRow, row, row your boat.\n\nGently down the stream.\n",
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
        assert_eq!(clean(text).text, text);
    }
}

#[test]
fn code_ends_where_it_ends() {
    assert_eq!(left("<final>`a` b `</final>`</final>"), "`a` b `</final>`");
    let call = "\n<tool_call>{\"name\":\"f\"}</tool_call>";
    assert_eq!(left(&format!("an ` alone{call}")), "an ` alone\n");
    assert_eq!(left(&format!("```\nx\n```{call}")), "```\nx\n```\n");
    for open in ["````\n```\n", "~~~\n```\n", "```\n~~~\n"] {
        let text = format!("{open}{call}");
        assert_eq!(left(&text), text);
    }
}

/// A user may have asked for it: "say it twice".
#[test]
fn a_repeated_paragraph_stays() {
    let one = "It takes more than a few words to be sure that this was said twice. ".repeat(2) + "So it is.";
    let text = format!("{one}\n\n{one}\n\nTwo.\n\nTwo.");
    assert_eq!(left(&text), text);
    assert_eq!(clean(&format!("<think>x</think>{text}")).text, text);
}

#[test]
fn an_element_without_an_end_goes_back_as_it_came() {
    let long = format!("<think>{}", "x <i> ".repeat(50_000));
    let cleaned = clean(&long);
    assert_eq!((cleaned.text.as_str(), cleaned.is_partial), (long.as_str(), true));
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

/// Numbers that look random, and are the same each time.
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
    const PARTS: [&str; 39] = [
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
        " and",
        ",",
        "<think/>",
        "é\u{1F600}",
    ];
    let mut dice = Dice(7);
    for _ in 0..3_000 {
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
        // Nothing is added, and nothing changes its place.
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
