import type { MessageOutcome } from './transport.ts'

export type Refusal = Extract<MessageOutcome, { kind: 'refused' }>

/** The message was refused: the same would be refused again. */
const refusedCode = 'refused_by_interface'
/** Whoever sends was refused: an outage of certificates or admission, and the message itself may be sound. */
export const accessRefusedCode = 'access_refused'

export const isAccessRefused = ({ status }: Pick<Refusal, 'status'>): boolean =>
  status === 401 || status === 403

/** The `error_code` of a message that FAILED so, and of its dead letter. */
export const refusalCodeOf = (refusal: Refusal): string =>
  isAccessRefused(refusal) ? accessRefusedCode : refusedCode

/** The last part of the problem's type names it: `https://icom…/error/forbidden`. */
export const refusalText = ({ status, problem }: Refusal): string =>
  `${status} ${problem.type.slice(problem.type.lastIndexOf('/') + 1).slice(0, 64)}`.trimEnd()
