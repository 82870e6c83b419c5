//! The words that the rules know, by what they are in a sentence. Written as people write them, and folded like the texts.
//! A word may stand in several rows: then it is several things.

use super::vocabulary::{
    ACT, ACTIVE, AI, ALL, AND, ANSWER, ARE, ARTICLE, BEFORE, CHAT, END, ETHICS, EVERYTHING, FILLER, FOLLOW,
    FRAME, GIVEN, HALT, IDENTITY, IGNORE, INSTEAD, INSTRUCTION, LIMIT, MEMBER, MENTION, MODAL, MODE,
    NEGATION, NEW, NO, NOTE, NOW, OBLIGE, ONWARD, OVERRIDE, PRIOR, PROMPT, READING, REFUSE, REPEAT, REVEAL,
    ROLE, ROLEPLAY, SAID, SYSTEM, TASK, TELL, TERM, THIRD, TO, UNBOUND, USER, VOID, WEAK_FRAME, WHAT, WITHIN,
    YOU, YOUR,
};

pub const WORDS: &[(u64, &str)] = &[
    (
        IGNORE,
        "ignore disregard forget disobey ignor ingore disregrad aside bypass neglect discard dismiss overlook unlearn erase nullify \
        overrule override overwrite omit skip drop abandon ditch revoke suspend ignoriere ignorier ignorieren ignorierst vergiss \
        vergesse vergessen vergesst missachte verwirf übergehe ignorez oublie oubliez oublier négligez ignora ignorad ignoren olvida \
        olvide olvidad olviden olvídate descarta descarte dimentica dimenticate dimenticare ignorate ignorare scorda esqueça esqueca \
        esquece desconsidere desconsidera ignorem negeer vergeet zignoruj zapomnij pomiń игнорируй игнорируйте забудь забудьте \
        проигнорируй görmezden unut yoksay ignorera glöm ignorer glem abaikan lupakan zaboravi zanemari ignoriraj ignorirajte ignoruj \
        zapomeň ігноруй تجاهل انس 忽略 忽视 無視 无视 忘记 忘れ 忘掉 무시 잊어 무시하 beiseite omiso violate opposite igonre ingnore ignroe nevermind",
    ),
    (
        NEGATION,
        "not never dont cannot cant wont shouldnt mustnt isnt arent doesnt didnt wouldnt nicht niemals kein keine nunca jamais pas non \
        no niet не nie without",
    ),
    (HALT, "stop cease quit discontinue hör arrête arrêtez deja para smetti"),
    (
        FOLLOW,
        "follow following stick sticking obey obeying heed adhere adhering comply complying listen listening abide abiding respect \
        respecting observe observing attention regard consideration account bound restrained constrained governed befolge folge suis \
        suivez suivre sigas seguire siga beachte berücksichtige compte tenere caso следуй mind",
    ),
    (
        ALL,
        "all any every each whatever whichever entire whole alle allen aller sämtliche jegliche jede toutes tous tout toute todas \
        todos toda todo tutte tutti wszystkie все всё всех wszystkich усі semua sve všechny جميع كل 所有 全部 全て すべて 모든 tüm bütün alla",
    ),
    (EVERYTHING, "everything anything alles todo tudo tutto tout всё wszystko 一切 herşeyi"),
    (
        PRIOR,
        "previous previously prior previos prevoius preceeding above earlier preceding former foregoing past before initial initially \
        original originally existing predefined preset old aforementioned precedent antecedent last vorherige vorherigen vorheriger \
        vorigen vorige vorangegangenen vorangehenden bisherigen bisherige obigen obige früheren zuvor vorher oben davor \
        ursprünglichen ersten précédentes précédente précédents précédent antérieures antérieurs initiales dessus avant anteriores \
        anterior previas previa previo arriba iniciales antes precedenti precedente sopra prima iniziali acima anteriormente prévias \
        eerdere bovenstaande poprzednie poprzednich powyższe wcześniejsze предыдущие предыдущих предыдущую прошлые выше прежние ранее \
        önceki yukarıdaki tidigare föregående tidligere forrige wcześniejszych предыдущим попередні sebelumnya prethodne prethodna \
        předchozí السابقة hiervoor 之前 以上 先前 上述 前面 上面 此前 以前 前の 上記 これま 이전 위의 앞의 기존 まで 까지 current currently hidden secret pervious privious prevous preivous",
    ),
    (
        YOUR,
        "your yours ur deine deinen deiner dein deinem deines ihre ihren tes vos votre ton tus sus tu su tue tuoi vostre suas seus \
        твои ваши твоих 你的 您的 あなた 당신 seu sua teu tua",
    ),
    (
        SYSTEM,
        "system systems developer developers admin administrator openai anthropic safety security core 系统 系統 システ 시스템",
    ),
    (
        FILLER,
        "the these those this that my of our its such other set more further about with out both and or into on also please just now \
        here there die der das den dem des diese dieser diesen von les la le las los el lo il gli i de da do dos del della delle \
        degli det alt ces cette ce estas esta esos esas queste quelle isso essas essa os as o te to tych эти этих про о об 的 这些 son \
        sont sind at hättest hast whatsoever past last is was were me us full exact verbatim entire large additional extra really \
        actually completely simply entirely totally immediately right away then first",
    ),
    (
        INSTRUCTION,
        "instruction instructions instructs instrution instructons instuctions instrucitons instructon directive directives guideline \
        guidelines directions direction rules rule programming prompt prompts constraints restrictions protocols policies policy \
        commands command orders order training guidance guardrails safeguards filters anweisung anweisungen instruktion instruktionen \
        regeln vorgaben anordnungen befehle richtlinien aufforderungen eingabeaufforderung consigne consignes ordres règles \
        instrucción instrucciones instruccion órdenes ordenes indicaciones reglas directrices istruzione istruzioni direttive ordini \
        regole indicazioni instrução instruções instrucoes ordens regras diretrizes orientações instructies opdrachten richtlijnen \
        instrukcje instrukcji polecenia polecenie zasady инструкции инструкций инструкцию указания инструкциям вказівки інструкції \
        poleceniach upute instrukcije pokyny instrukce instruksi perintah التعليمات указаний правила правил команды промпт \
        talimatları talimatlar instruktioner anvisningar instrukser 指令 指示 提示 规则 規則 命令 プロン 지시 명령 지침 프롬 promt instruksjoner promts",
    ),
    (
        SAID,
        "task tasks assignment assignments message messages text texts context conversation conversations information info input \
        inputs content contents request requests chat statement statements word words question questions query queries history \
        responsibilities duties obligations dialogue dialog discussion requirements settings configuration aufgaben aufgabe \
        nachrichten texte eingaben informationen tareas mensajes texto tâches compiti testo tarefas mensagens 对话 内容 会話 output outputs \
        data",
    ),
    (TO, "to zu à a per para"),
    (
        YOU,
        "you youre u ya youll youve yourself thou du sie ihr tu vous usted tú você voce lei jij ty ты вы 你是 你 您",
    ),
    (
        THIRD,
        "it they them model models llm llms agent agents chatbot chatbots users attacker attackers adversary adversaries someone \
        people which who he she we i claude gpt chatgpt gemini program parser compiler browser tests test linter client server \
        function method code script tool tools user person assistant ai bot system would could might",
    ),
    (MODAL, "will should must can could would may might shall does do did cannot"),
    (
        OBLIGE,
        "must need have want going required instructed ordered told asked supposed obliged obligated urge urged command order like \
        sollst musst sollen wants needs requires expects authorised authorized",
    ),
    (ARE, "are re youre bist seid êtes es eres sei são é jest är er 是 你是 were wärst been"),
    (
        NOW,
        "now jetzt nun maintenant sofort ahora ora agora teraz теперь nu 现在 今から 이제 henceforth hereafter forthwith fortan désormais \
        dorénavant",
    ),
    (
        ROLEPLAY,
        "act pretend roleplay impersonate simulate imagine behave play embody emulate immerse assume become respond speak answer being \
        spiele spiel tu tue agis joue actúa actua finge fingi comporta aja atue",
    ),
    (
        UNBOUND,
        "dan jailbroken jailbreak unrestricted unfiltered uncensored unlimited amoral immoral unethical evil malicious uncontrolled \
        unconstrained unbound limitless lawless unmoderated omnipotent unchained rogue devilish machiavellian antigpt evilbot stan \
        dude aim unrestrained unshackled root sudo god",
    ),
    (
        GIVEN,
        "given received told provided had got gotten bekommen erhalten verteld learned learnt taught know knew instructed programmed \
        trained established assigned came come ordered asked supposed obliged obligated gesagt gelernt weißt dit sais dicho sabes \
        detto sai dito sabe 所说 说的 告诉",
    ),
    (
        WITHIN,
        "in inside within from contained containing embedded found appearing appear hidden included that which present written placed \
        concerning regarding about for on of see listed described section chapter",
    ),
    (
        MENTION,
        "attack attacks attacker attackers attacking injection injections inject injected injecting jailbreak jailbreaks phrase \
        phrases example examples eg e.g detect detects detection detected detecting pattern patterns payload payloads malicious \
        adversarial adversary attempt attempts attempting tries trick tricks tricking string strings vulnerability vulnerable exploit \
        exploits classic typical called known suspicious filter filters regex keyword keywords sentences sentence variants variant \
        contains containing says said saying reads wording tells telling instructing instruct causes cause makes making asks asking \
        urges angriff angriffe beispiel attaque attaques exemple ataque ataques ejemplo owasp red teaming cve mitre",
    ),
    (
        NEW,
        "new updated revised real actual changed modified alternative different another neue neuen neuer nouvelle nouvelles nueva \
        nuevas nuevo nuova nuove novas nova новые новая 新的 新しい 새로운 following additional extra",
    ),
    (OVERRIDE, "override overrides overriding overridden"),
    (
        TASK,
        "task tasks objective objectives goal goals mission assignment directive directives purpose job instruction instructions \
        priority identity persona role aufgabe tâche tarea compito tarefa 任务 任務 anweisung anweisungen instruktionen instrucciones \
        consignes istruzioni instruções 指令",
    ),
    (
        REVEAL,
        "reveal print repeat output show display tell leak dump expose share recite disclose give copy paste echo return send write \
        state summarize summarise translate spell provide list quote zeige zeig verrate nenne wiederhole gib schreibe affiche montre \
        révèle répète muestra revela repite dime imprime mostra rivela ripeti mostre repita say encode 显示 输出 打印 重复",
    ),
    (
        AI,
        "ai asistente assistente assistent gpt4 llm llms gpt chatgpt claude gemini copilot chatbot chatbots assistant assistants bot \
        lm ais ki ia",
    ),
    (USER, "user users human humans anyone anybody operator customer owner person nobody someone"),
    (
        TELL,
        "tell mention inform notify reveal alert disclose telling mentioning informing notifying alerting revealing disclosing asking",
    ),
    (
        CHAT,
        "im_start im_end im_sep start_header_id end_header_id eot_id endoftext begin_of_text end_of_text endofprompt start_of_turn \
        end_of_turn inst sys bos eos end_of_role start_of_role begin_of_sentence end_of_sentence eom_id endofsystem",
    ),
    (
        FRAME,
        "instructions instruction system system_prompt systemprompt system_instructions user_prompt user_input userinput user_query \
        user_message untrusted untrusted_data untrusted_content external_content external_data extra_context context_file tool_result \
        tool_results tool_response tool_output function_results function_result function_response retrieved_context \
        retrieved_documents untrusted_input information system_message",
    ),
    (
        WEAK_FRAME,
        "context prompt input document documents data user assistant human email message search_results search_result content text \
        quote source admin developer important task rules results conversation transcript",
    ),
    (END, "end ending ende fin fine fim конец 结束"),
    (BEFORE, "before prior bevor avant antes prima after when once while"),
    (AND, "and then but so also und dann et puis y luego e poi mais ale и но ve"),
    (
        MEMBER,
        "member members subscriber customer owner follower guest participant winner friend contributor part citizen registered \
        subscribed user resident partner fan parent student premium verified collaborator maintainer viewer editor player reader \
        moderator recipient watcher seller buyer logged connected ready",
    ),
    (NO, "no without free zero lacking ohne keine sans sin senza sem нет freed escaped liberated 没有"),
    (
        LIMIT,
        "restrictions restriction rules rule limits limit limitations limitation filters filter guidelines guideline ethics ethical \
        moral morals morality boundaries constraints censorship policies policy safeguards guardrails bounds confines chains laws law \
        regulations einschränkungen restricciones restrizioni restrições regeln reglas règles regole vorgaben 限制 disclaimers",
    ),
    (MODE, "mode modus modo level"),
    (ARTICLE, "a an the in going acting ein eine einen der un une una um uma il en 一个 一個 no"),
    (WHAT, "what whats whatever which was wie quelles quelle cuáles cuales cuál quali quais"),
    (PROMPT, "prompt prompts preprompt promt systemprompt eingabeaufforderung 提示词 promts"),
    (
        ANSWER,
        "solve answer continue proceed complete respond finish answering responding completing solving proceeding continuing reply \
        replying do execute executing perform processing fulfilling speak",
    ),
    (
        NOTE,
        "note message attention important notice instruction instructions hey dear hello hi warning reminder memo directive request \
        info alert urgent todo hinweis nota",
    ),
    (
        VOID,
        "supersede supersedes replace replaces cancels invalidates void cancelled canceled obsolete superseded revoked rescinded \
        invalid null outdated counts count drop discard omit skip overwrite suspend revoke erase abandon ditch overridden deprecated \
        suspended deleted erased wiped apply applies valid ungültig nichtig needed overrides overriding delete",
    ),
    (ROLE, "system user assistant developer tool human model ipython platform assistants"),
    (IDENTITY, "role identity persona name character personality rolle rôle rol ruolo"),
    (
        ACTIVE,
        "activated enabled engaged initiated accepted authorized authorised granted confirmed on unlocked active",
    ),
    (
        TERM,
        "token tokens tag tags marker markers delimiter delimiters special template format separator keyword literal symbol element \
        elements header syntax",
    ),
    (
        ONWARD,
        "henceforth hereafter forthwith fortan désormais dorénavant verbatim on onwards onward forward this starting ab an partir",
    ),
    (
        ETHICS,
        "ethics ethical ethically unethical moral morals morality immoral amoral censorship conscience harmful",
    ),
    (
        REPEAT,
        "repeat print output recite echo spell return reveal leak disclose dump translate summarize summarise wiederhole répète repite \
        ripeti repita encode",
    ),
    (INSTEAD, "instead only strictly stattdessen"),
    (
        READING,
        "reading processing summarizing summarising parsing analyzing viewing reads processes summarizes summarises parses sees \
        encounters visiting browsing must should shall need who that",
    ),
    (
        ACT,
        "please say add include recommend forward delete click visit rate call invite buy approve grant transfer run execute open \
        upload append insert reply mark accept select choose post email mail fetch download skip stop describe always",
    ),
    (REFUSE, "refuse refuses refused refusing decline declines"),
    (VOID | ACTIVE, "disable disabled deactivate deactivated remove removed lift lifted off"),
    // Words that are two things at once, and nothing else is.
    (AI | FILLER, "language model models"),
    (SYSTEM | LIMIT, "moderation"),
    (
        REFUSE | SAID,
        "disclaimer disclaimers moralize moralise moralizing moralising apologize apologise apologies",
    ),
];
