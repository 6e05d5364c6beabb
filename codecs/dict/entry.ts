import { CodecError } from '#codecs/bytes'
import { taxIdForm } from '#codecs/taxpayer'
import type { XmlDocument } from '#codecs/xml'
import type { DirectoryEntry, KeyType } from './cid.ts'
import { demandText, type Element, nodeAt, textAt } from './markup.ts'
import {
  elementsOf,
  type Fields,
  ispb,
  momentText,
  oneOf,
  optional,
  readFields,
  text,
} from './values.ts'

// Source: DICT API 2.12.1, schemas Entry, BrazilianAccount, NaturalPerson and LegalPerson.

export const keyTypes = [
  'CPF',
  'CNPJ',
  'PHONE',
  'EMAIL',
  'EVP',
] as const satisfies readonly KeyType[]

/** An entry as a participant asks for it. @property openedAt - of the account, ISO 8601 */
export type EntryRequest = Omit<DirectoryEntry, 'key'> & {
  /** Undefined of an EVP, which the directory makes. */
  readonly key: string | undefined
  readonly openedAt: string
}

/** An entry as the directory shows it; moments in ISO 8601. */
export type KeptEntry = DirectoryEntry & {
  readonly openedAt: string
  readonly createdAt: string
  readonly ownedSince: string
  /** When the claim that is under way began. */
  readonly claimedSince: string | undefined
}

const cpfChars = 11
const nameCharsMax = 150
const branchForm = /^[0-9]{1,4}$/
const accountForm = /^[0-9A-Za-z]{1,20}$/
const accountTypeForm = /^[A-Z]{4}$/
const nameForm = new RegExp(`^[^\\p{Cc}]{1,${nameCharsMax}}$`, 'u')
export const keyForm = /^[!-~]{1,77}$/

export const personTypeOf = (taxIdNumber: string): 'NATURAL_PERSON' | 'LEGAL_PERSON' =>
  taxIdNumber.length === cpfChars ? 'NATURAL_PERSON' : 'LEGAL_PERSON'

export const accountElement = (
  name: string,
  account: DirectoryEntry['account'],
  openedAt: string,
): Element => [
  name,
  [
    ['Participant', account.participant],
    ['Branch', account.branch],
    ['AccountNumber', account.accountNumber],
    ['AccountType', account.accountType],
    ['OpeningDate', openedAt],
  ],
]

export const personElement = (name: string, owner: DirectoryEntry['owner']): Element => [
  name,
  [
    ['Type', personTypeOf(owner.taxIdNumber)],
    ['TaxIdNumber', owner.taxIdNumber],
    ['Name', owner.name],
    ['TradeName', owner.tradeName],
  ],
]

export const entryElement = (entry: EntryRequest | KeptEntry): Element => [
  'Entry',
  [
    ['Key', entry.key],
    ['KeyType', entry.keyType],
    accountElement('Account', entry.account, entry.openedAt),
    personElement('Owner', entry.owner),
    ...('createdAt' in entry ? elementsOf(momentFields, entry) : []),
  ],
]

const momentFields: Fields<Omit<KeptEntry, keyof EntryRequest>> = {
  createdAt: ['CreationDate', momentText],
  ownedSince: ['KeyOwnershipDate', momentText],
  claimedSince: ['OpenClaimCreationDate', optional(momentText)],
}

/** @throws CodecError `dict_document` */
export const readAccount = (document: XmlDocument, node: number, path: string) => ({
  account: {
    participant: ispb.read(document, node, `${path}/Participant`),
    branch: optional(text(branchForm)).read(document, node, `${path}/Branch`),
    accountNumber: demandText(document, node, `${path}/AccountNumber`, accountForm),
    accountType: demandText(document, node, `${path}/AccountType`, accountTypeForm),
  },
  openedAt: momentText.read(document, node, `${path}/OpeningDate`),
})

/** @throws CodecError `dict_document` */
export const readPerson = (
  document: XmlDocument,
  node: number,
  path: string,
): DirectoryEntry['owner'] => {
  const taxIdNumber = demandText(document, node, `${path}/TaxIdNumber`, taxIdForm)
  const type = demandText(document, node, `${path}/Type`)
  if (type !== personTypeOf(taxIdNumber)) {
    throw new CodecError('dict_document', document.start(node), `${path}/Type is of another person`)
  }
  const tradeName = textAt(document, node, `${path}/TradeName`)
  return {
    taxIdNumber,
    name: demandText(document, node, `${path}/Name`, nameForm),
    ...(tradeName === undefined ? {} : { tradeName }),
  }
}

/** @throws CodecError `dict_document` for a type that is not known here */
export const readKeyType = (document: XmlDocument, node: number, path: string): KeyType =>
  oneOf(keyTypes).read(document, node, path)

const entryNode = (document: XmlDocument, node: number): number => {
  const found = nodeAt(document, node, 'Entry')
  if (found !== undefined) return found
  throw new CodecError('dict_document', document.start(node), 'Entry is missing')
}

/** Reads a CreateEntryRequest. @throws CodecError `dict_document` */
export const readEntryRequest = (document: XmlDocument, parent: number): EntryRequest => {
  const node = entryNode(document, parent)
  const key = textAt(document, node, 'Key')
  return {
    keyType: readKeyType(document, node, 'KeyType'),
    key: key === undefined || key === '' ? undefined : demandText(document, node, 'Key', keyForm),
    ...readAccount(document, node, 'Account'),
    owner: readPerson(document, node, 'Owner'),
  }
}

/**
 * The entry that an answer of the directory holds.
 *
 * @param parent - the root of the answer
 * @throws CodecError `dict_document`
 */
export const readKeptEntry = (document: XmlDocument, parent: number): KeptEntry => {
  const node = entryNode(document, parent)
  return {
    ...readEntryRequest(document, parent),
    key: demandText(document, node, 'Key', keyForm),
    ...readFields(momentFields, document, node),
  }
}
