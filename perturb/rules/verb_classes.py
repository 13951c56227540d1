"""Classes of English verbs, by what an edit may do to them."""

from perturb.rules.tables import word_set

TRANSITIVE = word_set(
    """
    abandon abolish accept accompany accomplish accuse acquire administer admire adorn affect afford
    amass annex announce anoint appease appoint appreciate apprehend approve arrange arrest assassinate
    assign attain attract attribute avoid award ban banish behead besiege bestow betray bind blame bless
    block border borrow bring build bury capture carry catch cause celebrate cherish cite claim comfort
    commit complement complete comprise conceal condemn conduct confer confirm confiscate confront
    conquer consider constitute construct consult consume contain contract contradict convey convince
    correct cover create criticize curb cure cut damage deceive declare deem defeat defend define defy
    demand demonstrate deny depict describe deserve desire despise destroy detain devastate devise
    devour discard discover discuss dismantle dismiss dispatch dispel display disregard disrupt
    distinguish disturb dominate draft earn elevate eliminate embarrass embody embrace emphasize employ
    emulate enable enact encompass encounter encourage endanger endorse endure enforce enjoy enlist
    enrich ensure entail entertain entrust equip establish evaluate evict evoke exalt examine exceed
    exclude execute exercise exhaust expel experience exploit explore expose express extinguish face
    fascinate favor fear fetch fill find fix follow forbid forge forgive fulfill gain grab grant grasp
    greet guard guide handle harm hate heed highlight hinder hit honor host identify ignore illustrate
    imitate impair implement impose imprison include incur indicate infect inhabit inherit injure
    inspect inspire install insult interrogate introduce invent invite involve issue jeopardize justify
    kidnap kill lack lament lay like list locate love maintain make mark mean mention mix murder need
    neglect nominate nourish nurture obscure obtain occupy offer oppose oust outperform overcome oversee
    overthrow overturn owe own pacify penetrate perceive permit persuade pinpoint place plant portray
    pose possess postpone praise predict prefer present preserve prevent proclaim procure produce
    prohibit promote pronounce propose prosecute protect provoke publish punish purchase pursue put
    quell quote raise reach receive recognize recommend record rectify reduce regulate reinforce reject
    release relieve relinquish remove renounce repair repay repel replace represent repress request
    require rescue resemble resolve respect restore restrain retain reveal revere reverse reward ruin
    safeguard satisfy scold seek seize select send sever shape shatter showcase signify slander
    slaughter slay solve soothe spark specify spill spoil spot state strengthen strike subdue summon
    support suppress surpass surround suspect sustain tackle target threaten throw thwart tolerate touch
    transcend transmit transport traverse treat trigger trust undergo underline undermine undertake
    unify unveil uphold uproot use utilize vacate value vanquish violate wage want wear welcome wield
    withhold withstand worship wound wrap
    """
)
"""Verbs that English does not leave without an object: the gap is seen at once."""

SAYING = word_set(
    """
    say tell reply ask answer respond report announce state write add declare claim explain note call
    remark inquire exclaim mention according mean reiterate confirm emphasise
    """
)
"""Verbs of saying: their tense is a matter of style ("Confucius says"), and a clause is what they say."""

TELLING = word_set(
    """
    describe show suggest cast emphasize stress demonstrate indicate refer compare signify relate cite
    """
)
"""Verbs whose past and present are interchangeable where a text or a fact is told of."""

DEFINING = word_set(
    """
    derive compose consist come represent originate include contain pronounce call know define use form
    symbolize correspond belong resemble depend
    """
)
"""Verbs whose present defines something, so that their past says much the same."""

STATES = word_set(
    """
    be have know want believe live like love need own possess contain consist belong mean resemble
    depend deserve hate prefer remain lie stand fear lack respect trust value
    """
)
"""Verbs of state: in the past, their plain opposite is the present."""

STRANDED = word_set("let need dare use get owe found lie saw bear")
"""Verbs whose forms look alike, or that a change of tense turns into another construction."""

POLAR = word_set(
    """
    any anyone anybody anything anywhere anymore ever yet either neither nor until unless whether if
    only even but instead rather necessarily longer too also still already just again both all every
    each some someone something always almost nearly hardly scarcely barely rarely seldom few little no
    none nobody nothing never without so such as than enough much many more most least first alone let
    used therefore thus bit best
    """
)
"""Where one of these stands, a negation put in or taken out leaves an odd or an ambiguous sentence."""
