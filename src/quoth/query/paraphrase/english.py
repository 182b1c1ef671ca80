"""English: phrases and what they come to, and words that stand for each other."""

SAYINGS = r"""
    ^(?:(?:hi|hello|hey|please|so|ok|okay|well|thanks|excuse me|sorry|kindly|just) )+ >
    (?:can|could|would|will) (?:you|someone|anyone|somebody)(?: please| kindly| possibly)? (?=
        (?:tell|explain|show|help|give|describe|let|summari|name|list|define|compare|clarify)) >
    (?:i|we) (?:would (?:like|love)|want|wish|need|am (?:trying|looking)|have) to (?:know|
        understand|find out|learn|ask|hear)(?: more)?(?: about)? > TELL
    (?:i|we) (?:am|are|was|were) (?:just )?(?:wondering|curious)(?: about| if| whether)? > TELL
    (?:i|we) wonder(?: if| whether)? > TELL
    (?:do|would|might) you (?:happen to )?know(?: if| whether)? > TELL
    (?:have you )?any idea(?: of| if| whether)? > TELL
    let (?:me|us) know(?: about| if| whether)? > TELL
    tell (?:me|us)(?: please)?(?: something| more| more info| more information| all)?
        (?: about| if| whether| of)? > TELL
    ^(?:show|give) (?:me|us)(?: please)?(?: some)?(?: (?:info|information|details))?
        (?: about| on| if| whether| of)? > TELL
    what is the need (?:to|for) > WHY must
    (?:please )?help (?:me|us)(?: to)?(?: with)? > HOW
    under what circumstances > WHEN
    at what temperature does (.+) (boil|melt|freeze) > WHAT \1 \2 point
    boiling point > boil point
    melting point > melt point
    freezing point > freeze point
    (?:is|are) there (?:a|any) (?:way|possibility)(?: for (?:me|us))? to > YES can
    (?:is|would) it (?:be )?(?:at all )?possible(?: for (?:me|us|you))? (?:to|that) > YES can
    (?:is|are) (?:it|we|i) (?:allowed|permitted)(?: to)? > YES can
    am i (?:allowed|permitted|able) to > YES can
    is it (?:necessary|required|mandatory|obligatory|compulsory)(?: for (?:me|
        us))? to > YES must
    (?:does|do) (?:the|a|an|my|your|this) (\w+) have (?:a|an|any) > YES there \1
    (?:unable|not able) to > can not
    (?:am|are|is|be) able to > can
    (?:does|do|is|are) not (?:allowed|permitted|allow|permit) > not can
    (?:what|which)(?: is| are| was| were| might be| would be| could be)? (?:the |your |my )?
        (?:main )?(?:reason|reasons|cause|causes)(?: is| are)?
        (?: for| behind| of| why| that| to)? > WHY
    (?:know )?(?:the )?reasons? why > why
    it (?:seems|looks|appears)(?: like| that| as if)?|(?:seems|looks)(?: like| that| as if)?|
        i (?:think|believe|guess)(?: that)? >
    use (my|a|an|the) (\w+(?: \w+)?) to (.+)$ > \3 with \1 \2
    for (?:what|which) (?:reason|reasons|cause) > WHY
    (?:is|are) there (?:a|any) reasons?(?: why| that| for)? > WHY
    how come > WHY
    what (?:makes|made|causes|caused) > WHY
    (?:what|which)(?: is| are| was| were| would be| s)? (?:the|a|your)? ?(?:best |right |
        correct |proper |easiest |usual |simplest |quickest )?(?:way|ways|procedure|procedures|
        process|processes|steps|method|manner|instructions)(?: (?:that )?(?:i|we|you)
        (?: must| should)?(?: (?:need|have) to)? (?:take|follow|do|use))?
        (?: needed| required| involved)?(?: to take| to follow)?(?: in order)?
        (?: to| for| of| in which| how| by which)? > HOW
    (?:what|which) (?:steps|procedure|process|way)(?: (?:do|should|must|can) (?:i|we|you|one)
        (?: need to| have to)? (?:take|follow)| are (?:needed|necessary|required|involved))?
        (?: in order)?(?: to| for) > HOW
    (?:in|by|through) (?:what|which) (?:way|ways|manner|means|method)(?: do| does| can)? > HOW
    what (?:do|should|can|must|would|could|will) (?:i|we|you|one)(?: need to| have to)? do
        (?: in order)? (?:to|for)(?! (?:if|when)) > HOW
    what (?:needs|has|have|is) to be done(?: in order)? to > HOW
    what (?:do|should|can|could|would|must|will|am) (?:i|we|you|one)
        (?: need to| have to| going to| supposed to)? do(?: if| when| now if)? > HOW react
    what if > WHAT happen
    what happens(?: when| if)? > WHAT happen
    (?:what|which) is to be done(?: if| when) > HOW react
    how can i find out > TELL
    (?:how|HOW) (?:do|does|did) (.+) differ(?: from)? > WHAT differ \1
    (?:how|HOW) (?:is|are|was|were) (.+) different(?: from| to| than)? > WHAT differ \1
    what (?:distinguishes|separates|differentiates) > WHAT differ
    what (?:is|are) the differences? between > WHAT differ
    what (?:is|are) the (?:importance|significance) of > WHY important
    is it (?:true|correct|the case|right) that > YES
    (?:an? )?explanation (?:of|for) > EXPLAIN
    how hot > WHAT temperature
    how soon > WHEN
    what (?:do|does) (?:people|one|you|we) use (.+) for$ > WHAT purpose \1
    what (?:is|are) the (?:kinds|types|sorts|type|kind|sort) of > WHAT
    (?:come|comes|came) up with > invent
    what is the length of > WHAT duration
    (?:what|which) (?:events?|things?) (?:happened|happen|took place|take place|occurred|
        occur) > WHAT happen
    (?:what|which) (?:is|was|are|were) (.+) (?:called|named)$ > WHAT title \1
    what (?:is|was|are|were) the (?:title|name) of > WHAT title
    what (?:is|are|was|were) (.+) about$ > WHAT topic \1
    what (?:do|does|did) (.+) (?:deal with|talk about)$ > WHAT topic \1
    what (?:do|does) ((?:the )?(?:page|pages|chapter|section|slide|
        paragraph)\b.+?) say$ > WHAT \1
    (?:what|which) (\w+) (?:do|does|did) (.+) (?:have|offer|provide|bring|present|possess|
        show)$ > WHAT \1 \2
    (?:what|which) (?:do|does|did) (.+) have$ > WHAT possess \1
    ^(?:please )?give > WHAT
    (?:who|what company|which company) (?:is|was|are|were) the (\w+) of > WHO \1
    how (?:tall|high) > WHAT height
    how old > WHAT age
    how far(?: away)?(?: is it)?(?: from)? > WHAT distance
    how (?:big|large) > WHAT size
    how (?:fast|quickly|quick) > WHAT speed
    how heavy > WHAT weight
    how deep > WHAT depth
    how wide > WHAT width
    how accurate(?:ly)? > WHAT accuracy
    how expensive > WHAT cost
    how much (?:money )?(?:do|does|did|would|will|is|are|was|were) (.+?) (?:cost|costs|
        cost me)$ > WHAT cost \1
    how much (?:money )?(?:do|does|did|would|will) (?:it|you) (?:cost|charge)(?: me| us)?
        (?: to| for)? > WHAT cost
    how much (?:is|are|was|were)(?: the| it| it to)? > WHAT cost
    (?:what|which) (?:do|does|did|will|would) (.+?) cost(?: me)?$ > WHAT cost \1
    (?:how (?:often|frequently|regularly)|(?:what|which) is the frequency
        (?: of)?) > WHAT frequency
    how many times > WHAT frequency
    (?:for )?how long (?:do|does|did|will|would|is|are)(?: (.+?) (?:take|last)
        (?: for)?$) > WHAT duration \1
    (?:for )?how long (?:do|does|did|will|would|should) it
        (?: usually| typically| normally| generally)? take
        (?: for| to| until| till| before)? > WHAT duration
    how much time (?:do|does|did|will|would|should) it
        (?: usually| typically| normally| generally)? take
        (?: for| to| until| till| before)? > WHAT duration
    how much time (?:do|does|did|will|would|is|are)(?: (.+?) (?:take|last)
        (?: for)?$) > WHAT duration \1
    (?:for )?how (?:long|much time) > WHAT duration
    what (?:length|amount) of time > WHAT duration
    battery life > duration battery
    how (?:many|much) > WHAT number
    (?:what|which)(?: is| was| are| were)?(?: the)? (?:number of (?=\w+s )|(?:amount|
        quantity) of) > WHAT number
    (?:at )?(?:what|which) time > WHEN TIME
    (?:in |during )?(?:what|which) year > WHEN YEAR
    (?:in |during )?(?:what|which) month > WHEN MONTH
    (?:on |at |by )?(?:what|which) date > WHEN DATE
    (?:on )?(?:what|which) day > WHEN DAY
    (?:at )(?:what|which) (?:moment|point) > WHEN
    when is the deadline(?: for| to)? > WHEN deadline
    by when (?:do|must|should) (?:i|we|one)(?: have to| need to)? > WHEN deadline
    (?:in |at |from )?(?:what|which) (?:place|places|location|locations|spot|
        part of the world) > WHERE
    in (?:what|which) cases > WHEN
    what(?: is| are| was)?(?: the)? (?:place|location|whereabouts)(?: of)? > WHERE
    what is the birthplace of > WHERE born
    (?:by )?(?:what|which) (?:person|people|persons) > WHO PERSON
    (?:by )?(?:what|which) (?:company|companies|firm|organisation|organization) > WHO COMPANY
    (?:by )?whom?(?: was| is| were| are)?(?= ) > WHO
    (?:what|which) (?:kind|kinds|type|types|sort|sorts)(?: of)? > WHAT
    how (?:is|are) (.+) (?:defined|meant)$ > WHAT \1
    what (?:is|are) (.+?)(?: used)? for$ > WHAT purpose \1
    what (?:is|are) (?:the )?(?:purpose|role|function|use|job|goal|aim|point)
        (?: or role)? of > WHAT purpose
    (?:what|which) (?:purpose|role|function|use|job)(?: do| does| did)? (.+?)
        (?: have| serve| play| fulfil| fulfill)?$ > WHAT purpose \1
    what (?:do|does) (.+) do$ > WHAT purpose \1
    what does (.+) (?:mean|stand for|signify)$ > WHAT \1
    what is meant by|what is the (?:meaning|definition) of|what do (?:you|they) mean by|
        what is understood by > WHAT
    how (?:do|does) (?!i |you |we |one )(.+) (?:work|function|operate)$ > EXPLAIN HOW \1
    (?:explain|describe|clarify)(?: to)?(?: me| us)?(?: please)?(?: to me)? the way
        (?: in which)? (.+) (?:works?|functions?|operates?)$ > EXPLAIN HOW \1
    (?:explain|describe|clarify)(?: to)?(?: me| us)?(?: please)?(?: to me)? how (.+) (?:works?|
        functions?|operates?)$ > EXPLAIN HOW \1
    how (?!i |you |we |do |does |can |should |would |could |to )(.+) (?:works|functions|
        operates)$ > EXPLAIN HOW \1
    (?:HOW|how) (?:do |does )?(?!i |you |we |do |does |can |should |would |could |to |get |
        make )(.+) (?:works?|function|operate)$ > EXPLAIN HOW \1
    (?:explain|describe|clarify)(?: to)?(?: me| us)?(?: please)? (?=how|why|what|when|where|who|
        WHY|HOW|WHAT) > TELL
    (?:explain|clarify)(?: to)?(?: me| us)?(?: please)?(?: to me)? > EXPLAIN
    (?:^|TELL |WHAT )(?:define|describe|name|list|state)(?: (?:me|us|all))? > WHAT
    an? (?:summary|overview|synopsis) of|(?:the )?(?:summary|overview|synopsis) of|summari[sz]e|
        sum up > SUMMARY
    (?:compare|comparison (?:of|between)|compared (?:to|with)) > COMPARE
    (?<!do )(?<!did )(?<!if )(?<!when )(?:i|we) (?:want|need|would like|wish|would love|
        am trying|have) to > HOW
    what is (?:your |the )?(?:take|view|opinion) on > WHAT think
    in (?:someone|his|her) opinion > think
    (?:get|be|stay) in touch with > contact
    (?:in charge of|responsible for|accountable for) > responsible
    (?:run|ran|came|come) (?:into|across) > encounter
    (?:take|takes|took|taken) place|go on|going on|occurs?|occurred > happen
    would like|would love > want
    (?:free of charge|at no cost|for free) > free
    outside (?:of )?(?:the|my) country|in (?:a |another )?foreign (?:country|countries) > abroad
    cash (?:machine|machines|point|points)|cashpoints? > atm
    as well as > and
    (?:back(?:s|ed|ing)? up) > backup
    (do|does|did|can|could|should|would) one > \1 i
    in order to > to
    (?:get|gets|got|getting) (\w+ed) > \1
    (?:by )?using|by means of|with the help of|by use of|via > with
    (?:go|going) about >
    for the (?:purpose|purposes) of > for
    according to the (?:text|book|document|author|speaker|article|talk|lecture|paper|course|
        authors|speakers) >
    (?:the )?(?:date of birth|birthday|birth date|birthdate)(?: of)? > born
    what is (.*)born > WHEN born \1
    (?:sign|signed|signing) up > register
    (?:log|logs|logging|logged|sign|signing|signed) in(?:to)?|login > login
    (?:turn|turns|turned|turning|switch|switched|switching) on > enable
    (?:turn|turns|turned|turning|switch|switched|switching) off > disable
    (?:hand|handed|turn|turned|handing|turning|give|send) in > submit
    (?:pass|passed) away > die
    (?:look|looking|looked) for > search
    (?:set|setting|sets) up > setup
    passwords? reset|reset of (.*)password > reset \1password
    less than > below
    (?:every|a) (minute|hour|day|week|month|year) > per \1
    (?:make|making|made|do|doing|did|perform|complete|completing|execute) (?:a |an |my |the )?
        (?=(?:transfers?|payments?|withdrawals?|deposits?|purchases?|top ups?|exchanges?|
        transactions?|refunds?|cancell?ations?|reservations?|backups?)) >
    topups? > top up
    top (?:ups|upped) > top up
    (?:go|goes|went|gone|going|come|came) through > succeed
    show(?:s|ed|n|ing)? up > appear
    is (.+) (?:required|needed|necessary|mandatory|obligatory)(?: for| to|$) > YES must \1
    (?:do|does|did) (?:i|we|you|one) (?:need|require|have(?= to))(?: to (?:have|get|be|do))?
        (?: to)? > YES must
    must (?:i|we|you|one) > YES must
    should (?:i|we|you|one) > YES should
    (?:can|could|may|might) (?:i|we|you|one) > YES can
    (?:is|are) there (?:a|an|any)? > YES there
"""
"""One to a line, applied from top to bottom; a line that is indented further goes on."""

