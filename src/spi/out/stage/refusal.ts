import type { MessageOutcome } from './transport.ts'

export type Refusal = Extract<MessageOutcome, { kind: 'refused' }>

/** The `error_code` of a message that the interface refused, and would refuse again, and of its dead letter. */
export const refusedCode = 'refused_by_interface'

/** The interface refused us, not the message: a problem of certificates or admission; the message may be sound. */
export const isAccessRefused = ({ status }: Pick<Refusal, 'status'>): boolean =>
  status === 401 || status === 403

/** The last part of the problem's type names it: `https://icom…/error/forbidden`. */
export const refusalText = ({ status, problem }: Refusal): string =>
  `${status} ${problem.type.slice(problem.type.lastIndexOf('/') + 1).slice(0, 64)}`.trimEnd()
