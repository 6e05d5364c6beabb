import { refusalText } from './refusal.ts'
import type { MessageOutcome } from './transport.ts'

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
