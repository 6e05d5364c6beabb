import { z } from 'zod'
import { type MessageType, messageTypes } from '#codecs/iso20022'
import type { Client, Queryable } from '#src/platform/database/index.ts'

/**
 * Every event that subscribers are told of: its types with their meanings, and what they carry. Whatever lists event
 * types derives from this table; features emit through {@link Emit}, so that no other type and no other payload
 * compiles. A payload holds identifiers, amounts and states: nothing of persons, no card data.
 */

const money = z.string().meta({ description: 'Reais with two decimals.' })
const cents = z.int().meta({ description: 'Centavos.' })
const text = z.string().nullable()

const receivedMessage = z
  .strictObject({
    message_id: z.string(),
    type: z.string(),
    direction: z.literal('INBOUND'),
    status: z.string(),
    channel: text,
    source_ispb: text,
    destination_ispb: text,
    end_to_end_id: text,
    biz_msg_idr: text,
    resource_id: text,
    signature: z.enum(['VALID', 'INVALID', 'ABSENT', 'NOT_CHECKED']),
    reference: text.meta({ description: 'The message or payment that it answers.' }),
    reason: text,
    transaction_count: z.int(),
    transactions: z
      .array(
        z.strictObject({
          end_to_end_id: text,
          instruction_id: text,
          amount: money.nullable(),
          debtor_ispb: text,
          creditor_ispb: text,
          status: text,
          reason: text,
        }),
      )
      .meta({ description: 'The first ten; the message itself holds all.' }),
  })
  .meta({ id: 'ReceivedMessageEvent' })

const sentMessage = z
  .strictObject({
    message_id: z.string(),
    type: text,
    direction: z.literal('OUTBOUND'),
    status: z.string(),
    channel: text,
    end_to_end_id: text,
    biz_msg_idr: text,
    detail: text,
  })
  .meta({ id: 'SentMessageEvent' })

const bilingual = z.strictObject({ en: z.string(), pt: z.string() }).readonly().nullable()

/** A code of the SPI with what the rulebook knows of it. */
export const reason = z
  .strictObject({
    code: z.string(),
    meaning: bilingual.meta({ description: 'Null where only the code is known.' }),
    remedy: bilingual.meta({ description: 'What who is told of it does: our advice, if any.' }),
  })
  .meta({ id: 'Reason' })

export type Reason = z.infer<typeof reason>

const refund = z
  .strictObject({
    refund_id: text.meta({ description: 'RtrId.' }),
    end_to_end_id: text.meta({ description: 'Of the payment that is given back.' }),
    message_id: z.string(),
    status: z.enum(['settled', 'rejected']),
    amount: money,
    reason: reason.nullable(),
    refusal: reason.nullable(),
  })
  .meta({ id: 'RefundEvent' })

const recurrence = {
  previous_state: text,
  message_id: z.string(),
  message_type: z.string(),
  reason: reason.nullable(),
}

const mandate = z
  .strictObject({
    mandate_id: z.string(),
    state: text,
    ...recurrence,
  })
  .meta({ id: 'MandateEvent' })

const charge = z
  .strictObject({
    end_to_end_id: z.string(),
    reconciliation_id: text,
    mandate_id: text,
    state: text,
    ...recurrence,
  })
  .meta({ id: 'ChargeEvent' })

const accountEntry = z
  .strictObject({
    message_id: z.string().meta({ description: 'Of the report.' }),
    request_id: z
      .string()
      .meta({ description: 'MsgId of the request that it answers, or its own.' }),
    reference: z.string().meta({ description: 'EndToEndId of a payment, RtrId of a return.' }),
    end_to_end_id: text,
    outcome: z.enum(['missing_here', 'missing_there', 'amount_differs']),
    amount: money.nullable().meta({ description: 'As the central bank reports it.' }),
    our_amount: money.nullable().meta({ description: 'As we have it.' }),
  })
  .meta({ id: 'EntryEvent' })

const cardTransaction = z
  .strictObject({
    transaction_id: z.string(),
    status: z.enum(['authorized', 'declined', 'captured', 'voided', 'verified']),
    amount: cents,
    requested_amount: cents.nullable().meta({
      description: 'What was asked for, where the network approved a part.',
    }),
    captured_amount: cents.nullable(),
    refunded_amount: cents.nullable().meta({ description: 'The sum of its refunds.' }),
    reversed_amount: cents.nullable().meta({
      description: 'What partial voids took back of the authorization.',
    }),
    currency: z.string(),
    network: z.string(),
    brand: z.string(),
    merchant_id: z.string(),
    terminal_id: text,
    auth_code: text,
    response_code: text,
    stan: z.string(),
    rrn: z.string(),
    reason: text.meta({
      description: 'Why it ended without the caller’s doing: not_sent, timed_out, expired, …',
    }),
  })
  .meta({ id: 'CardTransactionEvent' })

