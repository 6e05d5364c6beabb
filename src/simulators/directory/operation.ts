/** What an operation of the DICT API is given and gives. */

import { demandText, type Element } from '#codecs/dict'
import { ispbForm } from '#codecs/taxpayer'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import type { DirectoryBook } from './book.ts'
import type { CidFiles } from './cid-files.ts'
import type { DirectoryClaims } from './claims.ts'
import type { FaultPlan } from './faults.ts'
import type { Infractions } from './infractions.ts'
import type { PlainPolicy, Policies } from './policies.ts'
import type { Refunds } from './refunds.ts'
import { Refusal } from './refusal.ts'
import type { SignatureCheck } from './signatures.ts'

export type Asked = {
  readonly method: string
  /** Scheme, host and port that it was asked under. */
  readonly origin: string
  /** Without the version: `/entries/x`. */
  readonly path: string
  readonly query: URLSearchParams
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

export type Deps = {
  readonly book: DirectoryBook
  readonly files: CidFiles
  readonly infractions: Infractions
  readonly refunds: Refunds
  readonly claims: DirectoryClaims
  /** Does what is due for claims of institutions that are played. */
  readonly play: { readonly catchUp: () => void }
  readonly policies: Policies
  readonly faults: FaultPlan
  /** Undefined: signatures are not asked for. */
  readonly checkSignature: SignatureCheck | undefined
  readonly cacheSeconds: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Told of every lookup that found something. */
  readonly onLookup: (
    endToEndId: string,
    by: { readonly participant: string; readonly payer: string; readonly kind: string },
  ) => void
}

/** @throws Refusal */
export type Operation = (asked: Asked, params: readonly string[], deps: Deps) => Done

/** By its method and path. */
export type Offered = readonly [method: string, path: RegExp, operation: Operation]

const scanner = createXmlScanner()

/** Who asks, by its header. @throws Refusal */
export const askerOf = ({ header }: Asked, { policies }: Deps, policy: PlainPolicy): string => {
  const participant = header('PI-RequestingParticipant')
  if (!ispbForm.test(participant)) throw new Refusal('BadRequest')
  policies.take(policy, participant)
  return participant
}

/** Whose list is asked for. @throws Refusal */
export const listedFor = ({ query }: Asked): string => {
  const participant = query.get('Participant') ?? ''
  if (!ispbForm.test(participant)) throw new Refusal('BadRequest', 'Participant is malformed')
  return participant
}

/** Elements of a list at most. */
export const listedMax = 200

/** @throws Refusal */
export const limitOf = (text: string | null, otherwise: number): number => {
  const limit = Number(text ?? otherwise)
  if (Number.isInteger(limit) && limit >= 1 && limit <= listedMax) return limit
  throw new Refusal('BadRequest', 'Limit is out of range')
}

/** @throws Refusal unless the body is a document of that name that its participant signed */
export const readRequest = (
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

export type Request = ReturnType<typeof readRequest>

/** A body that names the record of its path, and who acts. @throws Refusal */
export const readAct = (
  asked: Asked,
  deps: Deps,
  { name, idAt, id, policy }: { name: string; idAt: string; id: string; policy: PlainPolicy },
): Request => {
  const request = readRequest(asked, name, 'Participant', deps)
  deps.policies.take(policy, request.participant)
  if (demandText(request.document, request.root, idAt) !== id) {
    throw new Refusal('BadRequest', `${idAt} differs`)
  }
  return request
}

/** A moment of the query in milliseconds since the epoch. @throws Refusal */
export const momentIn = (query: URLSearchParams, name: string, missing: number): number => {
  const text = query.get(name)
  const at = text === null ? missing : Date.parse(text)
  if (Number.isNaN(at)) throw new Refusal('BadRequest', `${name} is no moment`)
  return at
}

const scanned = (body: Uint8Array): XmlDocument => {
  try {
    return scanner.scan(body)
  } catch {
    throw new Refusal('BadRequest', 'Could not parse request body')
  }
}
