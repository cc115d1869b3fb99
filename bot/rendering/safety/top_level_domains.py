from __future__ import annotations

from typing import Final

_COUNTRIES: Final = """
ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca cc cd cf cg
ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi
gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky
kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl
no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr
ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za
zm zw
"""
_OTHERS: Final = """
academy agency aero app arpa art asia autos bank bar bargains beauty best bet bid bike bio biz blog boats boo bot build
business buzz cab cafe cam camp capital car cards care casa cash casino cat cfd chat christmas church city claims click
clinic cloud club coach codes coffee college com community company computer contact cool coop country coupons credit
cricket cyou dad date dating day deal deals delivery design dev diet digital direct directory discount doctor dog domains
download earth edu education email energy engineer equipment esq estate events exchange expert express fail faith family
fan fans farm fashion film finance financial fish fit fitness flights florist flowers food football forex forum foundation
fun fund furniture fyi gallery game games garden gay gift gifts gives glass global gold golf goo gov graphics gratis green
group guide guru hair health help hiphop homes host hosting hot hotel house how icu immo inc industries info ing ink
institute insure int international investments jewelry jobs juegos kim kitchen land law lawyer lease legal lgbt life
lifestyle lighting limited limo link live llc loan loans locker lol london lotto love ltd luxury maison makeup management
market marketing mba media meme memorial men menu mil mobi moda mom money monster mortgage motorcycles mov movie museum
name navy net network new news ngo ninja nyc observer one ong online onion org organic page partners parts party pet phd
photo photography photos pics pictures pink pizza plumbing plus poker porn post press pro productions prof promo
properties property pub quest racing realty recipes red rehab reise reisen rent rentals repair report republican rest
restaurant review reviews rich rip rocks rodeo rsvp run sale salon sarl school science security services sex sexy shoes
shop shopping show singles site ski skin social software solar solutions space sport store stream studio study style sucks
supplies supply support surf surgery systems tattoo tax taxi team tech technology tel tennis theater tienda tips tires
today tokyo tools top tours town toys trade trading training travel tube university uno vacations vegas ventures vet
viajes video villas vin vip vision vodka vote voting voto voyage watch webcam website wedding wiki win wine work works
world wtf xxx xyz yachts yoga zip zone
рф рус москва онлайн сайт орг дети бел укр срб мкд қаз бг ею ελ გე հայ ישראל
"""

ENDINGS: Final = frozenset(f"{_COUNTRIES} {_OTHERS}".split())
