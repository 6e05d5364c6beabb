import { refusalText } from './refusal.ts'
import type { MessageOutcome } from './transport.ts'

/** The entry in the history of a message that goes out once more. */
export const sentAgain = 'sent again'

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
