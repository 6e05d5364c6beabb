import { accountView, ownerView } from '../view.ts'
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
  owner: ownerView(content.owner),
  account: accountView(content),
  cid,
  refusal,
  owned_since: entry.ownedSince,
  created_at: entry.createdAt.toISOString(),
})
