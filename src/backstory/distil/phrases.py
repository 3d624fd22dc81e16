"""What people say when they choose, wish, complain or plan: the prose rules, as tables per language.

Structure (outcomes, edits, todos) needs no language and is read elsewhere. Here every row is a
phrase with an example that it must match; a test walks the rows. All languages are tried at once:
a session mixes them freely, and no row of one is a word of another.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """One way of saying it: the language, the pattern, and an example that proves the pattern."""

    language: str
    pattern: str
    example: str


P = Phrase

#: The user picks something.
USER_CHOICE = (
    P("en", r"\blet'?s\s+(?:just\s+|please\s+|not\s+|also\s+)*(?!(?:see|look|check|start|begin|understand|talk|consider|discuss|"
            r"review|try|run|test|continue|find|figure|first|take|proceed|get|go\s+(?:ahead|through|over|back)|work|commit|push|say|"
            r"think|them|explore|read|investigate|debug|fix|plan|verify)\b)\w+", "let's use RS256"),
    P("en", r"\b(?:we|i)(?:'ll| will| should| want to| wanna| need to)\s+(?:use|go with|stick with|keep|switch to"
            r"|avoid|drop|support|target)\b", "we'll go with Postgres"),
    P("en", r"\bwe\s+(?:stay|remain|keep|go|never|always|only|explicitly)\b", "we stay on v1"),
    P("en", r"\b(?:i|we)\s+(?:decided|chose|settled on|picked|opted)\b", "we decided on SQLite"),
    P("en", r"\b(?:i|we)(?:'d)?\s+(?:would\s+)?(?:rather|prefer)\b", "I'd rather keep it flat"),
    P("en", r"^(?:ok(?:ay)?[,. ]+|no[,. ]+|yes[,. ]+|please\s+|and\s+|so\s+|then\s+|actually[,. ]+|hm+[,. ]+|just\s+|instead[,. ]+)*"
            r"(?:use|go with|keep|switch to|stick with|drop|avoid|don'?t use|do not use|make it|store|leave)\b",
      "ok, use RS256"),
    P("en", r"\b(?:i think )?we (?:(?:don'?t )?want(?! to (?:know|see|understand|be|check|make sure|find|look|review|discuss|test|talk|ask))|should (?:use|go|keep|make|do|have|just|not))\b", "i think we want a container"),
    P("en", r"\bdecision\s*:", "Decision: flat files"),
    P("en", r"\b(?:should|must|(?:needs?|has|have) to)\s+(?:always\s+|only\s+|not\s+|never\s+|just\s+)*(?:be|have|use|go|live|stay|come|"
            r"return|stop|show|keep)\b", "this should be DEBUG, not INFO"),
    P("en", r"\bbetter (?:that|to|if) (?:we|i|you|use|keep|not)\b", "better that we not collect them"),
    P("en", r"^(?:instead of|rather than)\b.{3,90}?\b(?:use|have|name|call|make|put|let'?s|we should|show|store|keep|do)\b",
      "instead of globals use a context"),
    P("en", r"^do (?:it|this|that)\b", "Do it as a follow-up, not here"),
    P("en", r"\bwe\s+(?:use|do|don'?t|do not)\b", "we do container-first, not local"),
    P("de", r"\b(?:wir|ich)\s+(?:nehmen|nehme|verwenden|verwende|benutzen|nutzen|bleiben|bleibe|entscheiden|"
            r"möchten?|wollen|will)\b", "wir nehmen SQLite"),
    P("de", r"\b(?:nimm|verwende|benutze|nutze|lass uns|bleib(?:e|en)? bei|lieber)\b", "nimm lieber RS256"),
    P("de", r"\b(?:entschieden|entscheidung)\b", "Entscheidung: keine ORM"),
    P("fr", r"\b(?:utilis(?:e|ez|ons)|prenons|prends|gard(?:e|ez|ons)|restons|passons|partons sur|on va utiliser"
            r"|on garde|on prend|on part sur|j'ai décidé|on a décidé|plutôt)\b", "utilisons Postgres"),
    P("es", r"\b(?:usa|usemos|usaremos|vamos a usar|vamos con|mejor usa|mantengamos|mantén|quedémonos|decidimos"
            r"|decidí|prefiero|cambiemos)\b", "usemos Postgres"),
    P("zh", r"(?:我们用|使用|改用|决定|选择|采用|保留|不要用)", "我们用Redis"),
    P("ja", r"(?:を使(?:おう|う|って|います)|にしよう|にします|に決め|採用|やめて)", "Redisを使って"),
)

#: The assistant picks something, said in so many words.
ASSISTANT_CHOICE = (
    P("en", r"\b(?:i|we)(?:'ve| have)?\s+(?:deliberately\s+|intentionally\s+|therefore\s+|also\s+)?(?:decided|chose|"
            r"opted|picked|settled on|went with|kept|left|avoided|switched)\b", "I chose bcrypt"),
    P("en", r"\b(?:i|we)(?:'ll| will|'m|'re| am| are)\s+(?:go(?:ing)? with|us(?:e|ing)|keep(?:ing)?|stick(?:ing)?"
            r" with|switch(?:ing)? to|leav(?:e|ing)|avoid(?:ing)?)\b", "I'll go with bcrypt"),
    P("en", r"\bi used\b", "I used a queue"),
    P("en", r"\b(?:decision|decided|design choice)\s*:", "Decision: one queue"),
    P("en", r"^(?:using|keeping|chose|choosing|kept|went with|going with|sticking with|opted for)\b",
      "Using a lock file"),
    P("de", r"\bich (?:habe mich .{0,40}entschieden|nehme|verwende|bleibe|belasse|nutze|benutze)\b",
      "ich nehme SQLite"),
    P("fr", r"\b(?:j'ai (?:choisi|décidé|gardé|opté)|je (?:garde|choisis|prends|vais utiliser))\b", "j'ai choisi SQLite"),
    P("es", r"\b(?:he (?:elegido|decidido|optado|mantenido)|elegí|decidí|opté|voy a usar)\b", "he elegido SQLite"),
    P("zh", r"(?:我选择|我决定|我采用|我们采用|决定)", "我选择SQLite"),
    P("ja", r"(?:を採用|を選び|にしました|に決め)", "SQLiteを採用しました"),
)

#: One thing over another: a choice between alternatives that the sentence names.
CONTRAST = (
    P("en", r"\brather\b.{3,160}?\bthan\b", "I'd rather keep a prop than add a context"),
    P("en", r"\b(?:instead of|rather than|in favou?r of|as opposed to|over using|, not|; not|and not|"
            r"not (?:the|a|an)\b|instead)", "RS256 instead of HS256"),
    P("de", r"\b(?:statt|anstatt|anstelle|(?:, )?nicht|lieber|sondern|und kein\w*)\b", "RS256 statt HS256"),
    P("fr", r"\b(?:au lieu d|plutôt qu|à la place|, pas)", "RS256 au lieu de HS256"),
    P("es", r"\b(?:en vez de|en lugar de|y no|mejor que)\b", "RS256 en vez de HS256"),
    P("zh", r"(?:而不是|不用|代替|不要)", "用RS256而不是HS256"),
    P("ja", r"(?:ではなく|じゃなく|代わりに|より)", "HS256ではなくRS256"),
)

#: Where the reason begins.
REASON = (
    P("en", r"\b(?:because|since(?! (?:yesterday|last|then|the last|monday))|so that|so (?:we|i|it|they|the|you) (?:can|"
            r"do|don|does|won|will|are|is|only|never|have|get|keep|stay)|as (?:it|we|they|you|i) (?:is|are|was|were|has|have|can|do|does|need|already|only|don|will|won)|as (?:it'?s|that'?s|this is|there'?s)\b|due to|"
            r"(?<!want )(?<!need )(?<!like )(?<!going )(?<!have )(?<!has )(?<!try )to (?:avoid|keep|prevent|make sure|ensure|reduce|save|match|minimi[sz]e|simplify|allow|stay|be sure)|"
            r"in order to|otherwise|that way|this way|the reason|for (?:consistency|simplicity|performance|safety|now"
            r"|compatibility|security|speed|readability)|given that|which (?:avoids|keeps|means|lets|makes|is "
            r"(?:simpler|faster|safer|cleaner|better)))", "because keys rotate"),
    P("de", r"\b(?:weil|denn|da (?:wir|es|das|die|der|sonst)|damit|um .{2,60}? zu|wegen|sonst|deshalb)\b",
      "weil die Schlüssel rotieren"),
    P("fr", r"\b(?:parce qu|car\b|puisqu|pour (?:éviter|que|garder|ne pas)|afin d|sinon|à cause d)", "parce que c'est plus simple"),
    P("es", r"\b(?:porque|ya que|para (?:evitar|que|no|mantener)|debido a|pues|si no)\b", "porque es más simple"),
    P("zh", r"(?:因为|由于|为了|以便|否则|这样)", "因为更简单"),
    P("ja", r"(?:ので|から(?=[、。,.\s]|$)|ため|理由)", "簡単なので"),
)

#: Not a decision: asked, imagined, or still open.
TENTATIVE = (
    P("en", r"\b(?:if (?:we|you|i|it|they|that|there)\b|what if|could (?:we|you|i|also)|might|maybe|perhaps|should (?:we|i)|"
            r"would (?:you|it|be|we)|wonder|not sure|consider(?:ing)?|alternatively|option [a-d1-9]\b|one option|"
            r"unless|do you|either|let me (?:check|see|look|know|try))", "maybe we could use Redis"),
    P("de", r"\b(?:vielleicht|könnten? (?:wir|man)|sollten? (?:wir|ich)|falls|ob wir|eventuell|möglicherweise)\b",
      "vielleicht nehmen wir Redis"),
    P("fr", r"\b(?:peut-être|pourrait|pourrions|devrions-nous|et si)\b", "peut-être Redis"),
    P("es", r"\b(?:quizás?|tal vez|podríamos|deberíamos|a lo mejor)\b", "quizás Redis"),
    P("zh", r"(?:也许|可能|要不要|是否|如果)", "也许用Redis"),
    P("ja", r"(?:かもしれ|たぶん|べきか|どうでしょう)", "Redisかもしれません"),
)

#: A wish that outlives the task.
STANDING = (
    P("en", r"^(?:(?:ok(?:ay)?|and|also|but|so|oh|btw|by the way|please|remember|note)[,:. ]+)*"
            r"(?:always|never|don'?t ever|do not ever)\s+\w", "Always run the linter"),
    P("en", r"\b(?:from now on|going forward|in (?:the )?future(?:,| please| always| never| don)|as a (?:general )?rule|"
            r"every time you|whenever you|next time(?:,| you| please))\b", "from now on use tabs"),
    P("en", r"\b(?:you (?:should|must|need to) (?:always|never)|i (?:always|never) want|make sure (?:you|to) (?:always|never)|"
            r"please (?:always|never))\b", "you should never push to main"),
    P("en", r"\b(?:please )?(?:don'?t|do not|stop) (?:(?:ever )?(?:add|commit|push|use|put|write|create|touch|run|ask|"
            r"mention|include|change|edit|delete|skip|adding|committing|pushing|using|putting|writing|creating|"
            r"running|asking|mentioning))\b.{0,80}?\b(?:again|anymore|any more|ever|unless|without|by default)\b",
      "don't commit without asking"),
    P("en", r"^(?:please )(?:don'?t|do not|stop)\s+\w", "please don't add emojis"),
    P("en", r"\bi (?:prefer|like|want|'d like|hate|dislike) (?:it when |that )?(?:you (?:to )?(?:always |never )|short|small|"
            r"tabs|spaces|conventional|concise|plain|to (?:always|never)|when you)", "I prefer small commits"),
    P("de", r"\b(?:immer|niemals|nie)\b.{0,60}\b(?:bitte|erst|vor|ohne|mit|auf)\b|^(?:bitte )?(?:immer|nie(?:mals)?)\b|"
            r"\b(?:ab jetzt|von jetzt an|künftig|in zukunft|bitte (?:kein|nicht|nie|immer)|ich bevorzuge|ich möchte immer)",
      "bitte immer auf Deutsch antworten"),
    P("fr", r"\b(?:désormais|à partir de maintenant|dorénavant|toujours .{0,30}avant|ne .{1,20} jamais|je préfère)|^(?:toujours|jamais)\b",
      "désormais, réponds en français"),
    P("es", r"\b(?:a partir de ahora|de ahora en adelante|en adelante|por favor no|prefiero que)|^(?:siempre|nunca)\b",
      "siempre usa tabs"),
    P("zh", r"(?:以后|从现在开始|总是|永远不要|每次都|请不要|千万别)", "以后都用中文回答"),
    P("ja", r"(?:今後|これから(?:は|も)|必ず|絶対に|毎回|しないでください)", "今後は日本語で答えて"),
)

#: A heading whose list is what remains.
NEXT_HEADING = (
    P("en", r"^(?:suggested |recommended |possible |immediate |your |the |some |what'?s )?(?:next(?: steps?| up| session| time| actions?)?|"
            r"to-?dos?|remaining(?: \w+){0,3}|still (?:to do|open|missing|needed|pending|outstanding)|what(?:'s| is) (?:left|next|missing|still \w+)|"
            r"left to do|pending(?: \w+){0,2}|outstanding(?: \w+){0,2}|follow[- ]?ups?|not (?:yet )?(?:done|implemented|finished|covered)|"
            r"open (?:questions|items|issues|points|threads|tasks)|unfinished(?: \w+)?|action items|known (?:issues|gaps|limitations)|"
            r"future work|deferred)(?: (?:for|to|before|items?|work|tasks?)\b.*)?$", "Next steps"),
    P("de", r"^(?:nächste[rn]? schritte?|offen(?:e punkte|e fragen|e aufgaben)?|noch (?:zu tun|offen)|verbleibend\w*|todo|"
            r"ausstehend\w*|als nächstes|was noch fehlt|was fehlt)$", "Nächste Schritte"),
    P("fr", r"^(?:prochaines? étapes?|(?:ce qu'il )?reste à faire|à faire|étapes suivantes|en suspens)$", "Prochaines étapes"),
    P("es", r"^(?:próximos? pasos?|siguientes? pasos?|pendientes?|por hacer|queda por hacer|lo que falta)$", "Próximos pasos"),
    P("zh", r"^(?:下一步|后续(?:步骤|工作)?|待办(?:事项)?|剩余(?:工作|任务)?|未完成)", "下一步"),
    P("ja", r"^(?:次の(?:ステップ|作業)|残(?:り|作業|タスク)|今後の(?:作業|課題)|未完了|TODO)", "次のステップ"),
)

#: A sentence that says what remains.
NEXT_SENTENCE = (
    P("en", r"^(?:the )?(?:next(?: steps?| up)?(?:,| is| are| would be|:| i'?ll| we)|remaining:|to-?do:|still (?:to do|open|missing|pending)\b|"
            r"what'?s left|left to do|follow[- ]up:)", "Next: wire the CLI"),
    P("en", r"\b(?:still (?:needs?|have|has|need) to|still (?:remains?|missing|outstanding|to do|todo|fails?|failing|broken)|"
            r"remains? to be|(?:is|are|was|were)(?:n'?t| not) (?:yet )?(?:implemented|done|wired|finished|migrated|covered|hooked up|deployed|"
            r"tested)(?: yet)?|not yet (?:implemented|done|wired|finished|tested|supported|migrated|covered|started)|have(?:n'?t| not) (?:yet )?"
            r"(?:run|tested|done|implemented|finished|updated|migrated|verified|committed|pushed|touched|started)|(?:have|has|had|is|are|was|were)(?:n'?t| not)\b.{1,60}\byet\b|left for (?:later|next|tomorrow|another|a follow)|"
            r"needs? to be (?:done|implemented|finished|migrated|wired|added|tested|fixed|updated)|"
            r"you(?:'ll| will) (?:still )?need to|i'?ll (?:need to )?(?:continue|pick (?:this|it) up)|the last (?:step|thing|piece) (?:is|left))",
      "the migration still needs to be run"),
    P("de", r"\b(?:noch (?:zu tun|offen|nicht (?:umgesetzt|fertig|getestet|erledigt|migriert|implementiert))|(?:muss|müssen|sollte|sollten) noch|"
            r"fehlt noch|fehlen noch|steht noch aus|bleibt noch|als nächstes)\b", "die Migration muss noch laufen"),
    P("fr", r"\b(?:il reste à|reste à faire|pas encore|il faudra encore|prochaine étape|ensuite il faudra)\b", "il reste à migrer"),
    P("es", r"\b(?:falta (?:por )?\w+|queda (?:por )?\w+|aún no|todavía (?:no|falta)|pendiente de|el siguiente paso)\b",
      "falta por migrar"),
    P("zh", r"(?:还需要|尚未|还没有|下一步|待完成|接下来)", "还需要迁移"),
    P("ja", r"(?:まだ.{0,20}(?:ていません|ない)|残って|次は|これから|未対応|未実装)", "まだ移行していません"),
)

#: The user puts something off.
USER_LATER = (
    P("en", r"\b(?:tomorrow|next (?:time|session|week)|later (?:on )?(?:we|i|you|today)|(?:we|i|you)(?:'ll| will| can| should)? .{0,40}\blater\b|"
            r"to-?do\b|for later|follow[- ]up|remind me|don'?t forget|after that|come back to|another (?:day|session|pr))",
      "tomorrow we add the index"),
    P("de", r"\b(?:morgen|später|nächstes mal|nicht vergessen|nächste woche|beim nächsten mal)\b", "morgen kommt der Index"),
    P("fr", r"\b(?:demain|plus tard|la prochaine fois|n'oublie pas)\b", "demain on ajoute l'index"),
    P("es", r"\b(?:mañana|más tarde|la próxima vez|no olvides|luego (?:hacemos|añadimos))\b", "mañana añadimos el índice"),
    P("zh", r"(?:明天|以后再|稍后|下次)", "明天再加索引"),
    P("ja", r"(?:明日|後で|あとで|次回)", "明日インデックスを追加"),
)

#: A question at the end that offers concrete work.
OFFER = (
    P("en", r"\b(?:(?:do|would) you (?:want|like|prefer)|want me to|should (?:i|we)|shall (?:i|we)|ready to|may i|can i go ahead|"
            r"how (?:would|do) you (?:want|like)|which (?:one|option|approach|of)|what would you (?:like|prefer)|"
            r"let me know (?:if|when|which|whether) you)\b", "Should I run the migration?"),
    P("de", r"\b(?:soll ich|möchten sie|möchtest du|willst du|wollen sie|sollen wir)\b", "Soll ich migrieren?"),
    P("fr", r"\b(?:voulez-vous|veux-tu|souhaitez-vous|dois-je|faut-il)\b", "Dois-je migrer ?"),
    P("es", r"(?:¿\s*(?:quieres|quiere|debo|deseas)|\bquieres que\b)", "¿Quieres que migre?"),
    P("zh", r"(?:需要我|要我|是否需要|要不要)", "需要我迁移吗？"),
    P("ja", r"(?:しましょうか|ますか)", "移行しましょうか？"),
)

#: Offers that hold no work: politeness.
FILLER = (
    P("en", r"\b(?:anything else|further (?:changes|questions|help)|any (?:other|more|further|questions|adjustments|changes|issues|problems)|"
            r"more details?|explain|clarify|if you(?:'d| would)? (?:like|need|want|have) (?:any|me to (?:explain|elaborate|adjust|change))|"
            r"help with anything|what would you like (?:me )?to (?:do|work on)|how can i help|sound good|look good|make sense|"
            r"something else|different|questions)\b", "Is there anything else?"),
    P("de", r"\b(?:sonst noch|weitere fragen|noch etwas)\b", "Sonst noch etwas?"),
    P("fr", r"\b(?:autre chose|d'autres questions)\b", "Autre chose ?"),
    P("es", r"\b(?:algo más|otra cosa|más preguntas)\b", "¿Algo más?"),
)

#: The assistant recommends one way.
RECOMMEND = (
    P("en", r"\b(?:i(?:'d| would)?\s+(?:strongly\s+|still\s+)?(?:recommend|suggest|propose|go with|lean(?: towards?)?)|my (?:recommendation|suggestion|proposal|instinct)|"
            r"(?:is|seems(?: like)?|looks like) the (?:best|cleanest|simplest|right) (?:fit|approach|option|choice|way|path))\b",
      "I'd recommend option 1"),
    P("de", r"\b(?:ich (?:empfehle|würde .{0,40}(?:nehmen|vorschlagen))|meine empfehlung|mein vorschlag)\b", "ich empfehle SQLite"),
    P("fr", r"\b(?:je (?:recommande|propose|suggère)|ma recommandation)\b", "je recommande SQLite"),
    P("es", r"\b(?:recomiendo|propongo|sugiero|mi recomendación)\b", "recomiendo SQLite"),
    P("zh", r"(?:我建议|推荐)", "我建议用SQLite"),
    P("ja", r"(?:をお勧め|をおすすめ|を推奨|を提案)", "SQLiteを推奨します"),
)

#: The user agrees, and says nothing else.
APPROVAL = (
    P("en", r"^\W*(?:(?:ok(?:ay)?|yes|yep|yup|yeah|sure|agreed|perfect|great|good|sounds good|makes sense|go (?:ahead|for it)|do (?:it|that)|let'?s do (?:it|that|this)|"
            r"i agree|please|your way is fine|works for me|proceed with that|exactly|right)\W*){1,3}$", "ok, sounds good"),
    P("de", r"^\W*(?:(?:ja|gut|einverstanden|passt|mach das|klingt gut|genau|super)\W*){1,3}$", "ja, passt"),
    P("fr", r"^\W*(?:(?:oui|d'accord|ça marche|parfait|vas-y|très bien)\W*){1,3}$", "oui, parfait"),
    P("es", r"^\W*(?:(?:sí|si|vale|de acuerdo|perfecto|adelante|hazlo|claro)\W*){1,3}$", "sí, adelante"),
    P("zh", r"^\W*(?:好的?|可以|同意|行|没问题)\W*$", "好的"),
    P("ja", r"^\W*(?:はい|お願いします|いいですね|了解(?:です)?|それで)\W*$", "はい"),
)

#: The user says that what was done does not work.
DISSENT = (
    P("en", r"\b(?:(?:still|it'?s|is|are) (?:not|n'?t) working|(?:does|do|did)(?:n'?t| not) (?:\w+ ){0,2}(?:work|help|fix)|still (?:broken|failing|fails|"
            r"doesn|don|isn|not|the same|see(?:ing)?|get(?:ting)?|happen|wrong|crash)\w*|same (?:error|issue|problem|result)|"
            r"that (?:broke|breaks)|revert (?:that|this|it)|undo (?:that|this|it)|roll (?:that|it|this) back|"
            r"made it worse|that'?s (?:wrong|not right|not it|not what)|no luck)", "it still doesn't work"),
    P("de", r"\b(?:(?:funktioniert|geht|klappt|hilft) (?:\w+ ){0,3}nicht|immer noch|derselbe fehler|rückgängig|hat nicht geholfen)\b",
      "funktioniert immer noch nicht"),
    P("fr", r"\b(?:ne (?:marche|fonctionne) (?:toujours )?pas|toujours (?:la même|pas)|même erreur|annule)\b", "ça ne marche pas"),
    P("es", r"\b(?:no (?:funciona|sirve)|sigue (?:sin|fallando|igual)|mismo error|deshaz|revierte)\b", "sigue sin funcionar"),
    P("zh", r"(?:还是不行|不起作用|没用|同样的错误|撤销|还是报错)", "还是不行"),
    P("ja", r"(?:まだ(?:動|直)|動きません|動かない|同じエラー|元に戻して|直っていません)", "まだ動きません"),
)

#: The user reports that something is broken.
TROUBLE = (
    P("en", r"\b(?:errors?|fail(?:s|ed|ing|ure)?|broke(?:n)?|bug|crash(?:es|ed|ing)?|(?:does|do|did|is|are|was)(?:n'?t| not) (?:\w+ ){0,2}(?:work|start|load|show|run|"
            r"build|compile|render|scroll|appear|happen|found|being)\w*|exception|traceback|stuck|hangs?|wrong|regression|why (?:is|does|are|do)|"
            r"not working|500|404)\b", "the build fails"),
    P("de", r"\b(?:fehler|kaputt|schlägt fehl|stürzt ab|funktioniert nicht|geht nicht|klappt nicht|bug)\b", "der Build schlägt fehl"),
    P("fr", r"\b(?:erreur|plante|ne (?:marche|fonctionne) pas|cassé|échoue|bogue)\b", "le build échoue"),
    P("es", r"\b(?:error|falla|fallan|roto|no funciona|se rompe|excepción)\b", "el build falla"),
    P("zh", r"(?:错误|报错|失败|崩溃|不工作|坏了)", "构建失败"),
    P("ja", r"(?:エラー|失敗|壊れ|動かない|動きません|落ち)", "ビルドが失敗"),
)

#: The assistant names the cause of a failure.
CAUSE = (
    P("en", r"\b(?:the (?:\w+ ){0,3}(?:issue|problem|bug|cause|culprit|error|failure|reason)(?: here)? (?:is|was|seems|comes|came|occurs|happens)|root cause|"
            r"(?:is|was|were|are) caused by|this (?:is|was|happens|fails|failed|happened) because|(?:fail(?:s|ed|ing)?|broke|breaks) because|"
            r"found (?:it|the (?:issue|problem|bug|cause))|turns out|i see the (?:issue|problem)|happens because|due to the fact)",
      "the issue is a stale lock"),
    P("de", r"\b(?:das problem (?:ist|war|liegt)|die ursache|ursache (?:ist|war)|der fehler (?:ist|war|liegt|kommt)|liegt daran|lag daran)\b",
      "das Problem ist der Lock"),
    P("fr", r"\b(?:le problème (?:est|vient|était)|la cause|l'erreur vient|c'est dû)\b", "le problème est le verrou"),
    P("es", r"\b(?:el problema (?:es|era|está)|la causa|el error (?:es|viene|se debe)|se debe a)\b", "el problema es el bloqueo"),
    P("zh", r"(?:问题(?:是|在于|出在)|原因(?:是|在于)|根本原因)", "问题是锁"),
    P("ja", r"(?:原因は|問題は|が原因)", "原因はロック"),
)

#: A heading whose list is made of decisions.
DECISION_HEADING = (
    P("en", r"^(?:key |main |important |architectur\w+ |technical |design )*(?:decisions?|design choices|choices)(?: \w+){0,3}$", "Key decisions"),
    P("de", r"^(?:wichtige |getroffene )?entscheidungen$", "Entscheidungen"),
    P("fr", r"^(?:décisions?|choix)(?: \w+){0,2}$", "Décisions"),
    P("es", r"^(?:decisiones)(?: \w+){0,2}$", "Decisiones"),
    P("zh", r"^(?:关键)?(?:决定|决策)", "关键决策"),
    P("ja", r"^(?:決定事項|設計判断)", "決定事項"),
)

#: Every table by its name: what the test walks.
TABLES: dict[str, tuple[Phrase, ...]] = {
    "user_choice": USER_CHOICE,
    "assistant_choice": ASSISTANT_CHOICE,
    "contrast": CONTRAST,
    "reason": REASON,
    "tentative": TENTATIVE,
    "standing": STANDING,
    "next_heading": NEXT_HEADING,
    "next_sentence": NEXT_SENTENCE,
    "user_later": USER_LATER,
    "offer": OFFER,
    "filler": FILLER,
    "recommend": RECOMMEND,
    "approval": APPROVAL,
    "dissent": DISSENT,
    "trouble": TROUBLE,
    "cause": CAUSE,
    "decision_heading": DECISION_HEADING,
}


def compiled(name: str) -> re.Pattern[str]:
    """All languages of one table as a single pattern."""
    return re.compile("|".join(f"(?:{row.pattern})" for row in TABLES[name]), re.IGNORECASE)
