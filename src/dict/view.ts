import type { EntryContent } from './entries/domain.ts'

export const ownerView = ({ taxIdNumber, name, tradeName }: EntryContent['owner']) => ({
  tax_id: taxIdNumber,
  name,
  trade_name: tradeName ?? null,
})

export const accountView = ({
  account: { branch, accountNumber, accountType },
  openedAt,
}: Pick<EntryContent, 'account' | 'openedAt'>) => ({
  branch: branch ?? null,
  number: accountNumber,
  type: accountType,
  opened_at: openedAt,
})
