import { type Act, type ScopedAct, sending } from './act.tsx'
import { attentionWords as w } from './attention-words.ts'
import { textsIn } from './fields.tsx'
import { count, minorOf, tokens } from './format.ts'
import { openText, resentMax } from './lanes.ts'
import { hasFees, type Networks } from './networks.ts'
import type { Message, Transaction, Transfer } from './rails.ts'
import { statusText } from './state.tsx'
import { fill, words } from './words.ts'

export type DeadLetter = {
  readonly id: string
  readonly at: string
  readonly topic: string | null
  readonly code: string | null
  readonly attempts: number | null
  readonly key: string | null
  readonly can_be_retried: boolean
}

export type LetterClass = {
  readonly code: string | null
  readonly topic: string | null
  readonly count: number
  readonly can_be_retried: number
}

const letters = '/v1/ops/dead-letters'

/** @returns none for letters without a code or topic, or if none of them can be handled again */
export const retryClassActs = ({
  code,
  topic,
  can_be_retried: many,
}: LetterClass): readonly Act[] =>
  code === null || topic === null || many === 0
    ? []
    : [
        {
          title: w.retryClass,
          consequence: fill(w.retryClassConsequence, { code, topic, count: count(many) }),
          run: sending(
            'POST',
            `${letters}/retry`,
            () => ({ code, topic }),
            ({ retried }: { retried: number }) => fill(w.retried, { count: count(retried) }),
          ),
        },
      ]

export const retryLetterActs = ({ id, topic, can_be_retried: can }: DeadLetter): readonly Act[] =>
  can
    ? [
        {
          title: w.retryClass,
          consequence: fill(w.retryOneConsequence, { id, topic: topic ?? '' }),
          run: sending('POST', `${letters}/${id}/retry`, undefined, () =>
            fill(w.retried, { count: '1' }),
          ),
        },
      ]
    : []

export const dropLetterAct = ({ id }: DeadLetter): Act => ({
  title: w.drop,
  consequence: fill(w.dropConsequence, { id }),
  run: sending('DELETE', `${letters}/${id}`),
})

type Named = Pick<Message, 'id' | 'end_to_end_id' | 'biz_msg_idr'>

const resendAct = ({ id, end_to_end_id, biz_msg_idr }: Named): Act => ({
  title: w.resend,
  consequence: fill(w.resendConsequence, { id: end_to_end_id ?? biz_msg_idr }),
  run: sending(
    'POST',
    `/v1/spi/messages/${encodeURIComponent(id)}/resend`,
    undefined,
    () => w.resent,
  ),
})

/** After this time the central bank no longer recognises a repetition. */
const askedForMs = 24 * 3_600_000

/** The acts on our own message with an unknown outcome. If it was sent long after it was made, both may be possible. */
export const unknownActs = (message: Named & Pick<Message, 'created_at'>): readonly ScopedAct[] => {
  const isOld = Date.parse(message.created_at) < Date.now() - askedForMs
  return [
    { scope: 'spi:send', act: resendAct(message) },
    ...(isOld ? [{ scope: 'ops:admin', act: resolveMessageAct(message) }] : []),
  ]
}

const resolveMessageAct = ({ id, end_to_end_id, biz_msg_idr }: Named): Act => ({
  title: w.resolveMessage,
  consequence: fill(w.resolveMessageConsequence, { id: end_to_end_id ?? biz_msg_idr }),
  fields: [
    {
      name: 'outcome',
      label: w.messageOutcome,
      choices: (['ACCEPTED', 'REJECTED'] as const).map((one) => [one, statusText(one)]),
    },
    { name: 'reason', label: w.reason, more: { maxLength: 200 } },
  ],
  run: sending(
    'POST',
    `/v1/spi/messages/${encodeURIComponent(id)}/resolve`,
    (form) => textsIn(form, 'outcome', 'reason'),
    ({ status }: Pick<Message, 'status'>) => fill(w.resolved, { status: statusText(status) }),
  ),
})

