/** The inputs and outputs of an operation of the DICT API. */

import { demandText, type Element, nodeAt } from '#codecs/dict'
import { ispbForm } from '#codecs/taxpayer'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import type { DirectoryBook } from './book.ts'
import type { CidFiles } from './cid-files.ts'
import type { DirectoryClaims } from './claims.ts'
import type { Fault, FaultPlan } from './faults.ts'
import type { Infractions } from './infractions.ts'
import type { PlainPolicy, Policies } from './policies.ts'
import type { Refunds } from './refunds.ts'
import { Refusal } from './refusal.ts'
import type { SignatureCheck } from './signatures.ts'

export type Asked = {
  readonly method: string
  /** Scheme, host and port that it was asked under. */
  readonly origin: string
  /** The path without the version: `/entries/x`. */
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
  /** Does the due acts on claims of the institutions that the simulator plays. */
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

/** The asking participant, by its header. @throws Refusal */
export const askerOf = ({ header }: Asked, { policies }: Deps, policy: PlainPolicy): string => {
  const participant = header('PI-RequestingParticipant')
  if (!ispbForm.test(participant)) throw new Refusal('BadRequest')
  policies.take(policy, participant)
  return participant
}

/** The participant whose list is asked for. @throws Refusal */
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

/**
 * Takes a token of its participant.
 * @param at where it names its participant
 * @throws Refusal unless the body is a document of that name that its participant signed
 */
export const readRequest = (
  { body }: Asked,
  { checkSignature, policies }: Deps,
  name: string,
  policy: PlainPolicy,
  at = 'Participant',
) => {
  const document = scanned(body)
  const { root } = document
  if (document.localName(root) !== name) throw new Refusal('BadRequest', `not a ${name}`)
  const participant = demandText(document, root, at, ispbForm)
  if (checkSignature !== undefined && !checkSignature(document, participant)) {
    throw new Refusal('RequestSignatureInvalid')
  }
  policies.take(policy, participant)
  /** @throws CodecError if there is none */
  const textOf = (path: string): string => demandText(document, root, path)
  /** @throws Refusal if it says another */
  const requireSame = (path: string, text: string): void => {
    if (textOf(path) !== text) throw new Refusal('BadRequest', `${path} differs`)
  }
  return { document, root, participant, textOf, requireSame }
}

type Request = ReturnType<typeof readRequest>

/** The part that a body is about. @throws Refusal */
export const partOf = ({ document, root }: Request, name: string): number => {
  const node = nodeAt(document, root, name)
  if (node === undefined) throw new Refusal('BadRequest', `${name} is missing`)
  return node
}

/** Acts on records of a kind: each names the record of its path, and who acts. */
export const actingOn =
  (kind: string, policy: PlainPolicy) =>
  (
    act: string,
    perform: (id: string, request: Request, deps: Deps) => readonly Element[],
  ): Operation =>
  (asked, [id = ''], deps) => {
    const request = readRequest(asked, deps, `${act}${kind}Request`, policy)
    request.requireSame(`${kind}Id`, id)
    return { status: 200, name: `${act}${kind}Response`, elements: perform(id, request, deps) }
  }

/** A moment of the query in milliseconds since the epoch. @throws Refusal */
export const momentIn = (query: URLSearchParams, name: string, missing: number): number => {
  const text = query.get(name)
  const at = text === null ? missing : Date.parse(text)
  if (Number.isNaN(at)) throw new Refusal('BadRequest', `${name} is no moment`)
  return at
}

/** A list that is late does not know yet what happened within this time. */
const lateMs = 60_000

/** Until when a list knows what happened. */
export const knownUntilMs = ({ faults, now }: Deps, operation: Fault['operation']): number =>
  faults.strike(['late_list'], operation) === undefined ? Number.MAX_SAFE_INTEGER : now() - lateMs

/** Whether a list says that it goes on, whatever there is. */
export const goesOn = ({ faults }: Deps, operation: Fault['operation']): boolean =>
  faults.strike(['repeated_list'], operation) !== undefined

const scanned = (body: Uint8Array): XmlDocument => {
  try {
    return scanner.scan(body)
  } catch {
    throw new Refusal('BadRequest', 'Could not parse request body')
  }
}
