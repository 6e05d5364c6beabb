import type { Draft } from './builder.ts'
import { type Piece, template } from './template.ts'

const assignmentTemplate = template(`
  <Assgnmt>
    <Id>{id}</>
    <Assgnr/Agt/FinInstnId/ClrSysMmbId/MmbId>{from}</><Assgne/Agt/FinInstnId/ClrSysMmbId/MmbId>{to}</>
    <CreDtTm>{created}</>
  </>`)

/** `Assgnmt` of the messages about cancellations: who writes to whom. */
export const assignment = ({ ispb, messageId, created }: Draft, to: string): Piece =>
  assignmentTemplate({ id: messageId, from: ispb, to, created })
