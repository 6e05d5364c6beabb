import type { RandomText } from './identifiers.ts'
import type { Params } from './params.ts'
import { type Content, type Piece, template } from './template.ts'

/** What a message needs beyond its parameters. */
export type BuildContext = {
  /** The ISPB of the institution that sends. */
  readonly ispb: string
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** From `createRandomText`; the caller keeps one for as long as it lives. */
  readonly random: RandomText
}

/** Everything that a builder gets: the context, and the message's own id, version and date-time. */
export type Draft = Pick<BuildContext, 'ispb' | 'random'> & {
  readonly version: string
  readonly messageId: string
  readonly created: string
}

/** The content of the element in `Document`, and the ids that find its transactions again. */
type Body = { readonly xml: Content; readonly ids: readonly string[] }

/** Makes a message from the parameters that callers send. */
export type Builder = {
  /** The element that `Document` holds. */
  readonly root: string
  readonly build: (params: Params, draft: Draft) => Body
}

const groupHeaderTemplate = template('<GrpHdr><MsgId>{messageId}</><CreDtTm>{created}</>{more}</>')

/** @param more content behind the id and date-time */
export const groupHeader = ({ messageId, created }: Draft, more?: Content): Piece =>
  groupHeaderTemplate({ messageId, created, more })

const instructing = template('<InstgAgt/FinInstnId/ClrSysMmbId/MmbId>{ispb}</>')

/** `GrpHdr` of messages that answer or end mandates; it names the sender. */
export const mandateHeader = (draft: Draft): Piece =>
  groupHeader(draft, instructing({ ispb: draft.ispb }))

const assignmentTemplate = template(`
  <Assgnmt>
    <Id>{id}</>
    <Assgnr/Agt/FinInstnId/ClrSysMmbId/MmbId>{from}</><Assgne/Agt/FinInstnId/ClrSysMmbId/MmbId>{to}</>
    <CreDtTm>{created}</>
  </>`)

/** `Assgnmt` of the messages about cancellations; it names sender and addressee. */
export const assignment = ({ ispb, messageId, created }: Draft, to: string): Piece =>
  assignmentTemplate({ id: messageId, from: ispb, to, created })
