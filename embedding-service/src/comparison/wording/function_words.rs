//! Function words: words that hold a sentence together. They differ between a prompt and its rewording, and are the
//! same in two prompts from one template.

use std::{collections::HashMap, sync::LazyLock};

use super::WordKind;

/// English. Words that carry a meaning of their though grammar calls them prepositions ("without", "before", "off") stand
/// here too; where they turn a sentence into its opposite, [`are_opposites`] knows.
const ENGLISH: &str = "a an the this that these those such \
    i me my mine myself you your yours yourself he him his she her hers it its itself we us our ours they them their theirs \
    someone somebody anyone anybody everyone everything something anything there here \
    am is are was were be been being do does did doing done have has had having can could shall should will would may might \
    must ought need let lets wo ca sha ai gonna wanna \
    about across again against along among around as at beside besides between by \
    during except for from in into like near of on onto per regarding since through throughout \
    till to toward towards until upon using via with within without concerning \
    and or but so if then than because while whereas whether though although hence thus therefore otherwise else both either \
    what which who whom whose when where why how whatever whichever wherever whenever however \
    all any each every some own other another also too very just only even still yet already now currently again once \
    please kindly thanks thank ok okay hey hi hello well really actually simply basically exactly maybe perhaps \
    possible possibly able going want wants wanted wish trying try tries tried more most less much many several \
    e etc usually typically generally normally";

/// The commonest of German, French, Spanish, Portuguese, Italian and Dutch, less those that are an English noun or verb.
const OTHERS: &str = "der die das den dem des ein eine einen einem einer eines ich mich mir mein meine meinen du dich dir dein \
    er ihn ihm sein seine sie ihr ihre wir uns unser es ist sind bist wird werden wurde habe haben hatte kann kannst \
    können könnte soll sollte muss bitte und oder aber wenn weil dass ob zu zum zur im am vom von mit bei nach aus auf an für um \
    über durch wie warum wieso weshalb was wer wo wann welche welcher welches denn doch mal noch nun \
    le la les un une du au aux je tu il elle nous vous ils elles mon ma mes ton ta tes notre votre ce cette ces cet est sont \
    était être avoir ont peux peut pouvez pourrait pourquoi comment quel quelle quels quelles qui que quoi où quand et ou mais \
    si dans sur sous avec pour par de chez en vers svp \
    el los las uno unos unas yo él ella ellos mi mis tus su sus nuestro nuestra este esta estos estas ese esa eso es son está \
    están ser estar puede puedes puedo podría por qué cómo cuál cuáles quién cuándo dónde y o pero porque al del con para \
    desde hacia favor \
    os um uma meu minha seu sua é são está ser pode posso poderia como qual quais quem onde quando e mas em no na \
    nos nas ao aos do da dos das pelo pela com \
    lo gli i uno mio mia tuo tua suo sua questo questa è sono può puoi posso perché come quale quali chi dove e ma nel nella \
    di del dello della dei degli delle al alla dal dalla con per su tra fra \
    het een ik mij mijn jij je jouw hij zij wij ons onze is zijn wordt worden kan kun kunt zou waarom hoe wat wie waar wanneer \
    welke en of maar omdat dat van voor met bij naar uit op aan door alstublieft \
    的 了 吗 呢 吧 啊 地 得 请 は が を に で と も の へ";

const NEGATIONS: &str = "no not never none nobody nothing neither nor cannot without hardly \
    nicht kein keine keinen nie ohne ne pas jamais sans sin nunca não nunca sem non mai senza niet geen nooit zonder 不 没 别 无";

/// What stands before a verb, as a rule.
const BEFORE_VERBS: &str =
    "to can could shall should will would may might must i you we they it which who and not please";

/// Function words that turn a request into another one where one stands in the place of the other.
const OPPOSITES: [(&str, &str); 20] = [
    ("on", "off"),
    ("in", "out"),
    ("into", "from"),
    ("from", "to"),
    ("up", "down"),
    ("before", "after"),
    ("since", "until"),
    ("over", "under"),
    ("above", "below"),
    ("inside", "outside"),
    ("for", "against"),
    ("more", "less"),
    ("who", "when"),
    ("who", "where"),
    ("who", "what"),
    ("when", "where"),
    ("when", "what"),
    ("when", "why"),
    ("where", "why"),
    ("who", "why"),
];

pub(super) fn kind_of(word: &str) -> WordKind {
    static KINDS: LazyLock<HashMap<&str, WordKind>> = LazyLock::new(|| {
        let functions = ENGLISH.split_ascii_whitespace().chain(OTHERS.split_ascii_whitespace());
        let negations = NEGATIONS.split_ascii_whitespace();
        functions
            .map(|word| (word, WordKind::Function))
            .chain(negations.map(|word| (word, WordKind::Negation)))
            .collect()
    });
    KINDS.get(word).copied().unwrap_or(WordKind::Content)
}

/// Whether the word after this one is likely a verb.
pub(super) fn is_before_verbs(word: &str) -> bool {
    BEFORE_VERBS.split_ascii_whitespace().any(|listed| listed == word)
}

pub(super) fn is_form_of_be(word: &str) -> bool {
    matches!(word, "am" | "is" | "are" | "was" | "were" | "be" | "been" | "being")
}

/// Whether one word in the place of the other asks for something else ("turn on", "turn off"; "when", "where").
pub(crate) fn are_opposites(a: &str, b: &str) -> bool {
    OPPOSITES.iter().any(|pair| *pair == (a, b) || *pair == (b, a))
}
