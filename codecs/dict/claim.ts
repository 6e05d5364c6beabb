import { CodecError } from '#codecs/bytes'
import type { XmlDocument } from '#codecs/xml'
import type { DirectoryEntry, KeyType } from './cid.ts'
import {
  accountElement,
  keyForm,
  momentForm,
  personElement,
  readAccount,
  readKeyType,
  readPerson,
} from './entry.ts'
import { demandText, type Element, textAt } from './markup.ts'

// Source: DICT API, schemas Claim and ExtendedClaim.

export const claimTypes = ['OWNERSHIP', 'PORTABILITY'] as const
export type ClaimType = (typeof claimTypes)[number]

export const claimStatuses = [
  ...(['OPEN', 'WAITING_RESOLUTION', 'CONFIRMED', 'CANCELLED', 'COMPLETED'] as const),
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

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ispbForm = /^[0-9A-Z]{8}$/
const reasonForm = /^[A-Z_]{1,40}$/
const sideForm = /^(?:DONOR|CLAIMER)$/

export const claimElement = (claim: ClaimRequest | Claim): Element => [
  'Claim',
  [
    ['Type', claim.type],
    ['Key', claim.key],
    ['KeyType', claim.keyType],
    accountElement('ClaimerAccount', claim.account, claim.openedAt),
    personElement('Claimer', claim.claimer),
    ...('id' in claim ? standingOf(claim) : []),
  ],
]

const standingOf = (claim: Claim): readonly Element[] => [
  ['DonorParticipant', claim.donor],
  ['Id', claim.id],
  ['Status', claim.status],
  ['ResolutionPeriodEnd', claim.resolutionEndsAt],
  ['CompletionPeriodEnd', claim.completionEndsAt],
  ['LastModified', claim.modifiedAt],
  ['ConfirmReason', claim.confirmReason],
  ['CancelReason', claim.cancelReason],
  ['CancelledBy', claim.cancelledBy],
]

/** @throws CodecError `dict_document` for a word that is not known here */
const wordAt = <T extends string>(
  document: XmlDocument,
  node: number,
  path: string,
  words: readonly T[],
): T => {
  const text = demandText(document, node, path)
  const known = words.find((word) => word === text)
  if (known !== undefined) return known
  throw new CodecError('dict_document', document.start(node), `${path} is none that we know`)
}

const optional = (
  document: XmlDocument,
  node: number,
  path: string,
  form: RegExp,
): string | undefined =>
  textAt(document, node, path) === undefined ? undefined : demandText(document, node, path, form)

/** @param node - the Claim. @throws CodecError `dict_document` */
export const readClaimRequest = (document: XmlDocument, node: number): ClaimRequest => ({
  type: wordAt(document, node, 'Type', claimTypes),
  keyType: readKeyType(document, node, 'KeyType'),
  key: demandText(document, node, 'Key', keyForm),
  ...readAccount(document, node, 'ClaimerAccount'),
  claimer: readPerson(document, node, 'Claimer'),
})

/** @param node - the Claim. @throws CodecError `dict_document` */
export const readClaim = (document: XmlDocument, node: number): Claim => ({
  ...readClaimRequest(document, node),
  id: demandText(document, node, 'Id', idForm),
  donor: demandText(document, node, 'DonorParticipant', ispbForm),
  status: wordAt(document, node, 'Status', claimStatuses),
  resolutionEndsAt: demandText(document, node, 'ResolutionPeriodEnd', momentForm),
  completionEndsAt: optional(document, node, 'CompletionPeriodEnd', momentForm),
  modifiedAt: demandText(document, node, 'LastModified', momentForm),
  confirmReason: optional(document, node, 'ConfirmReason', reasonForm),
  cancelReason: optional(document, node, 'CancelReason', reasonForm),
  cancelledBy: optional(document, node, 'CancelledBy', sideForm),
})
