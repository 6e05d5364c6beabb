/** What becomes of messages that move no money: sent on to the participant they are for, or answered. */
import { absent } from '#codecs/xml'
import type { OtherMessage } from './intake.ts'
import type { Ledger } from './ledger.ts'
import type { PostOffice } from './post-office.ts'
import {
  accountReport,
  accountStatement,
  activationReport,
  cancellationReport,
  echoReport,
  entryNotification,
  mandateReport,
  partyStatus,
  receipts,
  systemEvent,
} from './replies.ts'
import type { Settlement } from './settlement.ts'
import { bodyOf, copyOf, textAt } from './tree.ts'
import type { Draft } from './write.ts'

/** Between participants; the bank only passes them on. */
const betweenParticipants = new Set<string>([
  'pain.009',
  'pain.011',
  'pain.012',
  'pain.013',
  'pain.014',
  'camt.029',
  'camt.055',
])

/** Refusals and notices: nobody answers them. */
const unanswered = new Set<string>(['admi.002', 'admi.004'])

/**
 * Takes a message of any other type. One for a participant that reads here is sent on to it; for any other
 * participant the bank itself answers, and accepts.
 */
export const createOtherMessages =
  (deps: { readonly ledger: Ledger; readonly post: PostOffice; readonly settlement: Settlement }) =>
  (message: OtherMessage): void => {
    const { post } = deps
    const { type, origin } = message
    const counterparty = betweenParticipants.has(type) ? counterpartyOf(message) : undefined
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

const answersTo = (
  message: OtherMessage,
  counterparty: string,
  deps: { readonly ledger: Ledger; readonly settlement: Settlement },
): readonly Draft[] => {
  const { type, document, id } = message
  switch (type) {
    case 'pibr.001':
      return [echoReport(document)]
    case 'pain.009':
    case 'pain.011':
      return [mandateReport(document, counterparty)]
    case 'pain.013':
      return [activationReport(document)]
    case 'camt.055':
      return [cancellationReport(document)]
    case 'camt.060':
      return [reportFor(message, deps)]
    case 'reda.014':
    case 'reda.022':
    case 'reda.031':
      return [partyStatus(id)]
    case 'trck.002':
      return receipts(document, id)
    default:
      return unanswered.has(type) ? [] : [systemEvent(`${type} ${id} recebida`)]
  }
}

/** camt.060 names the message it wants. */
const reportFor = (
  { document, origin }: OtherMessage,
  { ledger, settlement }: { readonly ledger: Ledger; readonly settlement: Settlement },
): Draft => {
  const body = bodyOf(document)
  const account = ledger.open(origin.from)
  switch (textAt(document, body, 'RptgReq/ReqdMsgNmId')) {
    case 'camt.052':
      return accountReport(account)
    case 'camt.053':
      return accountStatement(account)
    default: {
      const found = settlement.operations().get(textAt(document, body, 'RptgReq/Id'))
      const isOwn = found?.payer === origin.from || found?.receiver === origin.from
      return entryNotification(origin.from, isOwn ? found : undefined)
    }
  }
}
