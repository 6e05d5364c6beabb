import { CardMessage } from '#codecs/iso8583'
import type { Behaviour, BehaviourName } from './behaviour.ts'
import { answerMtiOf, type Issuer } from './issuer.ts'
import type { Session } from './session.ts'

export type ActionContext = {
  readonly issuer: Issuer
  /** Behaviour drawn by chance for a message that asks for none. */
  readonly drawFault: () => Behaviour | undefined
  readonly lateMs: number
  /** Time that every answer takes, drawn anew for each. */
  readonly latencyMs: () => number
  readonly later: (delayMs: number, action: () => void) => void
  readonly counted: (behaviour: BehaviourName) => void
}

/** The text with its last digit changed. */
const altered = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const kept = text.trimEnd()
  return kept.slice(0, -1) + (kept.endsWith('7') ? '8' : '7')
}

/** A message with the same public content; the card number is left out. */
const copyOf = (message: CardMessage): CardMessage =>
  Object.assign(new CardMessage(), message, { pan: undefined })

/** Does what card, amount or chance ask for; the message is wiped in the end. */
export const act = (
  context: ActionContext,
  session: Session,
  request: CardMessage,
  tpdu: Uint8Array,
): void => {
  if (answerMtiOf(request.mti) === undefined) {
    request.wipe()
    return
  }
  const asked = context.issuer.behaviour(request)
  const behaviour = asked.name === 'approve' ? (context.drawFault() ?? asked) : asked
  context.counted(behaviour.name)
  if (behaviour.name === 'drop_before') {
    request.wipe()
    session.close()
    return
  }
  const answer = context.issuer.decide(request, behaviour)
  request.wipe()
  const answerAfter = (delayMs: number): void => {
    if (delayMs <= 0) session.send(answer, tpdu)
    else context.later(delayMs, () => session.send(answer, tpdu))
  }
  switch (behaviour.name) {
    case 'no_answer':
      answer.wipe()
      return
    case 'drop_after':
      answer.wipe()
      session.close()
      return
    case 'garbage':
      answer.wipe()
      session.sendGarbage()
      return
    case 'late':
      answerAfter(context.lateMs)
      return
    case 'delay':
      answerAfter(behaviour.argument * 10)
      return
    case 'duplicate':
      session.send(copyOf(answer), tpdu)
      break
    case 'wrong_amount':
      answer.amount = altered(answer.amount)
      break
    case 'wrong_rrn':
      answer.rrn = altered(answer.rrn)
      break
    case 'wrong_terminal':
      answer.terminalId = altered(answer.terminalId)
  }
  answerAfter(context.latencyMs())
}