GROUPS = """
    buy bought buys buying purchase purchased purchasing acquire acquired acquires; start started
    starts starting begin began begun beginning begins commence; end ended ends ending finish
    finished finishes; create created creates creating generate generated build built building
    produce produced produces producing manufacture manufactured make makes made making; fix fixed
    repair repaired; solve solved solution resolve resolved; big large huge; biggest largest;
    smallest tiniest; small little tiny; fast quick rapid speedy; faster quicker; fastest
    quickest; hard difficult tough; easy simple; important essential crucial; main primary
    principal chief; error mistake; problem issue trouble difficulty difficulties; advantage
    advantages benefit benefits upside upsides pros; disadvantage disadvantages drawback drawbacks
    downside downsides cons; use used uses using utilise utilize; he him his; she her hers; get
    got gets getting obtain obtained receive received receiving recieve; send sent sends sending
    mail mailed mailing; deliver delivered delivery deliveries delivering; must need needs needed
    require requires required requirement requirements necessary; cost costs price prices priced
    fee fees charge charges charged charging; pay paid pays paying payment payments; withdraw
    withdrew withdrawn withdrawal withdrawals withdrawl; verify verified verification verifying;
    activate activated activation activating; install installed installation installing; cancel
    cancelled canceled cancelling canceling cancellation; conclude concluded conclusion
    conclusions; recommend recommended recommends recommendation recommendations suggest suggested
    suggests advise advised advice; transfer transfers transferred transferring; job jobs
    employment; work works worked working; car cars automobile automobiles vehicle vehicles; film
    films movie movies; talk talks presentation presentations; write wrote written writes author
    authors; invent invented inventor; found founded founder founders founds; discover discovered
    discoverer discovers; win won winner winning wins; happen happens happened happening; change
    changes changed changing modify modified alter altered edit edited; delete deleted deleting
    remove removed removing erase erased; close closed closing terminate terminated; choose chose
    chosen choosing select selected pick picked; say said says saying remark remarks remarked
    mention mentioned mentions; think thinks thought opinion opinions view views; compute computes
    computed calculate calculated calculation computation; connect connected connecting link
    linked; contact contacted reach; avoid avoided prevent prevented; increase increased raise
    raised; decrease decreased reduce reduced lower lowered; contain contains include includes
    included; store stored keep kept save saved retain retained; topic subject theme; title name;
    differ difference differences different differs; backup backups; event events; phone phones
    mobile cellphone smartphone; password passwords passcode passcodes; id identity
    identification; wrong incorrect incorrectly wrongly inaccurate; decline declined declining
    reject rejected deny denied refuse refused; lose lost losing; steal stole stolen; shop shops
    store shopping; encounter encountered face faced; collect collected gather gathered; choose
    choosing; broken break broke; arrive arrives arrived arriving arrival; learn learnt learned;
    teach taught; expire expires expired expiring expiry; exchange exchanged exchanging; refund
    refunded refunds reimburse reimbursed reimbursement; support supports supported; train trained
    training; borrow borrowed; assemble assembly; limit limits maximum cap; accuracy accurate;
    stay stays stayed remain remains remained; apply application applications applied; begin
    beginning; bring brought; take took taken takes; find finds found finding; mainly mostly;
    extra additional; abroad oversea overseas; show shows showing shown appear appears appeared
    appearing; info information detail details; answer answers response reply replies; picture
    image photo photograph pictures images photos photographs; trip journey voyage; child kid
    children kids; doctor physician; disease illness diseases illnesses; country nation countries
    nations; rule regulation rules regulations; method technique approach methods techniques
    approaches; goal aim objective goals aims objectives; result outcome results outcomes; effect
    impact influence consequence effects impacts consequences; feature characteristic trait
    property features characteristics traits properties; stage phase stages phases; staff
    employees personnel employee; client customer clients customers; supplier vendor suppliers
    vendors; vacation holiday holidays; profession occupation; exam examination exams
    examinations; website site websites sites; folder directory folders directories; config
    configuration configure configured setup configuring; documentation docs; database db
    databases; repository repo repositories; maths math mathematics; lab laboratory labs; allow
    permit allows permits allowed permitted; try attempt tried tries trying attempted; complete
    completed completing; evaluate assess evaluated assessed evaluation assessment; improve
    enhance improved enhanced improves; merge combine merged combined; protect safeguard
    protected; replace substitute replaced; split divide divided; submit submitted submitting
    submission; live reside lives lived residing; die died dies death; rent hire rented hired;
    enroll enrol register registered registration enrolled registering; dangerous hazardous;
    expensive costly; cheap inexpensive; famous renowned; rich wealthy; latest newest; entire
    whole; common usual typical; suitable appropriate; sick ill; clever smart intelligent; strange
    odd weird; enough sufficient; worried concerned; search searched searching searches; speak
    spoke speaks spoken speaking; grow grew grown grows; sell sold sells selling; explain explains
    explained; describe describes described; define defined defines definition; introduce
    introduced introduces; develop developed develops development; translate translated
    translation; enable enabled enabling; disable disabled disabling deactivate deactivated; born
    birth; exist existence; visit visited visiting; reset resetting resets; city town; risk risks
    danger dangers; firm company business companies firms businesses; boss chief; earn earned
    earns; measure measured measurement; belong belongs; cancel cancels; auto automatic
    automatically
"""
"""Words of which any may stand for any other in a question."""
