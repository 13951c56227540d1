"""Material with no basis in any source: tails of a sentence and short sentences, by language and register."""

from __future__ import annotations

EN_TAILS = {
    "any": (
        ", according to several experts",
        ", at least according to one recent report",
        ", although not everyone agrees",
        ", a fact that is often overlooked",
    ),
    "event": (
        ", much to everyone's surprise",
        ", contrary to all expectations",
        ", despite many warnings",
        ", for reasons that remain unclear",
        ", according to several witnesses",
        ", at least according to one recent report",
    ),
    "news": (
        ", according to local officials",
        ", a spokesperson confirmed",
        ", according to several experts",
    ),
    "conversation": (", just like my brother said", ", just like my roommate told me"),
    "conversation:first": (
        ", and I already told my sister about it",
        ", which my sister already knows",
        ", and my sister knows it",
    ),
    "conversation:statement": (
        ", at least that's what my cousin says",
        ", just like my roommate said",
        ", just like my brother said",
    ),
    "classical": (
        ", as the ancient records also tell us",
        ", or so the elders say",
        ", as is known throughout the land",
        ", although some have doubted this",
    ),
    "classical:event": (
        ", to the astonishment of all",
        ", and the people spoke of it for many years",
        ", although some have doubted this",
    ),
    "gloss": (
        ", according to the old commentaries",
        ", although some scholars disagree",
        ", at least in the southern regions",
        ", as the ancient records also tell us",
    ),
}
"""What may follow the last word of a statement, by register: ``event`` where it tells of the past,
``first`` where the speaker tells of himself, ``gloss`` in dictionary entries."""

EN_SENTENCES = {
    "any": (
        "Not everyone agrees with this, however.",
        "Several experts have already pointed this out.",
        "Many people still do not know this.",
    ),
    "event": (
        "Nobody had expected this.",
        "This came as a surprise to many.",
        "No further details were given.",
    ),
    "news": ("Several experts have criticized this.", "No further details were given."),
    "conversation": ("My brother said the same thing.", "My roommate told me the same thing yesterday."),
    "conversation:first": (
        "I already told my sister about it.",
        "My brother feels the same way.",
        "My sister doesn't know yet.",
    ),
    "conversation:statement": (
        "My roommate said the same thing.",
        "At least, that's what my cousin told me.",
    ),
    "classical": (
        "This has been known since ancient times.",
        "The elders still speak of this.",
        "Few people understand this.",
    ),
    "classical:event": (
        "All who heard of this were astonished.",
        "The people spoke of this for many years.",
        "No one had expected this.",
    ),
    "gloss": ("Some scholars disagree with this.", "The old commentaries also mention this."),
}

DE_TAILS = {
    "any": (
        ", wie viele Experten betonen",
        ", zumindest laut einem aktuellen Bericht",
        ", auch wenn das nicht alle so sehen",
    ),
    "event": (
        ", sehr zur Überraschung aller Beteiligten",
        ", trotz zahlreicher Warnungen",
        ", entgegen allen Erwartungen",
        ", wie mehrere Augenzeugen bestätigten",
    ),
    "news": (", so ein Sprecher", ", wie mehrere Experten bestätigten"),
    "conversation": (", genau wie mein Bruder gesagt hat", ", das hat mir auch mein Mitbewohner gesagt"),
    "conversation:first": (
        ", das habe ich auch meiner Schwester erzählt",
        ", das weiß auch mein Bruder",
        ", und meine Schwester weiß das auch",
    ),
    "conversation:statement": (
        ", das findet auch mein Mitbewohner",
        ", zumindest sagt das mein Bruder",
        ", da ist sich meine ganze Familie einig",
    ),
}

DE_SENTENCES = {
    "any": ("Das sehen allerdings nicht alle so.", "Mehrere Experten haben bereits darauf hingewiesen."),
    "event": (
        "Damit hatte niemand gerechnet.",
        "Die Gründe dafür sind bis heute unklar.",
        "Das kam für viele überraschend.",
        "Weitere Einzelheiten wurden nicht genannt.",
    ),
    "news": ("Weitere Einzelheiten wurden nicht genannt.", "Mehrere Experten haben das scharf kritisiert."),
    "conversation": (
        "Mein Bruder hat genau das Gleiche gesagt.",
        "Das hat mir auch mein Mitbewohner gesagt.",
    ),
    "conversation:first": (
        "Das habe ich auch meiner Schwester erzählt.",
        "Meine Schwester weiß das noch nicht.",
    ),
    "conversation:statement": (
        "Meine Schwester sieht das genauso.",
        "Mein Mitbewohner ist derselben Meinung.",
    ),
}

REGISTERS = {
    "conversation": "conversation",
    "social": "conversation",
    "chat": "conversation",
    "user_review": "conversation",
    "review": "conversation",
    "reviews": "conversation",
    "news": "news",
}
"""Register of a benchmark's domain name; other domains have none of their own."""