const transfer = z
  .strictObject({
    transfer_id: z.string(),
    status: z.enum(['confirmed', 'reverted', 'failed', 'cancelled']),
    from_wallet: z.string(),
    to_wallet: z.string(),
    amount: money,
    currency: z.literal('DREX'),
    network: z.string(),
    tx_hash: text,
    reference: text,
    attempt: z.int().meta({ description: 'From 1; a failed transfer may be tried again.' }),
    error: z
      .strictObject({
        code: z.string(),
        message: z.string(),
        revert: z
          .strictObject({ name: z.string(), args: z.array(z.string()).readonly() })
          .optional(),
      })
      .nullable(),
  })
  .meta({ id: 'TransferEvent' })

const correctedTransfer = z
  .strictObject({
    transfer_id: z.string(),
    previous_status: z.enum(['confirmed', 'reverted', 'failed', 'cancelled']),
    status: z.string().meta({ description: 'The status from now on; another end follows.' }),
    from_wallet: z.string(),
    to_wallet: z.string(),
    amount: money,
    currency: z.literal('DREX'),
    network: z.string(),
    tx_hash: text,
    reference: text,
    error: z.strictObject({ code: z.string(), message: z.string() }),
  })
  .meta({ id: 'CorrectedTransferEvent' })

const movement = {
  movement_id: z.string(),
  wallet_id: z.string(),
  kind: z.enum(['transfer', 'mint']).meta({ description: '`mint`: newly issued.' }),
  from_wallet: text.meta({ description: 'Null where the currency was issued.' }),
  to_wallet: z.string(),
  amount: money,
  currency: z.literal('DREX'),
  network: z.string(),
  token: z.string().meta({ description: 'The currency’s contract.' }),
  tx_hash: z.string(),
  block_number: z.int(),
}

const receivedTransfer = z
  .strictObject({
    ...movement,
    transfer_id: text.meta({ description: 'If a transfer of this gateway moved it.' }),
  })
  .meta({ id: 'ReceivedTransferEvent' })

const reversedTransfer = z.strictObject(movement).meta({ id: 'ReversedTransferEvent' })

const contract = z
  .strictObject({
    contract_id: z.string(),
    status: z.string(),
    tx_hash: text,
  })
  .meta({ id: 'ContractEvent' })

const contractCall = z
  .strictObject({
    transaction_id: z.string(),
    contract_id: z.string(),
    status: z.enum(['confirmed', 'reverted', 'failed', 'cancelled']),
    tx_hash: text,
  })
  .meta({ id: 'ContractCallEvent' })

const contractEvent = z
  .strictObject({
    log_id: z.string().meta({ description: 'Network, block’s hash and place in it.' }),
    stream_id: z.string(),
    ...{ contract_id: z.string(), network: z.string(), address: z.string() },
    event: z.string().meta({ description: 'Its signature.' }),
    args: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'By name, or by place where one has none; null if they cannot be read.',
    }),
    ...{ tx_hash: z.string(), block_number: z.int(), block_hash: z.string() },
    log_index: z.int(),
  })
  .meta({ id: 'ContractLogEvent' })

const endpoint = z
  .strictObject({ endpoint_id: z.string(), reason: z.string() })
  .meta({ id: 'EndpointEvent' })
const delivery = z
  .strictObject({
    delivery_id: z.string(),
    endpoint_id: z.string(),
    event_id: z.string(),
    event_type: z.string(),
  })
  .meta({ id: 'DeliveryEvent' })

/** The types that share a payload. */
type EventGroup = {
  readonly title: string
  readonly payload: z.ZodType
  /** What its `sequence` counts by. */
  readonly subject: string
  /** Type by type: when it is emitted. */
  readonly types: Readonly<Record<string, string>>
}

const receivedTypes = Object.fromEntries(
  messageTypes.map((type) => [type, `A ${type} was received and stored.`]),
) as Record<MessageType, string>

