import type { XmlDocument } from '#codecs/xml'
import type { DirectoryEntry, KeyType } from './cid.ts'
import {
  accountElement,
  keyForm,
  personElement,
  readAccount,
  readKeyType,
  readPerson,
} from './entry.ts'
import { demandText, type Element } from './markup.ts'
import {
  elementsOf,
  type Fields,
  id,
  ispb,
  momentText,
  oneOf,
  optional,
  readFields,
  text,
} from './values.ts'

// Source: DICT API, schemas Claim and ExtendedClaim.

export const claimTypes = ['OWNERSHIP', 'PORTABILITY'] as const
export type ClaimType = (typeof claimTypes)[number]

export const claimStatuses = [
  'OPEN',
  'WAITING_RESOLUTION',
  'CONFIRMED',
  'CANCELLED',
  'COMPLETED',
] as const
export type ClaimStatus = (typeof claimStatuses)[number]

/** A claim as the claimer's participant asks for it. @property openedAt - of the account, ISO 8601 */
export type ClaimRequest = {
  readonly type: ClaimType
  readonly keyType: KeyType
  readonly key: string
  readonly account: DirectoryEntry['account']
  readonly openedAt: string
  readonly claimer: DirectoryEntry['owner']
}

/** A claim as the directory shows it; moments in ISO 8601. */
export type Claim = ClaimRequest & {
  readonly id: string
  /** ISPB. */
  readonly donor: string
  readonly status: ClaimStatus
  readonly resolutionEndsAt: string
  /** Claims of ownership have one. */
  readonly completionEndsAt: string | undefined
  readonly modifiedAt: string
  readonly confirmReason: string | undefined
  readonly cancelReason: string | undefined
  readonly cancelledBy: string | undefined
}

const reasonForm = /^[A-Z_]{1,40}$/
const sideForm = /^(?:DONOR|CLAIMER)$/

const standingFields: Fields<Omit<Claim, keyof ClaimRequest>> = {
  donor: ['DonorParticipant', ispb],
  id: ['Id', id],
  status: ['Status', oneOf(claimStatuses)],
  resolutionEndsAt: ['ResolutionPeriodEnd', momentText],
  completionEndsAt: ['CompletionPeriodEnd', optional(momentText)],
  modifiedAt: ['LastModified', momentText],
  confirmReason: ['ConfirmReason', optional(text(reasonForm))],
  cancelReason: ['CancelReason', optional(text(reasonForm))],
  cancelledBy: ['CancelledBy', optional(text(sideForm))],
}

export const claimElement = (claim: ClaimRequest | Claim): Element => [
  'Claim',
  [
    ['Type', claim.type],
    ['Key', claim.key],
    ['KeyType', claim.keyType],
    accountElement('ClaimerAccount', claim.account, claim.openedAt),
    personElement('Claimer', claim.claimer),
    ...('id' in claim ? elementsOf(standingFields, claim) : []),
  ],
]

/** @param node - the Claim. @throws CodecError `dict_document` */
export const readClaimRequest = (document: XmlDocument, node: number): ClaimRequest => ({
  type: oneOf(claimTypes).read(document, node, 'Type'),
  keyType: readKeyType(document, node, 'KeyType'),
  key: demandText(document, node, 'Key', keyForm),
  ...readAccount(document, node, 'ClaimerAccount'),
  claimer: readPerson(document, node, 'Claimer'),
})

/** @param node - the Claim. @throws CodecError `dict_document` */
export const readClaim = (document: XmlDocument, node: number): Claim => ({
  ...readClaimRequest(document, node),
  ...readFields(standingFields, document, node),
})
