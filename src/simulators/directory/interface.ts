/** The operations of the DICT API that the simulator has. */

import { pixKeyKind } from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import {
  demandText,
  type Element,
  entryElement,
  nodeAt,
  readAccount,
  readEntryRequest,
  readKeyType,
  readPerson,
  textAt,
} from '#codecs/dict'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import type { DirectoryBook } from './book.ts'
import type { Policies } from './policies.ts'
import { Refusal } from './refusal.ts'
import type { SignatureCheck } from './signatures.ts'

export type Asked = {
  readonly method: string
  /** Without the version: `/entries/x`. */
  readonly path: string
  readonly header: (name: string) => string
  readonly body: Uint8Array
}

/** The root of an answer without what all answers have. */
export type Done = {
  readonly status: number
  readonly name: string
  readonly elements: readonly Element[]
  readonly headers?: Readonly<Record<string, string>>
}

type Deps = {
  readonly book: DirectoryBook
  readonly policies: Policies
  /** Undefined: signatures are not asked for. */
  readonly checkSignature: SignatureCheck | undefined
  readonly cacheSeconds: number
  /** Told of every lookup that found something. */
  readonly onLookup: (
    endToEndId: string,
    by: { readonly participant: string; readonly payer: string; readonly kind: string },
  ) => void
}

type Operation = (asked: Asked, params: readonly string[], deps: Deps) => Done

