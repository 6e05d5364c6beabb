import { z } from 'zod'
import { type EventGroups, money, text } from './group.ts'

const moved = {
  from_wallet: z.string(),
  to_wallet: z.string(),
  amount: money,
  currency: z.literal('DREX'),
  network: z.string(),
  tx_hash: text,
  reference: text,
}

const transfer = z
  .strictObject({
    transfer_id: z.string(),
    status: z.enum(['confirmed', 'reverted', 'failed', 'cancelled']),
    ...moved,
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
    ...moved,
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
    transfer_id: text.meta({ description: 'If a transfer of the same account moved it.' }),
  })
  .meta({ id: 'ReceivedTransferEvent' })

const reversedTransfer = z.strictObject(movement).meta({ id: 'ReversedTransferEvent' })

const lowBalance = z
  .strictObject({
    wallet_id: z.string(),
    wallet: z.string(),
    network: z.string(),
    asset: z.enum(['currency', 'gas']).meta({ description: '`gas`: the network’s own coin.' }),
    balance: z.string().meta({ description: 'A decimal.' }),
    below: z.string().meta({ description: 'The limit that the wallet’s `alerts` set.' }),
  })
  .meta({ id: 'LowBalanceEvent' })

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
    status: z.enum(['confirmed', 'reverted', 'failed', 'cancelled', 'broadcast']).meta({
      description: '`broadcast`: the chain has taken the end back, and it is sent again.',
    }),
    tx_hash: text,
  })
  .meta({ id: 'ContractCallEvent' })

const operation = z
  .strictObject({
    operation_id: z.string(),
    operation: z.string().meta({ description: 'Such as `enable_account`.' }),
    status: z.string().meta({ description: 'That of its last step.' }),
    signer_wallet: z.string(),
    network: z.string(),
    reference: text,
    tx_hash: text,
    error: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'OperationEvent' })

const heldTransaction = z
  .strictObject({
    transaction_id: z.string(),
    kind: z.string(),
    subject: z.string().meta({ description: 'The transfer, operation or contract it belongs to.' }),
    network: z.string(),
    wallet: z.string(),
    reason: z.enum(['looks_alike', 'not_told']).meta({
      description:
        '`looks_alike`: the chain has the same call of the wallet, and it is not clear whose. `not_told`: the nodes do not tell what the wallet has sent: they no longer have the states that show it, or it stays in a pool, or none tells its pool.',
    }),
    candidates: z.array(z.string()).readonly().meta({ description: 'Hashes that it may be.' }),
  })
  .meta({ id: 'HeldTransactionEvent' })

const agreement = {
  status: z.string(),
  previous_status: z.string(),
  wallet: z.string(),
  network: z.string(),
  reference: text,
  tx_hash: text.meta({ description: 'Of the transaction that made it so.' }),
  error: z.record(z.string(), z.unknown()).nullable(),
}

const delivery = z
  .strictObject({
    delivery_id: z.string(),
    ...agreement,
    part: z.enum(['seller', 'buyer']),
    counterparty: z.string(),
    contract: z.string(),
    operation_id: z.string(),
    amount: z.string().meta({ description: 'Of bonds; a decimal.' }),
    price: money,
  })
  .meta({ id: 'BondDeliveryEvent' })

const lien = z
  .strictObject({
    lien_id: z.string(),
    ...agreement,
    part: z.enum(['owner', 'beneficiary']),
    contract: text.meta({ description: 'Null until it is on the chain.' }),
    token: z.string(),
    pledged: z.string().meta({ description: 'What secures the beneficiary now; a decimal.' }),
    expiry: z.iso.datetime(),
  })
  .meta({ id: 'LienEvent' })

const contractEvent = z
  .strictObject({
    log_id: z.string().meta({ description: 'Network, block’s hash and place in it.' }),
    stream_id: z.string(),
    contract_id: z.string(),
    network: z.string(),
    address: z.string(),
    event: z.string().meta({ description: 'Its signature.' }),
    args: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'By name, or by place where one has none; null if they cannot be read.',
    }),
    tx_hash: z.string(),
    block_number: z.int(),
    block_hash: z.string(),
    log_index: z.int(),
  })
  .meta({ id: 'ContractLogEvent' })

export const digitalCurrencyEvents = {
  transfers: {
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
    payload: correctedTransfer,
    subject: 'transfer_id',
    types: {
      'drex.transfer.corrected': 'The chain has taken back the end of a transfer that was told.',
    },
  },
  incoming: {
    payload: receivedTransfer,
    subject: 'wallet_id',
    types: {
      'drex.transfer.received':
        'Currency came to a wallet, whoever sent it, and has its confirmations.',
    },
  },
  reversals: {
    payload: reversedTransfer,
    subject: 'wallet_id',
    types: {
      'drex.transfer.reversed':
        'The chain has taken back what was told as received: `movement_id` says which.',
    },
  },
  lowBalances: {
    payload: lowBalance,
    subject: 'wallet_id',
    types: {
      'drex.wallet.balance_low':
        'A wallet has less of the currency, or of the coin for gas, than its `alerts` say; once, until it has enough again.',
    },
  },
  contracts: {
    payload: contract,
    subject: 'contract_id',
    types: {
      'drex.contract.deployed': 'A contract is on the chain.',
      'drex.contract.failed': 'A contract could not be deployed.',
      'drex.contract.corrected':
        'The chain has taken back the end of a deployment that was told; it is sent again.',
    },
  },
  calls: {
    payload: contractCall,
    subject: 'transaction_id',
    types: {
      'drex.contract.called':
        'A call of a contract has ended, or the chain has taken its end back: `status` says which.',
    },
  },
  operations: {
    payload: operation,
    subject: 'operation_id',
    types: {
      'drex.operation.changed':
        'An operation has ended, or the chain has taken its end back: `status` says which.',
    },
  },
  bondDeliveries: {
    payload: delivery,
    subject: 'delivery_id',
    types: {
      'drex.delivery.changed':
        'A delivery against payment has another status, or the chain has taken one back.',
    },
  },
  liens: {
    payload: lien,
    subject: 'lien_id',
    types: {
      'drex.lien.changed':
        'A lien has another status, another sum or another expiry, or the chain has taken one back.',
    },
  },
  held: {
    payload: heldTransaction,
    subject: 'transaction_id',
    types: {
      'drex.transaction.held':
        'What may be on the chain already is not signed until somebody decides: `GET /v1/drex/held`.',
    },
  },
  streams: {
    payload: contractEvent,
    subject: 'stream_id',
    types: {
      'drex.contract.event': 'A contract has told what a stream is for; it has its confirmations.',
      'drex.contract.event_removed':
        'The chain has taken back what a stream has told: `log_id` says which.',
    },
  },
} as const satisfies EventGroups
