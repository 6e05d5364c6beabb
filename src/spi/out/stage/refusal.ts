import type { MessageOutcome } from './transport.ts'

export type Refusal = Extract<MessageOutcome, { kind: 'refused' }>

/** The interface refused the message, and would refuse the same again. */
const refusedCode = 'refused_by_interface'
/** The interface refused us, not the message: a problem of certificates or admission; the message may be sound. */
export const accessRefusedCode = 'access_refused'

export const isAccessRefused = ({ status }: Pick<Refusal, 'status'>): boolean =>
  status === 401 || status === 403

/** The `error_code` of a message that FAILED this way, and of its dead letter. */
export const refusalCodeOf = (refusal: Refusal): string =>
  isAccessRefused(refusal) ? accessRefusedCode : refusedCode

/** The last part of the problem's type names it: `https://icom…/error/forbidden`. */
export const refusalText = ({ status, problem }: Refusal): string =>
  `${status} ${problem.type.slice(problem.type.lastIndexOf('/') + 1).slice(0, 64)}`.trimEnd()
