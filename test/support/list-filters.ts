/** Lists that are asked for without a condition, for tests that add theirs. */
import type { TransactionFilter } from '#src/cards/transactions/store.ts'
import type { TransferFilter } from '#src/drex/transfers/store.ts'
import type { AuditFilter } from '#src/platform/http/audit/domain.ts'

/** Rows of a page. */
export const listed = 50

export const anyTransaction: TransactionFilter = {
  account: 'a',
  merchantIds: undefined,
  status: undefined,
  merchantId: undefined,
  reference: undefined,
  rrn: undefined,
  stan: undefined,
  amountFrom: undefined,
  amountTo: undefined,
  needsAttention: false,
  from: undefined,
  to: undefined,
  beforeId: undefined,
  limit: listed,
}

export const anyTransfer: TransferFilter = {
  wallet: undefined,
  status: undefined,
  reference: undefined,
  beforeId: undefined,
  limit: listed,
}

export const anyAudit: AuditFilter = {
  actor: undefined,
  action: undefined,
  object: undefined,
  from: undefined,
  to: undefined,
}
