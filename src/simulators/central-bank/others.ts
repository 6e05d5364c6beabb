/** Messages that move no money: the bank forwards them to their participant, or answers them. */
import { definitionOf, messageDefinitions } from '#codecs/iso20022'
import { absent } from '#codecs/xml'
import type { OtherMessage, OtherType } from './intake.ts'
import type { Ledger } from './ledger.ts'
import type { Channel } from './options.ts'
import type { Payers } from './payers.ts'
import type { PostOffice } from './post-office.ts'
import {
  accountReport,
  accountStatement,
  echoReport,
  entryNotification,
  partyStatus,
  receipts,
  systemEvent,
} from './replies.ts'
import type { Operation, Settlement } from './settlement.ts'
import { bodyOf, copyOf, textAt } from './tree.ts'
import type { Draft } from './write.ts'

/**
 * Takes a message that moves no money. Forwards it when it is for a participant that reads here; otherwise the bank
 * answers in that participant's place.
 */
export const createOtherMessages =
  (deps: Deps & { readonly post: PostOffice }) =>
  (message: OtherMessage): void => {
    const { post } = deps
    const { type, origin } = message
    const { role } = definitionOf(type).exchange
    const counterparty = role === 'between_participants' ? counterpartyOf(message) : undefined
    if (counterparty !== undefined && post.isRead(counterparty, origin.channel)) {
      post.send(counterparty, origin.channel, forwarded(message))
      return
    }
    for (const draft of answersTo(message, counterparty ?? origin.from, deps)) {
      post.send(origin.from, origin.channel, draft, [origin])
    }
  }

/** The first agent in the message that is not its sender. */
const counterpartyOf = ({ document, agents, origin }: OtherMessage): string | undefined =>
  agents.map((node) => document.textOf(node)).find((ispb) => ispb !== origin.from)

/** The same content under the bank's own MsgId. */
const forwarded = ({ type, version, id, document }: OtherMessage): Draft => {
  const body = bodyOf(document)
  const content = body === absent ? '' : copyOf(document, body)
  return {
    type,
    version,
    content: (header) => content.replace(`>${id}<`, `>${header.id}<`),
  }
}

type Deps = {
  readonly ledger: Ledger
  readonly settlement: Settlement
  readonly payers: Payers
  /** The operation that the bank reports in place of its book's. */
  readonly entryFault: (operation: Operation, channel: Channel) => Operation | undefined
}

/** The types of the bank's own answers to these messages. */
type AnswerType = NonNullable<(typeof messageDefinitions)[OtherType]['exchange']['answeredWith']>

/** How each is written. */
const answers: Readonly<
  Record<
    AnswerType,
    (message: OtherMessage, counterparty: string, deps: Deps) => Draft | readonly Draft[]
  >
> = {
  'pibr.002': ({ document }) => echoReport(document),
  'pain.012': (message, payer, { payers }) => payers.answerMandates(message, payer),
  'pain.014': (message, payer, { payers }) => payers.answerCharges(message, payer),
  'camt.025': ({ document, id }) => receipts(document, id),
  'camt.029': (message, _, { payers }) => payers.answerCancellation(message),
  'camt.054': (message, _, deps) => reportFor(message, deps),
  'reda.016': ({ id }) => partyStatus(id),
  'admi.004': ({ type, id }) => systemEvent(`${type} ${id} recebida`),
}

const answersTo = (message: OtherMessage, counterparty: string, deps: Deps): readonly Draft[] => {
  const { answeredWith } = messageDefinitions[message.type].exchange
  return answeredWith === null ? [] : [answers[answeredWith](message, counterparty, deps)].flat()
}

/** camt.060 names the message that it wants: a camt.054, or one of two others. */
const reportFor = (
  { id: askedBy, document, origin }: OtherMessage,
  { ledger, settlement, entryFault }: Deps,
): Draft => {
  const body = bodyOf(document)
  const account = ledger.open(origin.from)
  switch (textAt(document, body, 'RptgReq/ReqdMsgNmId')) {
    case 'camt.052':
      return accountReport(account, askedBy, textAt(document, body, 'RptgReq/RptgPrd/FrToDt/FrDt'))
    case 'camt.053':
      return accountStatement(account, askedBy)
    default: {
      const asked = textAt(document, body, 'RptgReq/Id')
      const found = settlement.operations().get(asked)
      const isOwn = found?.payer === origin.from || found?.receiver === origin.from
      return entryNotification(
        origin.from,
        { askedBy, asked },
        isOwn ? entryFault(found, origin.channel) : undefined,
      )
    }
  }
}