const scanner = createXmlScanner()
const ispbForm = /^[0-9A-Z]{8}$/
const payerForm = /^(?:[0-9]{11}|[0-9A-Z]{12}[0-9]{2})$/
const endToEndForm = /^E[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/

/** @throws Refusal unless the body is a document of that name that its participant signed */
const readRequest = (
  { body }: Asked,
  name: string,
  participantAt: string,
  { checkSignature }: Deps,
): { readonly document: XmlDocument; readonly root: number; readonly participant: string } => {
  const document = scanned(body)
  const { root } = document
  if (document.localName(root) !== name) throw new Refusal('BadRequest', `not a ${name}`)
  const participant = demandText(document, root, participantAt, ispbForm)
  if (checkSignature !== undefined && !checkSignature(document, participant)) {
    throw new Refusal('RequestSignatureInvalid')
  }
  return { document, root, participant }
}

const scanned = (body: Uint8Array): XmlDocument => {
  try {
    return scanner.scan(body)
  } catch {
    throw new Refusal('BadRequest', 'Could not parse request body')
  }
}

const getEntry: Operation = ({ header }, [key = ''], deps) => {
  const { book, policies } = deps
  const participant = header('PI-RequestingParticipant')
  const payer = header('PI-PayerId')
  const endToEndId = header('PI-EndToEndId')
  if (!ispbForm.test(participant) || !payerForm.test(payer) || !endToEndForm.test(endToEndId)) {
    throw new Refusal('BadRequest', 'A header is missing or malformed')
  }
  const kind = pixKeyKind(key)?.toUpperCase()
  if (kind === undefined) throw new Refusal('BadRequest', 'Key is malformed')
  policies.beforeLookup(participant, payer, kind)
  const kept = book.find(key)
  policies.afterLookup(participant, payer, kind, kept !== undefined)
  if (kept === undefined) {
    throw new Refusal('NotFound', 'Entry associated with given key does not exist')
  }
  if (kept.entry.account.participant === participant) {
    throw new Refusal('EntryCannotBeQueriedForBookTransfer')
  }
  deps.onLookup(endToEndId, { participant, payer, kind })
  return {
    ...{ status: 200, name: 'GetEntryResponse', elements: [entryElement(kept.entry)] },
    headers: { 'Cache-Control': `private, max-age=${deps.cacheSeconds}` },
  }
}

const createEntry: Operation = (asked, _, deps) => {
  const at = 'Entry/Account/Participant'
  const { document, root, participant } = readRequest(asked, 'CreateEntryRequest', at, deps)
  deps.policies.take('ENTRIES_WRITE', participant)
  const { entry } = deps.book.create(
    readEntryRequest(document, root),
    demandText(document, root, 'Reason'),
    demandText(document, root, 'RequestId'),
  )
  return { status: 201, name: 'CreateEntryResponse', elements: [entryElement(entry)] }
}

const updateEntry: Operation = (asked, [key = ''], deps) => {
  const at = 'Account/Participant'
  const { document, root, participant } = readRequest(asked, 'UpdateEntryRequest', at, deps)
  deps.policies.take('ENTRIES_UPDATE', participant)
  if (demandText(document, root, 'Key') !== key) throw new Refusal('BadRequest', 'Key differs')
  const owner = nodeAt(document, root, 'Owner') !== undefined
  const { entry } = deps.book.update(
    key,
    {
      ...readAccount(document, root, 'Account'),
      owner: owner ? readPerson(document, root, 'Owner') : ownerOf(key, deps),
    },
    demandText(document, root, 'Reason'),
  )
  return { status: 200, name: 'UpdateEntryResponse', elements: [entryElement(entry)] }
}

const ownerOf = (key: string, { book }: Deps) => {
  const kept = book.find(key)
  if (kept === undefined) throw new Refusal('NotFound')
  return kept.entry.owner
}

const deleteEntry: Operation = (asked, [key = ''], deps) => {
  const request = readRequest(asked, 'DeleteEntryRequest', 'Participant', deps)
  const { document, root, participant } = request
  deps.policies.take('ENTRIES_WRITE', participant)
  if (demandText(document, root, 'Key') !== key) throw new Refusal('BadRequest', 'Key differs')
  deps.book.remove(key, participant, demandText(document, root, 'Reason'))
  return { status: 200, name: 'DeleteEntryResponse', elements: [['Key', key]] }
}

const verifySync: Operation = (asked, _, deps) => {
  const name = 'CreateSyncVerificationRequest'
  const at = 'SyncVerification/Participant'
  const { document, root, participant } = readRequest(asked, name, at, deps)
  deps.policies.take('SYNC_VERIFICATIONS_WRITE', participant)
  const type = readKeyType(document, root, 'SyncVerification/KeyType')
  const theirs = textAt(document, root, 'SyncVerification/ParticipantSyncVerifier') ?? ''
  const result = theirs.toLowerCase() === deps.book.check(participant, type) ? 'OK' : 'NOK'
  const elements: readonly Element[] = [
    ['Id', String(Date.now())],
    ['Participant', participant],
    ['KeyType', type],
    ['ParticipantSyncVerifier', theirs],
    ['Result', result],
  ]
  const verification: Element = ['SyncVerification', elements]
  return { status: 201, name: 'CreateSyncVerificationResponse', elements: [verification] }
}

const getEntryByCid: Operation = ({ header }, [cid = ''], { book, policies }) => {
  const participant = header('PI-RequestingParticipant')
  if (!ispbForm.test(participant)) throw new Refusal('BadRequest')
  policies.take('CIDS_ENTRIES_READ', participant)
  const kept = book.findByCid(cid.toLowerCase())
  if (kept?.entry.account.participant !== participant) throw new Refusal('NotFound')
  const elements: readonly Element[] = [
    ['Cid', kept.cid],
    entryElement(kept.entry),
    ['RequestId', kept.requestId],
  ]
  return { status: 200, name: 'GetEntryByCidResponse', elements }
}

const operations: readonly (readonly [string, RegExp, Operation])[] = [
  ['GET', /^\/entries\/([^/]+)$/, getEntry],
  ['POST', /^\/entries\/$/, createEntry],
  ['PUT', /^\/entries\/([^/]+)$/, updateEntry],
  ['POST', /^\/entries\/([^/]+)\/delete$/, deleteEntry],
  ['POST', /^\/sync-verifications\/$/, verifySync],
  ['GET', /^\/cids\/entries\/([0-9A-Fa-f]{64})$/, getEntryByCid],
]

/** @throws Refusal */
export const operate = (asked: Asked, deps: Deps): Done => {
  for (const [method, form, operation] of operations) {
    const [matched, ...params] = form.exec(asked.path) ?? []
    if (matched === undefined || method !== asked.method) continue
    try {
      return operation(asked, params.map(decodeURIComponent), deps)
    } catch (error) {
      if (!(error instanceof CodecError || error instanceof URIError)) throw error
      throw new Refusal('BadRequest', error.message)
    }
  }
  throw new Refusal('NotFound', 'No such resource')
}
