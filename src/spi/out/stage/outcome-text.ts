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

/** The entry in the history of a message that goes out once more. */
export const sentAgain = 'sent again'

/** The same of one that cannot go out: its bytes cannot be made any more. */
export const sentIsLost = 'not sent again: what was sent is lost'

/** The same, with the result: `sent again: taken by PRIMARY`. */
export const repetitionText = (outcome: MessageOutcome): string =>
  `${sentAgain}: ${outcomeText(outcome)}`

const outcomeText = (outcome: MessageOutcome): string => {
  switch (outcome.kind) {
    case 'accepted':
      return `taken by ${outcome.channel}`
    case 'refused':
      return refusalText(outcome)
    case 'unreachable':
      return 'not reached'
    case 'unknown':
      return 'no clear answer'
  }
}