export const eventGroups = {
  received: {
    title: 'Instant payments',
    payload: receivedMessage,
    subject: 'EndToEndId of the first payment, else BizMsgIdr, else message_id',
    types: { ...receivedTypes, 'message.other': 'A message of any other type was received.' },
  },
  sent: {
    title: 'Instant payments',
    payload: sentMessage,
    subject: 'EndToEndId, else BizMsgIdr, else message_id',
    types: { 'message.status': 'A message of ours has a new status.' },
  },
  refunds: {
    title: 'Instant payments',
    payload: refund,
    subject: 'EndToEndId of the payment',
    types: {
      'pix.refund.settled': 'A return that we have sent is settled.',
      'pix.refund.rejected': 'A return that we have sent was refused: its amount is free again.',
    },
  },
  mandates: {
    title: 'Instant payments',
    payload: mandate,
    subject: 'mandate_id',
    types: {
      'pix.mandate.changed': 'A message that was received has given a mandate another state.',
    },
  },
  charges: {
    title: 'Instant payments',
    payload: charge,
    subject: 'end_to_end_id',
    types: {
      'pix.charge.changed': 'A message that was received has given a charge another state.',
    },
  },
  entries: {
    title: 'Instant payments',
    payload: accountEntry,
    subject: 'reference',
    types: {
      'pix.entry.differs': 'The central bank reports an entry otherwise than we have it.',
    },
  },
  cards: {
    title: 'Cards',
    payload: cardTransaction,
    subject: 'transaction_id',
    types: {
      'card.transaction.authorized': 'The network has approved the authorization.',
      'card.transaction.incremented': 'The network has raised the authorized amount.',
      'card.transaction.declined': 'The network has declined the authorization.',
      'card.transaction.verified': 'The network has nothing against the card.',
      'card.transaction.captured': 'The network has approved the capture, the last of several.',
      'card.transaction.partially_captured':
        'The network has approved a capture that others may follow.',
      'card.transaction.voided': 'It was voided, was never sent, or its reversal is confirmed.',
      'card.transaction.expired': 'Nobody captured it in time, and what is left is released.',
      'card.transaction.refunded': 'The network has approved a refund.',
      'card.transaction.partially_voided': 'A part of the authorization was taken back.',
    },
  },
  transfers: {
    title: 'Digital currency',
    payload: transfer,
    subject: 'transfer_id',
    types: {
      'drex.transfer.confirmed': 'A transfer has its confirmations.',
      'drex.transfer.reverted': 'The chain has refused a transfer.',
      'drex.transfer.failed': 'A transfer has ended without moving what it should.',
      'drex.transfer.cancelled': 'A transfer was taken back.',
    },
  },
  corrections: {
    title: 'Digital currency',
    payload: correctedTransfer,
    subject: 'transfer_id',
    types: {
      'drex.transfer.corrected': 'The chain has taken back the end of a transfer that was told.',
    },
  },
  incoming: {
    title: 'Digital currency',
    payload: receivedTransfer,
    subject: 'wallet_id',
    types: {
      'drex.transfer.received':
        'Currency came to a wallet, whoever sent it, and has its confirmations.',
    },
  },
  reversals: {
    title: 'Digital currency',
    payload: reversedTransfer,
    subject: 'wallet_id',
    types: {
      'drex.transfer.reversed':
        'The chain has taken back what was told as received: `movement_id` says which.',
    },
  },
  contracts: {
    title: 'Digital currency',
    payload: contract,
    subject: 'contract_id',
    types: {
      'drex.contract.deployed': 'A contract is on the chain.',
      'drex.contract.failed': 'A contract could not be deployed.',
    },
  },
  calls: {
    title: 'Digital currency',
    payload: contractCall,
    subject: 'transaction_id',
    types: { 'drex.contract.called': 'A call of a contract has ended: `status` says how.' },
  },
  streams: {
    title: 'Digital currency',
    payload: contractEvent,
    subject: 'stream_id',
    types: {
      'drex.contract.event': 'A contract has told what a stream is for; it has its confirmations.',
      'drex.contract.event_removed':
        'The chain has taken back what a stream has told: `log_id` says which.',
    },
  },
  endpoints: {
    title: 'Webhooks',
    payload: endpoint,
    subject: 'endpoint_id',
    types: { 'webhook.endpoint.disabled': 'An endpoint was disabled: gone, or failing for days.' },
  },
  deliveries: {
    title: 'Webhooks',
    payload: delivery,
    subject: 'endpoint_id',
    types: { 'webhook.delivery.exhausted': 'The last attempt of a delivery has failed.' },
  },
} as const satisfies Readonly<Record<string, EventGroup>>

type Groups = typeof eventGroups

/**
 * Something that happened.
 *
 * @property account - whose it is: the endpoints of no other account are told; undefined for what is the institution's
 * @property subject - what it happened to; `sequence` grows by one with each event of a subject
 */
export type AppEvent = {
  [G in keyof Groups]: {
    readonly type: keyof Groups[G]['types']
    readonly subject: string
    readonly account?: string | undefined
    readonly data: z.infer<Groups[G]['payload']>
  }
}[keyof Groups]

export type EventType = AppEvent['type']

export const eventTypes = Object.values(eventGroups).flatMap(({ types }) =>
  Object.keys(types),
) as readonly EventType[]

/** Writes events in the transaction of the change that they tell of. */
export type Emit = (tx: Queryable, events: readonly AppEvent[]) => Promise<void>

type Fragment = ReturnType<Client>

/** {@link Emit} within the very statement that makes the change, where a statement more would cost too much. */
export type EmitWithin = {
  /** Whether anybody takes one of them; asked first, as planning what `ctes` adds costs as much as the statement. */
  readonly isTaken: (sql: Queryable, events: readonly AppEvent[]) => Promise<boolean>
  /** What the statement takes of an event, as JSON. */
  readonly rowOf: (event: AppEvent) => object
  /** CTEs, parted by commas, for a `with`. @param rows a query of one JSON value an event: what `rowOf` gave */
  readonly ctes: (sql: Queryable, rows: Fragment) => Fragment
}
