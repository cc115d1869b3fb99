"""Data for `intent` and `target_documents`; groups capture what to summarise."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EN_KINDS = (
    r"(?:summary|overview|synopsis|recap|abstract|digest|outline|gist|rundown|run-down|tl;?dr|takeaways|highlights|essentials|"
    r"(?:key|main|most important|important|central) (?:points?|takeaways?|facts?|findings?|messages?|ideas?|insights?|conclusions?))"
)
_EN_HOW = (
    r"(?:(?:very|short|brief|quick|concise|compact|detailed|thorough|long|full|complete|executive|management|high[- ]level|general|"
    r"bulleted|bullet[- ]point|good|one[- ]page|one[- ]paragraph|[\w]+[- ](?:word|sentence|point|line|bullet|paragraph)) )*"
)

SIGNS: Final = MappingProxyType(
    {
        "": (r"tl;?\s?dr\b(.*)",),
        "en": (
            r"(?:re-?)?summari[sz]e\b(.*)",
            r"(?:sum|summing) up\b(.*)",
            r"sum (.+) up",
            r"(?:recap|condense|outline)\b(.*)",
            rf"(?:(?:give|get|make|write|show|send|provide|create|prepare|produce|draft|do|post|have)\s+)?(?:me |us )?"
            rf"(?:an? |the |your |some |all )?{_EN_HOW}(?:(?:\d+|two|three|four|five|six|seven|eight|nine|ten) )?{_EN_KINDS}\b(?:\s+(?:of|for|from|in|on|about)\b(.*))?",
            rf"what(?:'s| is| are) (?:an? |the )?{_EN_HOW}(?:\d+ )?{_EN_KINDS}(?: (?:of|from|in|for)\b(.*))?",
        ),
        "de": (
            r"fass(?:e|en sie|t|en wir)?\b(.*?)\b(?:kurz |knapp |bitte |mal )*zusammen\b(.*)",
            r"(.*)\b(?:zusammenfassen|zusammenzufassen|zusammengefasst)\b(.*)",
            r"(?:resümier|rekapitulier)(?:e|en|en sie|t)?\b(.*)",
            r"(?:(?:gib|gebt|geben sie|mach|mache|machen sie|schreib|schreibe|schreiben sie|erstell|erstelle|erstellen sie|zeig|zeige)\s+)?"
            r"(?:mir |uns )?(?:bitte )?(?:eine? |einen |die |den |das )?(?:(?:sehr |ganz )?(?:kurze|kurzen|knappe|knappen|ausführliche|"
            r"ausführlichen|schnelle|schnellen|grobe|groben|wichtigsten) )*(?:\d+ )?(?:zusammenfassung|überblick|übersicht|kurzfassung|"
            r"kernaussagen|kernpunkte|hauptpunkte|hauptaussagen|punkte|eckpunkte|fazit)\b(?:\s+(?:von|vom|zu|zum|zur|über|für|aus|in|im|des|der|dieser|dieses)\b(.*))?",
            r"was sind die (?:wichtigsten (?:punkte|aussagen|inhalte|erkenntnisse)|kernaussagen|kernpunkte|hauptpunkte)\b(?: (?:von|vom|in|im|aus|der|des|dieser|dieses)\b(.*))?",
        ),
        "fr": (
            r"résum(?:e|er|ez|ons)(?:[- ]moi|[- ]nous)?\b(.*)",
            r"resum(?:er|ez)(?:[- ]moi|[- ]nous)?\b(.*)",
            r"synthétis(?:e|er|ez)(?:[- ]moi)?\b(.*)",
            r"(?:(?:fais|faites|faire|donne|donnez|donner|écris|écrivez|montre|montrez|rédige|rédigez|prépare|préparez)(?:[- ]moi|[- ]nous)?\s+)?"
            r"(?:un |une |le |la |les )?(?:(?:petit|petite|court|courte|bref|brève|rapide|principaux|principales) )*(?:\d+ )?"
            r"(?:résumé|synthèse|aperçu|vue d['’]ensemble|récapitulatif|points (?:clés?|principaux|essentiels|importants)|idées principales|grandes lignes)\b"
            r"(?: (?:court|courte|bref|rapide|détaillé|détaillée))?(?:\s+(?:de|du|des|sur|pour|dans)\b(.*)|\s+(d['’].*))?",
            r"quels sont les points (?:clés?|principaux|essentiels|importants)(?: (?:de|du|des|dans)\b(.*))?",
        ),
        "es": (
            r"resum(?:e|ir|a|an|eme|ámelo|irme|elo)\b(.*)",
            r"res[uú]m(?:eme|enos|elo|ela|alo|ame|ela)\b(.*)",
            r"sintetiza(?:r|me)?\b(.*)",
            r"(?:(?:haz|hazme|haga|hágame|hacer|hacerme|dame|deme|dar|darme|escribe|escríbeme|muéstrame|quiero|necesito|prepara|prepárame)\s+)?(?:nos )?"
            r"(?:un |una |el |la |los |las )?(?:(?:breve|corto|corta|rápido|pequeño|principales) )*(?:\d+ )?(?:resumen|síntesis|sinopsis|visión general|"
            r"puntos (?:clave|principales|importantes)|ideas (?:principales|clave))\b(?: (?:breve|corto|rápido|detallado|general))?(?:\s+(?:de|del|sobre|para)\b(.*))?",
            r"cuáles son (?:los puntos|las ideas) (?:clave|principales|importantes)(?: (?:de|del)\b(.*))?",
        ),
        "pt": (
            r"resum(?:a|ir|e|am|o)\b(.*)",
            r"sintetiz(?:e|ar|a)\b(.*)",
            r"(?:(?:faça|faz|fazer|me dê|dê|dá|dá-me|dê-me|me faça|faça-me|escreva|escreve|mostre|quero|preciso de|prepare)(?:[- ]me)?\s+)?(?:me )?"
            r"(?:um |uma |o |a |os |as )?(?:(?:breve|curto|rápido|pequeno|principais) )*(?:\d+ )?(?:resumo|síntese|sinopse|visão geral|"
            r"pontos (?:principais|chave|importantes|-chave)|pontos-chave|ideias principais)\b(?: (?:breve|curto|rápido|detalhado))?(?:\s+(?:de|do|da|dos|das|deste|desta|desse|dessa|sobre)\b(.*))?",
            r"quais são os pontos (?:principais|chave|importantes)(?: (?:de|do|da|deste|desta)\b(.*))?",
        ),
        "it": (
            r"riassum(?:i|ere|imi|ilo|a|ici|ete)\b(.*)",
            r"sintetizza(?:re|mi)?\b(.*)",
            r"(?:(?:fai|fammi|fare|fammene|dammi|dare|dai|scrivi|scrivimi|mostrami|prepara|preparami|vorrei|voglio)\s+)?(?:un |uno |una |il |la |i |gli |le )?"
            r"(?:(?:breve|rapido|rapida|corto|piccolo|principali) )*(?:\d+ )?(?:riassunto|riepilogo|sintesi|sommario|panoramica|"
            r"punti (?:chiave|principali|salienti|importanti)|concetti principali)\b(?: (?:breve|rapido|dettagliato))?"
            r"(?:\s+(?:di|del|dello|della|dei|degli|delle|su|sul|sulla)\b(.*)|\s+(dell['’].*|di quest.*))?",
            r"quali sono i punti (?:chiave|principali|salienti)(?: (?:di|del|della|dello)\b(.*))?",
        ),
        "nl": (
            r"vat\b(.*?)\b(?:kort |even |eens )*samen\b(.*)",
            r"(.*)\b(?:samenvatten|samen te vatten|samengevat)\b(.*)",
            r"(?:(?:geef|maak|schrijf|toon|doe)\s+)?(?:me |mij |ons )?(?:een |de |het )?(?:(?:korte|beknopte|snelle|uitgebreide|belangrijkste|globaal|kort) )*(?:\d+ )?"
            r"(?:samenvatting|overzicht|hoofdpunten|kernpunten|punten)\b(?:\s+(?:van|over|uit|in)\b(.*))?",
            r"wat zijn de (?:belangrijkste punten|hoofdpunten|kernpunten)(?: (?:van|uit|in)\b(.*))?",
        ),
        "ru": (
            r"(?:кратко |коротко |вкратце )?(?:перескажи|изложи|резюмируй|суммируй|обобщи|подытожь|саммаризируй|суммаризируй)(?:те)?\b(.*)",
            r"(?:(?:кратко|коротко|вкратце) )(?:пересказать|изложить|опиши(?:те)?)\b(.*)",
            r"(?:(?:сделай|дай|напиши|составь|подготовь|покажи)(?:те)?\s+)?(?:мне |нам )?(?:(?:краткое|краткий|краткую|короткое|короткий|короткую|сжатый|общий|"
            r"основные|ключевые|главные) )*(?:\d+ )?(?:резюме|пересказ|саммари|обзор|выжимку|выжимка|конспект|содержание|сводку|сводка|(?<=ые )(?:моменты|пункты|мысли|тезисы|выводы|идеи))\b"
            r"(?:\s+(?:из|по|о|об|в|для)\b)?(.*)",
            r"каковы (?:основные|ключевые|главные) (?:моменты|пункты|мысли|тезисы|выводы|идеи)\b(.*)",
        ),
        "zh": (
            r"(.*?)(?:总结|總結|概括|概述|归纳|歸納|概要|摘要|提炼|简述|簡述|综述)(?:一下|下|出来)?(.*)",
            r"(.*?)(?:的)?(?:主要内容|主要內容|大意|要点|要點|重点|重點|核心内容)(?:是什么|是什麼|有哪些|呢)?",
        ),
        "ja": (
            r"(.*?)(?:の|を|について)?(?:要約|サマリー|サマライズ|要点|まとめ|概要|あらすじ)(?:を?(?:して|作って|作成して|教えて|書いて|見せて|出して|お願い|作り|し|する|ください|くださ|て|は|です|か|何|なん).*)?",
        ),
        "ko": (
            r"(.*?)(?:을|를|의)?\s*(?:요약본?|개요|핵심(?: 내용)?|주요 내용|요점|간추려|줄거리)(?:을|를|만|은|는)?\s*(?:해|하|좀|줘|주세요|정리|알려|부탁|써|만들|보여|이야|뭐|무엇|$).*",
            r"(.*?)(?:을|를)\s*(?:간단히 |짧게 )?정리해.*",
        ),
        "ar": (
            r"(?:لخص|لخّص|لخصي|لخصوا|اختصر|أوجز)\b(.*)",
            r"(?:(?:أعطني|اعطني|اكتب|أكتب|قدم|أريد|اريد|هات|اعمل)\s+(?:لي )?)?(?:ملخص|ملخصا|ملخصاً|تلخيص|خلاصة|موجز|موجزا|نظرة عامة|أهم النقاط|النقاط الرئيسية|النقاط الأساسية)\b(.*)",
        ),
    }
)
"""The empty key: all languages."""

AFTER_NAMES: Final = MappingProxyType(
    {
        "en": (
            r"what(?:'s| is| are) (.+?) (?:all |mainly |actually |generally )?about",
            r"what(?:'s| is)(?: inside| written)? in (.+)",
            r"what(?:'s| is) the (?:content|topic|subject) of (.+)",
            r"what (?:do|does) (.+?) (?:say|contain|cover|discuss|describe|deal with)",
            r"(?:tell me|explain(?: to me)?) what (.+?) is (?:all )?about",
            r"(?:tell me|explain(?: to me)?) what(?:'s| is) in (.+)",
            r"tell me about (.+)",
        ),
        "de": (
            r"(?:worum|um was) (?:geht(?:'s| es)) (?:in|bei|im|beim) (.+)",
            r"was steht (?:in|im) (.+?)(?: drin)?",
            r"(?:wovon|worüber) (?:handelt|spricht|berichtet) (.+)",
            r"was ist der inhalt (?:von|vom|der|des|dieser|dieses) (.+)",
        ),
        "fr": (
            r"de quoi (?:parle|traite|s['’]agit-il dans) (.+)",
            r"que (?:dit|contient) (.+)",
            r"qu['’]est-ce qu['’]il y a dans (.+)",
            r"quel est le (?:sujet|contenu|thème) (?:de|du) (.+)",
        ),
        "es": (
            r"(?:de|sobre) qué (?:trata|habla|va|es) (.+)",
            r"qué (?:dice|contiene) (.+)",
            r"cuál es el (?:tema|contenido) (?:de|del) (.+)",
        ),
        "pt": (
            r"(?:de|do|sobre o) que (?:trata|fala|é|se trata) (.+)",
            r"o que (?:diz|contém|tem) (.+)",
            r"qual é o (?:tema|conteúdo|assunto) (?:de|do|da|deste|desta) (.+)",
        ),
        "it": (
            r"di (?:cosa|che cosa|che) (?:parla|tratta) (.+)",
            r"(?:cosa|che cosa) (?:dice|contiene) (.+)",
            r"qual è (?:il contenuto|l['’]argomento) (?:di|del|della) (.+)",
        ),
        "nl": (
            r"waar (?:gaat|handelt) (.+?) over",
            r"wat staat er in (.+)",
            r"wat is de inhoud van (.+)",
        ),
        "ru": (
            r"о ч[её]м (?:говорится в |идёт речь в |идет речь в )?(.+)",
            r"что (?:написано|говорится|содержится|находится) в (.+)",
        ),
        "zh": (
            r"(.+?)(?:里|中|里面)?(?:讲|說|说|写|講|寫)(?:了|的)?(?:是)?(?:些)?(?:什么|什麼|啥)(?:内容|內容)?(?:呢|啊)?",
            r"(.+?)(?:是)?(?:关于|關於)(?:什么|什麼|啥)的?(?:内容|內容)?(?:呢)?",
            r"(.+?)(?:的)?(?:内容|內容)(?:是什么|是什麼|是啥)",
        ),
        "ja": (
            r"(.+?)(?:は|って)?(?:何|なん|なに)(?:について|に関して)(?:.*)",
            r"(.+?)(?:は|って)?(?:どんな|どういう)(?:内容|文書|ファイル|資料|もの)(?:.*)",
            r"(.+?)(?:には|に)(?:何|なに)が(?:書|か)(?:いて|かれて).*",
        ),
        "ko": (
            r"(.+?)(?:은|는|이|가)?\s*(?:무엇|뭐|무슨 내용)(?:에 (?:관한|대한)|이야|인가요|이에요|입니까|에요|을 담|이 있).*",
            r"(.+?)(?:에)?\s*(?:뭐가|무엇이|무슨 내용이)\s*(?:있|쓰여|적혀|들어).*",
        ),
        "ar": (
            r"(?:عن ماذا|عم|عمّ|عما) (?:يتحدث|يدور|تتحدث) (.+)",
            r"ما (?:هو )?(?:محتوى|موضوع|مضمون) (.+)",
            r"ماذا (?:يوجد|يقول|كتب|ورد) (?:في )?(.+)",
        ),
    }
)
"""So common that they count only with a file: "what is … about?" """

WITH_NAMES: Final = MappingProxyType(
    {
        "": (r"(.+?)[\s:,–—-]+tl;?\s?dr",),
        "en": (rf"(.+?)[,:]? (?:an? |the )?{_EN_HOW}{_EN_KINDS}",),
        "de": (r"(.+?)[,:]? (?:zusammenfassung|überblick|kernpunkte)",),
    }
)

POLITE: Final = (
    r"(?:hi|hey|hello|ok|okay|so|now|then|and|also|well|great|thanks|thank you|please|pls|plz|kindly|just|quickly|briefly|shortly|"
    r"can you|could you|would you|will you|can we|could we|would you mind|can i (?:get|have)|could i (?:get|have)|may i have|"
    r"i need(?: you to)?|i want(?: you to)?|i(?:'d| would) like(?: you to)?|we need|do you mind|help me(?: to)?|let(?:'s| us)|"
    r"bitte|hallo|mal|nun|also|kannst du|könntest du|können sie|könnten sie|würdest du|würden sie|kurz|ich (?:brauche|hätte gern|möchte|will)|mir|uns|"
    r"s['’]il (?:te|vous) pla[iî]t|svp|stp|bonjour|salut|peux[- ]tu|pouvez[- ]vous|pourrais[- ]tu|pourriez[- ]vous|tu peux|vous pouvez|je (?:veux|voudrais)|j['’]aimerais|il me faut|me|"
    r"por favor|hola|puedes|podrías|puede|podría|quisiera|me puedes|"
    r"olá|oi|você pode|pode|poderia|podes|gostaria de|eu (?:quero|preciso de)|"
    r"per favore|per piacere|ciao|puoi|potresti|può|potrebbe|mi (?:puoi|fai|dai)|"
    r"alsjeblieft|alstublieft|graag|hoi|kun je|kan je|kunt u|zou je|wil je|ik wil(?: graag)?|"
    r"пожалуйста|привет|можешь|можете|мог бы ты|не мог(?:ли)? бы(?: вы| ты)?|"
    r"请|請|麻烦|麻煩|请你|帮我|幫我|帮忙|能不能|可以|能|给我|給我|你能|你可以|"
    r"من فضلك|رجاء|رجاءً|لو سمحت|هل يمكنك(?: أن)?|هل تستطيع|ممكن|"
    r"footnote|@\S+|<@[^>]+>)"
)

ASKING: Final = (
    r"(?:who|whom|whose|what|when|where|why|which|how|whether|if|wer|wem|wen|wessen|was|wann|wo|warum|wieso|weshalb|welche[rsmn]?|wie|ob|qui|quoi|quand|"
    r"où|pourquoi|combien|comment|quels?|quelles?|ce que|ce qu['’]|si|quién|qué|cuándo|dónde|cuánto|cómo|cuál|por qué|lo que|chi|cosa|quando|dove|perché|"
    r"quanto|come|quale|wat|waar|wanneer|waarom|hoe|welke?|quem|onde|quanto|como|qual|o que|кто|что|когда|где|почему|как|какой|какие|сколько|谁|誰|何时|"
    r"哪|怎么|怎麼|为什么|為什麼|多少|いつ|どこ|誰|なぜ|どう|누가|언제|어디|왜|어떻게|من|متى|أين|لماذا|كيف|كم)"
)
"""An answer is to be summarised, not a file: "summarise what the policy says about leave"."""

FILE_WORDS: Final = _words(
    "file files document documents doc docs pdf pdfs docx pptx xlsx upload uploads uploaded attachment attachments attached sent "
    "shared dropped posted added just last latest newest recent new above previous current whole entire complete full content "
    "contents text everything all both here it this that these those them same single thing things one ones please page "
    "datei dateien dokument dokumente dokuments dokumenten anhang anhänge anhangs hochgeladen hochgeladene hochgeladenen geschickt gesendet letzte "
    "letzten letztes neueste neuesten neue gerade eben diese dieser dieses diesen diesem das es inhalt ganze ganzen gesamte gesamten oben hier text "
    "fichier fichiers document documents pièce pièces jointe jointes téléversé téléversés envoyé envoyés dernier dernière derniers joint ce cet cette ces "
    "ci-dessus ça cela celui-ci contenu tout entier texte viens d' l' "
    "archivo archivos documento documentos adjunto adjuntos fichero ficheros subido subí subidos enviado enviados último última últimos este esta estos esto "
    "ese esa eso anterior contenido todo completo texto acabo arriba lo "
    "arquivo arquivos ficheiro ficheiros documento documentos anexo anexos enviado enviei carregado carreguei último última deste desta desse dessa disto "
    "isto isso este esta esse essa acabei acima conteúdo inteiro texto "
    "allegato allegati caricato caricati inviato inviati ultimo ultimi questo questa questi queste quello quel appena sopra contenuto intero testo ho "
    "bestand bestanden documenten bijlage bijlagen geüpload geüploade gestuurd laatste nieuwste dit deze dat die het net zojuist inhoud hele tekst heb "
    "файл файла файле файлы файлов документ документа документе документы документов вложение вложения вложении этот этого этом эти этих это последний последнего "
    "последнем загруженный загруженного загрузил загрузила прикреплённый прикрепленный отправил только что текст текста содержание весь целиком "
    "الملف الملفات المستند المستندات الوثيقة الوثائق المرفق المرفقات هذا هذه ملف مستند وثيقة الأخير المرفوع النص نص محتوى كامل لي للملف للمستند للوثيقة للمرفق"
)

FILE_NOUNS: Final = _words(
    "file files document documents doc docs pdf pdfs docx pptx xlsx upload uploads uploaded attachment attachments attached "
    "datei dateien dokument dokumente dokuments dokumenten anhang anhänge anhangs hochgeladen hochgeladene hochgeladenen "
    "fichier fichiers pièce pièces jointe jointes joint téléversé archivo archivos documento documentos adjunto adjuntos fichero "
    "ficheros subido subí arquivo arquivos ficheiro ficheiros anexo anexos allegato allegati caricato bestand bestanden documenten "
    "bijlage bijlagen geüpload файл файла файле файлы файлов документ документа документе документы документов вложение вложения "
    "вложении الملف الملفات المستند المستندات الوثيقة الوثائق المرفق المرفقات ملف مستند وثيقة للملف للمستند للوثيقة للمرفق"
)

KIND_WORDS: Final = _words(
    "report reports presentation presentations slide slides deck decks spreadsheet spreadsheets sheet workbook table paper papers article "
    "articles contract letter email e-mail mail notes transcript book chapter manual image picture scan script code notebook "
    "bericht berichts präsentation folien tabelle vertrag vertrags brief artikel aufsatz protokoll buch handbuch notizen bild "
    "rapport présentation diapositives tableau contrat lettre article livre notes compte-rendu "
    "informe presentación diapositivas hoja contrato carta artículo libro notas acta "
    "relatório apresentação planilha contrato carta artigo livro notas ata "
    "relazione presentazione foglio contratto lettera articolo libro appunti verbale "
    "verslag rapport presentatie dia's werkblad contract brief artikel boek notulen "
    "отчёт отчет отчёта отчета презентация презентации презентацию таблица таблицы таблицу договор договора письмо письма статья статьи статью книга книги "
    "التقرير العرض الجدول العقد الرسالة المقال الكتاب"
)

UNSPACED: Final = (
    r"(?:这个|這個|这份|這份|这篇|這篇|这些|這些|那个|那份|该|該|本|上面的?|刚才|剛才|刚刚|剛剛|我?上传的?|我?上傳的?|发的|發的|最新的?|最后一?个?|最近的?|"
    r"文件|文档|文檔|檔案|附件|资料|資料|文章|报告|報告|内容|內容|全文|整个|整個|整份|请|請|帮我|幫我|帮忙|麻烦|一下|给我|給我|用|做|个|個|写|寫|份|一|的|吧|吗|嗎|呢|把|对|對|"
    r"进行|進行|它|这|這|列出|简要|简短|簡短|简单|簡單|详细|詳細|要|能|可以|你|我|下|"
    r"この|これ|それ|その|あの|さっきの?|先ほどの?|最新の?|最後の?|アップロードした|添付の?|送った|ファイル|文書|書類|ドキュメント|資料|添付|ペーパー|テキスト|全体|全部|"
    r"簡単に|簡潔に|短く|詳しく|少し|ちょっと|を|の|は|について|に|で|って|して|ください|お願いします|お願い|教えて|くれ|ますか|ます|もらえ|いただけ|"
    r"이|그|저|방금|최근|마지막|올린|업로드한|첨부(?:한|된)?|보낸|파일|문서|자료|첨부파일|보고서|전체|내용|간단히|간단하게|짧게|자세히|좀|을|를|은|는|의|에|대해|"
    r"해줘|해주세요|해|줘|주세요|부탁해|부탁|을요)"
)
"""Meaningless next to a name."""

UNSPACED_FILES: Final = r"(?:文件|文档|文檔|檔案|附件|上传|上傳|ファイル|文書|書類|ドキュメント|資料|添付|アップロード|파일|문서|자료|첨부|업로드)"

ALL_WORDS: Final = (
    r"(?:\b(?:everything|all (?:of )?(?:the |our |my )?(?:files|documents|docs)|all of (?:them|it)|every (?:single )?(?:file|document)|each (?:file|document)|"
    r"(?:the )?(?:whole|entire) (?:knowledge base|folder|library|collection)|knowledge base|"
    r"alles|alle (?:dateien|dokumente)|jede datei|jedes dokument|(?:die )?(?:ganze |gesamte )?wissensdatenbank|"
    r"tous les (?:fichiers|documents)|tout ce qui|chaque (?:fichier|document)|(?:toute )?la base de connaissances|"
    r"todos los (?:archivos|documentos)|cada (?:archivo|documento)|(?:toda )?la base de conocimientos?|"
    r"todos os (?:arquivos|ficheiros|documentos)|cada (?:arquivo|ficheiro)|(?:toda )?a base de conhecimentos?|"
    r"tutti i (?:file|documenti)|ogni (?:file|documento)|(?:tutta )?la base di conoscenza|"
    r"alle (?:bestanden|documenten)|elk (?:bestand|document)|(?:de )?(?:hele )?kennisbank|"
    r"все (?:файлы|документы)|каждый (?:файл|документ)|(?:вс[юя] )?баз[ау] знаний)\b|"
    r"所有(?:的)?(?:文件|文档|文檔|檔案|资料|資料)|全部(?:的)?(?:文件|文档|文檔|檔案|资料)|每个文件|知识库|知識庫|"
    r"(?:すべて|全て|全部)の?(?:ファイル|文書|ドキュメント|資料)|ナレッジベース|모든 (?:파일|문서|자료)|지식 ?베이스|(?:جميع|كل) (?:الملفات|المستندات|الوثائق)|قاعدة المعرفة)"
)
