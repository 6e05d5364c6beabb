/** The operations of the DICT API on claims. */
import {
  claimElement,
  claimStatuses,
  claimTypes,
  type Element,
  readClaimRequest,
} from '#codecs/dict'
import {
  actingOn,
  askerOf,
  goesOn,
  knownUntilMs,
  limitOf,
  listedFor,
  momentIn,
  type Offered,
  type Operation,
  partOf,
  readRequest,
} from './operation.ts'
import { Refusal } from './refusal.ts'

const limitDefault = 20

const openClaim: Operation = (asked, _, deps) => {
  const at = 'Claim/ClaimerAccount/Participant'
  const request = readRequest(asked, deps, 'CreateClaimRequest', 'CLAIMS_WRITE', at)
  const claim = deps.claims.open(readClaimRequest(request.document, partOf(request, 'Claim')))
  return { status: 201, name: 'CreateClaimResponse', elements: [claimElement(claim)] }
}

const getClaim: Operation = (asked, [id = ''], deps) => {
  const participant = askerOf(asked, deps, 'CLAIMS_READ')
  const claim = deps.claims.find(id, participant)
  return { status: 200, name: 'GetClaimResponse', elements: [claimElement(claim)] }
}

const flagOf = (text: string | null): boolean | undefined => {
  if (text === null) return undefined
  if (text !== 'true' && text !== 'false') throw new Refusal('BadRequest', 'not true or false')
  return text === 'true'
}

/** @throws Refusal for a word that is not known */
const wordsOf = <T extends string>(texts: readonly string[], words: readonly T[]): readonly T[] =>
  texts.flatMap((text) => {
    const known = words.find((word) => word === text)
    if (known === undefined) throw new Refusal('BadRequest', `${text} is not known`)
    return [known]
  })

const listClaims: Operation = (asked, _, deps) => {
  const { claims, policies } = deps
  const { query } = asked
  const participant = listedFor(asked)
  const [isDonor, isClaimer] = [flagOf(query.get('IsDonor')), flagOf(query.get('IsClaimer'))]
  const hasRole = isDonor !== isClaimer
  policies.take(hasRole ? 'CLAIMS_LIST_WITH_ROLE' : 'CLAIMS_LIST_WITHOUT_ROLE', participant)
  const { claims: found, hasMore } = claims.list({
    participant,
    isDonor,
    isClaimer,
    statuses: wordsOf(query.getAll('Status'), claimStatuses),
    type: wordsOf(query.getAll('Type'), claimTypes)[0],
    afterMs: momentIn(query, 'ModifiedAfter', Number.NEGATIVE_INFINITY),
    beforeMs: Math.min(
      momentIn(query, 'ModifiedBefore', Number.POSITIVE_INFINITY),
      knownUntilMs(deps, 'claim'),
    ),
    limit: limitOf(query.get('Limit'), limitDefault),
  })
  const elements: readonly Element[] = [
    ['HasMoreElements', String(goesOn(deps, 'claim') || hasMore)],
    ['Claims', found.map(claimElement)],
  ]
  return { status: 200, name: 'ListClaimsResponse', elements }
}

const actOnClaim = actingOn('Claim', 'CLAIMS_WRITE')

const acknowledge = actOnClaim('Acknowledge', (id, { participant }, { claims }) => [
  claimElement(claims.acknowledge(id, participant)),
])

const confirm = actOnClaim('Confirm', (id, { participant, textOf }, { claims }) => [
  claimElement(claims.confirm(id, participant, textOf('Reason'))),
])

const cancel = actOnClaim('Cancel', (id, { participant, textOf }, { claims }) => [
  claimElement(claims.cancel(id, participant, textOf('Reason'))),
])

const complete = actOnClaim('Complete', (id, { participant, textOf }, { claims }) => {
  const { claim, kept } = claims.complete(id, participant, textOf('RequestId'))
  return [
    claimElement(claim),
    ['EntryCreationDate', kept.entry.createdAt],
    ['KeyOwnershipDate', kept.entry.ownedSince],
  ]
})

export const claimOperations: readonly Offered[] = [
  ['POST', /^\/claims\/$/, openClaim],
  ['GET', /^\/claims\/$/, listClaims],
  ['GET', /^\/claims\/([0-9a-f-]{36})$/, getClaim],
  ['POST', /^\/claims\/([0-9a-f-]{36})\/acknowledge$/, acknowledge],
  ['POST', /^\/claims\/([0-9a-f-]{36})\/confirm$/, confirm],
  ['POST', /^\/claims\/([0-9a-f-]{36})\/cancel$/, cancel],
  ['POST', /^\/claims\/([0-9a-f-]{36})\/complete$/, complete],
]
