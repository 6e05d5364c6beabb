import type { OwnEntry } from './domain.ts'

export const entryView = ({
  id,
  keyType,
  key,
  status,
  content,
  cid,
  refusal,
  ...entry
}: OwnEntry) => ({
  id,
  key_type: keyType,
  key,
  status,
  owner: {
    tax_id: content.owner.taxIdNumber,
    name: content.owner.name,
    trade_name: content.owner.tradeName ?? null,
  },
  account: {
    branch: content.account.branch ?? null,
    number: content.account.accountNumber,
    type: content.account.accountType,
    opened_at: content.openedAt,
  },
  cid,
  refusal,
  owned_since: entry.ownedSince,
  created_at: entry.createdAt.toISOString(),
})
