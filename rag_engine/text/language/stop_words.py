from __future__ import annotations

from types import MappingProxyType

FUNCTION_WORDS = MappingProxyType(
    {
        "en": "the of and to in is that it was for on are as with his they be at one have this from by had not but what"
        " all were when we there can an your which their said if do will each how them then many some so these would"
        " into has more two could been who its now find did get does may where why my our you he she or than only"
        " after about between during most other because while should whose whom any such both",
        "de": "der die das und ist in den von zu mit dem nicht ein eine einer eines einem einen sich auf für im des als"
        " auch es an werden aus er hat dass sie nach wird bei um am sind noch wie über so zum war haben nur oder aber"
        " vor zur bis mehr durch man dann soll kann wenn was wer wo wann warum welche welcher welches welchen welchem wurde wurden"
        " seine ihre unter wir ich kein keine gibt viel viele sowie gegen zwischen wieviel worden muss müssen können"
        " mein meine unsere habe sein beim vom",
        "fr": "le la les de des du et est en un une que qui dans pour pas par sur au aux avec ce se il elle ne plus son"
        " sa ses ont été mais ou où comme nous vous ils elles cette ces leur leurs être fait quel quelle quels quelles"
        " comment pourquoi quand combien sont sous entre après aussi sans avait était étaient dont lors même très deux"
        " peut mon ma mes notre nos votre vos je tu chez c'est qu'est afin lorsque cet",
        "es": "el la los las de que y en un una es por con para del se no al lo como más su sus fue ha son pero o este"
        " esta estos estas entre cuando muy sin sobre también hasta hay donde quien quién qué cuál cuáles cómo cuándo"
        " dónde cuánto cuántos cuántas cuánta desde todo nos durante ya fueron era ser tiene había porque cada dos"
        " después así según mi mis nuestro nuestra eran parte año años uno puede antes",
        "pt": "o a os as de que e do da dos das em um uma é no na nos nas por para com não se mais foi ao aos como mas"
        " seu sua seus suas ou ser quando muito há já está também só pelo pela até isso ela ele entre era depois sem"
        " mesmo quem qual quais onde são tem à às foram quantos quantas quanto porque você eu nós eles nossa nosso meu"
        " minha sobre após cada dois anos num numa pode qualquer",
        "it": "il lo la i gli le di che e è un una uno in per con non del della dei delle dello degli al alla ai alle da"
        " dal dalla nel nella nei nelle sul sulla si sono come più ma anche o se questo questa questi ha hanno era chi"
        " cosa quando dove perché quale quali quanto quanti quante suo sua suoi loro essere stato stata fu dopo tra fra"
        " due anni ogni così mio mia nostro nostra ci cui sia c'è qual",
        "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als bij dan nog uit door over werd"
        " worden naar heeft hebben maar deze die dit wat wie waar wanneer waarom welke hoe hoeveel hij zij ze was meer"
        " tot kan wordt onder tussen na werden had wij ik je mijn onze geen moet zou hun haar tegen zo veel twee",
        "sv": "och att det i en är som på för av med till den har de inte om ett han men var jag sig från vi så kan när"
        " år säger hur ska under där eller vad vem vilken vilket vilka varför efter mot också blev hade sin sina"
        " mellan många mycket alla än skulle detta denna dessa hon bara utan min vår finns måste",
        "da": "og at det i en er som på for af med til den har de ikke om et han men var jeg sig fra vi så kan når år"
        " hvor hvad hvem hvilken hvilket hvilke hvorfor hvordan efter mod også blev havde sin mellem mange meget alle"
        " ved eller skal under være blive denne dette disse hun kun uden efter min vores findes skulle nogle noget",
        "no": "og at det i en er som på for av med til den har de ikke om et han men var jeg seg fra vi så kan når år"
        " hvor hva hvem hvilken hvilket hvilke hvorfor hvordan etter mot også ble hadde sin mellom mange mye alle ved"
        " eller skal under være bli denne dette disse hun bare uten min vår finnes skulle noen noe mer enn",
        "fi": "ja on ei se että oli hän ovat kun mitä mikä missä milloin miksi kuka kuinka miten monta joka jotka myös"
        " sen mutta tai kuin sekä voi olla ole jos niin sitä tämä tämän hänen siitä ollut vain vuonna mukaan jälkeen"
        " kanssa oma mille minä me he olivat eli sekä paljon ennen noin",
        "hu": "a az és hogy nem is egy volt ez meg ki mi hol mikor miért hogyan mennyi hány milyen melyik van vagy mint"
        " csak már még de ha azt ezt lehet kell után között szerint amely ami aki voltak lett minden több nagyon által"
        " illetve valamint ennek annak",
        "pl": "i w nie na się z do to że jest o jak po co ale za od przez czy dla był była było były są oraz tym przy"
        " może który która które którzy kiedy gdzie dlaczego kto ile jaki jaka jakie tego być ich jego już tylko także"
        " lub pod przed między bardzo ma roku został została ten ta te tej",
        "cs": "a je v se na že to s z do o i jako ale za by po jsou který která které kdy kde proč kdo co jak kolik jaký"
        " jaká jaké byl byla bylo byly být jeho její však nebo už také před při podle mezi až jen aby ve ze ke od pro"
        " není má tak roku této tento tato",
        "sk": "a je v sa na že to s z do o i ako ale za by po sú ktorý ktorá ktoré kedy kde prečo kto čo koľko aký aká"
        " aké bol bola bolo boli byť jeho jej však alebo už tiež pred pri podľa medzi až len aby vo zo ku od pre nie má"
        " tak roku tejto tento táto",
        "ro": "și în de la a cu pe nu este un o din care ce pentru mai că au fost sau ca al ale lui prin fi sunt între"
        " după unde când cine cum cât câți câte care sa lor era dar fără acest această aceste despre până avea ani doar"
        " dintre într foarte fiind își",
        "tr": "ve bir bu da de için ile olarak çok daha en gibi olan ne kim nerede nasıl neden niçin kaç hangi mi mı mu"
        " mü var yok değil ama veya sonra önce kadar olduğu oldu her ise göre tarafından zaman arasında olup şey ancak"
        " bunu onun ben biz",
        "id": "yang dan di dari untuk pada dengan ini itu tidak dalam adalah ke akan oleh sebagai juga atau karena"
        " tersebut apa siapa kapan mengapa bagaimana berapa mana dapat telah bisa ada saat lebih serta antara"
        " kepada menjadi hanya mereka kami saya kita bahwa setelah seperti para secara anda tahun",
        "vi": "và là của có được trong cho không một các những với này đã người từ khi để về như đến tại ở ra vào nào"
        " gì ai đâu sao bao nhiêu thế nhưng cũng hoặc bởi theo trên dưới giữa sau trước nhiều rất phải nếu mà do"
        " bị đó sẽ năm cùng thì tôi",
        "ca": "el la els les de que i en un una és per amb del dels al als es no com més seu seva seus va són però o"
        " aquest aquesta aquests entre quan molt sense sobre també fins hi ha on qui què quin quina quins com quant"
        " quants des tot durant ja van era ser té perquè cada després així segons ser dues amb",
        "lt": "ir yra į iš kad su kaip nuo buvo tai ne o bet ar per kas kur kada kodėl kiek koks kokia kurie kuris kuri"
        " jo jos jų taip pat už iki po apie tik dėl buvo gali būti prie jau dar",
        "lv": "un ir no uz ar par kas ka bija kā pēc tas bet vai kur kad kāpēc cik kurš kura kāds kāda tika to viņš viņa"
        " arī līdz pie gan tā ne nav var tiek starp",
        "et": "ja on ei see et oli ta kui mis kus millal miks kes kuidas mitu milline mida ka oma aga või mille kes tema"
        " nende selle pärast ning seda olid aasta aastal välja ole üle",
        "sl": "in je v se na da so z za ki pa ne kot po bil bila bilo bili ali tudi od iz pri o kdo kaj kje kdaj zakaj"
        " kako koliko kateri katera katere med lahko še ter bi več že biti ima njegov",
        "hr": "i je u se na da su za od s koji koja koje što ne ili kao bio bila bilo bili ali tko gdje kada zašto kako"
        " koliko kojem kojim te sa iz po o do među može biti nije također prema godine nakon više samo još",
        "eu": "eta da ez bat izan zen dira ere du zuen baina edo nor zer non noiz zergatik nola zenbat hau hori dute"
        " egin zituen gisa arte",
        "ga": "agus an na is ar ag go do a i le sé sí bhí tá ní cad cé cathain conas bhfuil faoi ó mar gur nach seo sin",
        "eo": "la kaj de en estas al ke ne por kun pri kiu kio kie kiam kial kiel kiom sed aŭ estis pli tiu li ŝi ili"
        " oni ĉi tio",
        "ru": "и в не на что с по как это он но из у за от о к для его же то был была было были все так или до при"
        " если когда где кто почему какой какая какие какое сколько который которая которые которого может есть их"
        " она они мы вы я после также между более под во со бы только году чем этот эта эти является",
        "uk": "і в не на що з по як це він але із у за від о до для його же та був була було були все так або при якщо"
        " коли де хто чому який яка які яке скільки якого може є їх вона вони ми ви я після також між більше під"
        " бути тільки році чи цей ця ці щоб й",
        "bg": "и в не на че с по как това той но от у за до към за неговата се е са беше бяха всички така или при ако"
        " кога къде кой защо какво каква какви колко който която които може има тя те ние вие след също между повече"
        " под само година ли този тази тези да си",
        "sr": "и у не на да с по како то он али из код за од о ка се је су био била било били све тако или при ако кад"
        " где ко зашто који која које колико може има она они ми ви после такође између више под само године ли"
        " овај ова ови што шта када",
    }
)
"""Casefolded words, separated by blanks."""
