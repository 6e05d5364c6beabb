import {
  type Claim,
  type ClaimRequest,
  claimElement,
  type Element,
  momentText,
  nodeAt,
  readClaim,
  readPage,
} from '#codecs/dict'
import type { XmlDocument } from '#codecs/xml'
import { DirectoryAwayError } from '../exchange.ts'
import { type DirectoryList, listRequest } from '../lists.ts'
import type { Lane } from '../wire.ts'
import { isDone, type Role, standingOf, type Wish } from './domain.ts'

type Told = {
  readonly kind: 'told'
  readonly claim: Claim
  /** Since when the key is its owner's, as the entry says that the completion has made. */
  readonly ownedSince: string | undefined
}

/** As a list of the directory shows it. */
export type ListedClaim = Claim & { readonly modifiedMs: number }

/** The next round reads the pages beyond these: the directory allows forty a minute. */
export const claimPagesMax = 20

/** Lists show a change late, and the two clocks differ. */
export const overlapMs = 120_000

const nouns = {
  acknowledge: 'Acknowledge',
  confirm: 'Confirm',
  cancel: 'Cancel',
  complete: 'Complete',
} as const

/** Claims of the DICT API. @throws DirectoryAwayError where nothing usable comes back: it may have been done */
export const createClaimCalls = ({ tell, see }: Lane, ispb: string) => ({
  open: (asked: ClaimRequest) => {
    const body: Element = ['CreateClaimRequest', [claimElement(asked)]]
    return tell('create_claim', { method: 'POST', path: '/claims/', body }, (document) => {
      const told = toldIn(document, undefined)
      const { type, key, account } = told.claim
      if (type === asked.type && key === asked.key && account.participant === ispb) return told
      throw new DirectoryAwayError('document', 'the answer is about another claim')
    })
  },
  /** @param requestId of the entry that a completion makes */
  act: (claimId: string, wish: Wish, requestId: string) => {
    if (wish.act === 'open') throw new Error('a claim that has an id is open')
    const { act } = wish
    const body: Element = [
      `${nouns[act]}ClaimRequest`,
      [
        ['ClaimId', claimId],
        ['Participant', ispb],
        ['Reason', 'reason' in wish ? wish.reason : undefined],
        ['RequestId', act === 'complete' ? requestId : undefined],
      ],
    ]
    const path = `/claims/${claimId}/${act}`
    return tell(`${act}_claim`, { method: 'POST', path, body }, (document): Told => {
      const told = toldIn(document, claimId)
      if (!isDone(wish, standingOf(told.claim).status)) {
        throw new DirectoryAwayError('document', 'the answer says that it was not done')
      }
      if (act !== 'complete') return told
      const ownedSince = momentText.read(document, document.root, 'KeyOwnershipDate')
      return { ...told, ownedSince }
    })
  },
  find: (claimId: string) =>
    see('get_claim', { path: `/claims/${claimId}` }, (document) => toldIn(document, claimId)),
  list: (role: Role): DirectoryList<ListedClaim> => ({
    name: `claims_${role}`,
    ask: (query) => {
      const side = { [role === 'donor' ? 'IsDonor' : 'IsClaimer']: 'true' }
      return see('list_claims', listRequest('/claims/', ispb, query, side), (document) => ({
        kind: 'page',
        page: readPage(document, { list: 'Claims', item: 'Claim' }, listedIn),
      }))
    },
  }),
})

export type ClaimCalls = ReturnType<typeof createClaimCalls>

/** @throws DirectoryAwayError if it is about another claim */
const toldIn = (document: XmlDocument, claimId: string | undefined): Told => {
  const claim = readClaim(document, nodeAt(document, document.root, 'Claim') ?? document.root)
  if (claimId === undefined || claim.id === claimId) {
    return { kind: 'told', claim, ownedSince: undefined }
  }
  throw new DirectoryAwayError('document', 'the answer is about another claim')
}

const listedIn = (document: XmlDocument, node: number): ListedClaim => {
  const claim = readClaim(document, node)
  return { ...claim, modifiedMs: Date.parse(claim.modifiedAt) }
}
