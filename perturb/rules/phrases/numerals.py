"""Number words, months and days of English and German, numerals and counters of Chinese and Japanese."""

from __future__ import annotations

from perturb.rules.tables import word_set, word_tuple

EN_SMALL = word_tuple("two three four five six seven eight nine ten eleven twelve")
EN_TEENS = word_tuple("thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
EN_TENS = word_tuple("twenty thirty forty fifty sixty seventy eighty ninety")
EN_SCALES = word_tuple("hundred thousand million billion trillion")

EN_ORDINALS = word_tuple(
    """
    second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
    """
)
EN_UNIT_ORDINALS = ("first", *EN_ORDINALS[:8])

EN_HYPHENATED = word_tuple(
    """
    year day month week hour minute story storey part star person member bedroom page mile foot point
    horse meter metre kilometer
    """
)
"""What a number word may be joined to by a hyphen and still be a count: ``five-year``."""

EN_LEXICAL_ORDINALS = word_set(
    """
    half quarter hand thought thoughts nature person party world language degree wall sense column
    estate century centuries millennium he she i you it they we that the of a an or and to in is was who
    """
)
"""Words after which, or with which, an ordinal is no count: ``the second half``, ``the second he came``."""

DE_SMALL = word_tuple("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")
DE_TENS = word_tuple("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
DE_ORDINALS = word_tuple("zweite dritte vierte fünfte sechste siebte achte neunte zehnte")

EN_MONTHS = word_tuple(
    "January February March April May June July August September October November December"
)
DE_MONTHS = word_tuple("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")
MONTHS = frozenset((*EN_MONTHS, *DE_MONTHS)) | word_set(
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Okt Nov Dec Dez"
)
"""Names of months in both languages, and their abbreviations."""

EN_DAYS = word_tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
DE_DAYS = word_tuple("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag")

EN_BEFORE = frozenset(EN_DAYS) | word_set(
    """
    In On At By From Since Until After Before About Over Under Around Nearly Almost Approximately Some
    The These Those More For With Within Of And But Only Just Between During To Mr I He She Age Aged If
    That
    """
)
"""Capitalised English words before a number that, like months, make it a count or a date and no name."""

DE_BEFORE = frozenset(DE_DAYS) | word_set(
    """
    Jahr Jahre Jahren Seite Platz Kapitel Alter Ende Anfang Mitte Sommer Herbst Winter Frühjahr Frühling
    Minute Stunde Tag Woche Rang Höhe Wert In Im Am Mit Nach Seit Vor Bis Ab Von Über Rund Etwa Die Der
    Das Den Dem Um Unter Für Zwischen Fast Mehr Bei Und Aber Insgesamt Ungefähr Ca Ich Wir Es Sie Er
    Habe Haben
    """
)
"""Capitalised German words before a number that, like months, make it a count or a date and no name."""

ZH_COUNTERS = (
    "个小时|个半小时|个多小时|个月|个星期|个人|个|名|年级|年|天|次|人|位|本|岁|月份|月|日|小时|分钟|周年|周|倍|公里|千米|米|厘米|"
    "元|块钱|杯|只|条|张|家|场|件|层楼|层|点半|点钟|点|楼|站|袋|瓶|碗|份|集|科|门|根|片|颗|辆|间|所|座|封|台|部|首|篇|种|类|"
    "页|届|斤|公斤|套|双|箱|盒|罐|排|轮|号|阶段|章|节课"
)
JA_COUNTERS = (
    "時間|分間|秒|週間|週|年間|年生|年|月|日間|日|回目|回|人|つ|個|本|枚|倍|台|匹|杯|歳|階|番目|章|ヶ月|か月|カ月|ヵ月|ケ月|種類|件|"
    "か所|カ所|ヶ所|名|度目|冊|軒|着|足|点|泊|世紀|つ目"
)
CJK_LEXICAL = word_tuple(
    """
    三明治 十分 三心二意 乱七八糟 三番五次 不三不四 三天两头 九牛 四面八方 五颜六色 七嘴八舌
    一两 两三 三四 四五 五六 六七 七八 八九 星期 礼拜 周 两点一线 八点档 三点一线 二日酔い
    三日坊主 五分五分 七五三 二度と 三日月 二、三 四、五 三者 十人十色 三人称 二人三脚 两口
    说两句 这两天 那两天 前两天 过两天 三位一体 五一 十一 双十 百十 二三 十日十色 三层肉
    天一夜 天两夜 天三夜 晚三日 晚三天 晚四天 年制 两个脚 两只脚 两条腿 两只手 两只眼 两个眼
    二本の足 二本の腕 両 三段 四季 三日天下 两个人一起 两只耳 一个人 二人きり 两个肩 二枚目
    三枚目 四つ葉 八つ当 二つ返事 十個十 二十四節気 七つの海 四年制
    """
)
"""Where a numeral is part of a word or an idiom, or one of an approximate pair, and is no count."""