/** No acts while something is on the wire, because its outcome is known soon. */
export const resolveActs = ({
  id,
  amount,
  currency,
  reason,
  possible_outcomes: outcomes = [],
}: Transaction): readonly Act[] =>
  outcomes.length === 0
    ? []
    : [
        {
          title: w.resolve,
          consequence: fill(
            reason === 'restored' ? w.resolveHeldConsequence : w.resolveConsequence,
            { id, amount: minorOf(amount, currency) },
          ),
          fields: [
            {
              name: 'outcome',
              label: w.outcome,
              choices: outcomes.map((outcome) => [outcome, statusText(outcome)]),
            },
            { name: 'reason', label: w.reason, more: { maxLength: 200 } },
          ],
          run: sending(
            'POST',
            `/v1/transactions/${encodeURIComponent(id)}/resolve`,
            (form) => textsIn(form, 'outcome', 'reason'),
            ({ status }: Transaction) => fill(w.resolved, { status: statusText(status) }),
          ),
        },
      ]

const transferAct = (
  { transfer_id: id, amount, currency, from_wallet: from, to_wallet: to, network }: Transfer,
  name: 'cancel' | 'approve' | 'retry',
  texts: { readonly title: string; readonly consequence: string },
): Act => ({
  title: texts.title,
  consequence: fill(texts.consequence, { amount: tokens(amount, currency), from, to, network }),
  run: sending('POST', `/v1/drex/transfers/${encodeURIComponent(id)}/${name}`),
})

/** Only a higher fee can replace a signed transaction; once mined, it stays. */
export const cancelTransferActs = (
  one: Transfer,
  networks: Networks | undefined,
): readonly Act[] => {
  const { status, network } = one
  const isSigned = status === 'signed' || status === 'broadcast'
  if (status !== 'pending' && !(isSigned && hasFees(networks, network))) return []
  const consequence = isSigned ? w.cancelSignedConsequence : w.cancelConsequence
  return [transferAct(one, 'cancel', { title: w.cancel, consequence })]
}

export const approveTransferAct = (one: Transfer): Act =>
  transferAct(one, 'approve', { title: w.approve, consequence: w.approveConsequence })

export const retryTransferAct = (one: Transfer): Act =>
  transferAct(one, 'retry', { title: w.retryTransfer, consequence: w.retryTransferConsequence })

/** Sends the open transactions of a wallet once more, at once. */
export const resendLaneAct = (lane: {
  readonly wallet_id: string
  readonly sender: string
  readonly open: number
}): Act => ({
  title: w.resend,
  consequence: fill(w.resendLaneConsequence, {
    wallet: lane.sender,
    count: openText(lane.open),
    most: count(resentMax),
  }),
  run: sending(
    'POST',
    `/v1/wallets/${encodeURIComponent(lane.wallet_id)}/resend`,
    undefined,
    ({ resent }: { resent: number }) => fill(w.resentLane, { count: count(resent) }),
  ),
})

/** A transaction that the gateway does not sign, since it may be on the chain already. */
export type Held = {
  readonly transaction_id: string
  readonly kind: string
  readonly subject: string
  readonly network: string
  readonly from_wallet: string
  readonly held_since: string
  readonly reason: 'looks_alike' | 'not_told'
  /** Hashes of transactions on the chain that may be this one. */
  readonly candidates: readonly string[]
}

const heldPath = ({ transaction_id: id }: Held): string =>
  `/v1/drex/held/${encodeURIComponent(id)}/resolve`

export const sendHeldAct = (held: Held): Act => ({
  title: w.sendHeld,
  consequence: fill(w.sendHeldConsequence, {
    kind: held.kind.replaceAll('_', ' '),
    subject: held.subject,
    wallet: held.from_wallet,
    network: held.network,
  }),
  run: sending('POST', heldPath(held), () => ({ decision: 'send' })),
})

export const sentHeldAct = (held: Held): Act => ({
  title: w.sentHeld,
  consequence: fill(w.sentHeldConsequence, {
    kind: held.kind.replaceAll('_', ' '),
    subject: held.subject,
  }),
  fields: [
    {
      name: 'tx_hash',
      label: words.transactionHash,
      hint: w.sentHeldHint,
      first: (held.candidates.length === 1 && held.candidates[0]) || '',
      more: { list: 'candidates', pattern: '0x[0-9a-fA-F]{64}', spellcheck: false },
    },
  ],
  beside: (
    <datalist id="candidates">
      {held.candidates.map((hash) => (
        <option key={hash} value={hash} />
      ))}
    </datalist>
  ),
  run: sending('POST', heldPath(held), (form) => ({
    decision: 'sent',
    ...textsIn(form, 'tx_hash'),
  })),
})
