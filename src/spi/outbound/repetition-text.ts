import type { MessageOutcome } from './transport.ts'

/** In the history of a message that goes out once more. */
export const sentAgain = 'sent again'

/** The same with what came of it: `sent again: taken by PRIMARY`. */
export const repetitionText = (outcome: MessageOutcome): string =>
  `${sentAgain}: ${outcomeText(outcome)}`

const outcomeText = (outcome: MessageOutcome): string => {
  switch (outcome.kind) {
    case 'accepted':
      return `taken by ${outcome.channel}`
    case 'refused':
      return problemText(outcome)
    case 'unreachable':
      return 'not reached'
    case 'unknown':
      return 'no clear answer'
  }
}

/** The last part of the problem's type names it: `https://icom…/error/forbidden`. */
export const problemText = ({
  status,
  problem,
}: Extract<MessageOutcome, { kind: 'refused' }>): string =>
  `${status} ${problem.type.slice(problem.type.lastIndexOf('/') + 1).slice(0, 64)}`.trimEnd()
