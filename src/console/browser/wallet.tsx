import { type Act, may, sending, useActs } from './act.tsx'
import { getJson, type Session, useLoaded } from './api.ts'
import type { Wallet } from './currency.tsx'
import { tokens } from './format.ts'
import { Back, ThingHead } from './heads.tsx'
import { whenChanged } from './live.ts'
import { pageFrom } from './page-from.ts'
import { Copy, Facts, Shown } from './parts.tsx'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { type Column, momentColumn, PagedTable } from './table.tsx'
import { fill, words } from './words.ts'

type Balance = {
  readonly balance: string
  readonly available: string
  readonly frozen: string
  readonly currency: string
}

type Movement = {
  readonly movement_id: string
  readonly booked_at: string
  readonly direction: 'in' | 'out'
  readonly kind: string
  readonly amount: string
  readonly balance: string
  readonly counterparty: string | null
  readonly tx_hash: string
  readonly transfer_id: string | null
}

const unit = 'DREX'

const columns: readonly Column<Movement>[] = [
  {
    head: w.movement,
    classes: ['wide', 'mono'],
    cell: ({ transfer_id: id, tx_hash: hash }) =>
      id === null ? hash : <Link to={`/payments/drex/${encodeURIComponent(id)}`}>{hash}</Link>,
  },
  { head: words.kind, cell: ({ kind }) => kind, classes: ['extra'] },
  {
    head: w.counterparty,
    cell: ({ counterparty }) => counterparty ?? '–',
    classes: ['mono', 'extra'],
  },
  {
    head: words.amount,
    cell: ({ direction, amount }) => `${direction === 'in' ? '+' : '−'}${tokens(amount, unit)}`,
    classes: ['number'],
  },
  { head: w.after, cell: ({ balance }) => tokens(balance, unit), classes: ['number', 'extra'] },
  momentColumn(({ booked_at: at }) => at),
]

const switchAct = ({ wallet_id: id, label, status }: Wallet): Act => {
  const isActive = status === 'active'
  return {
    title: isActive ? w.disable : w.enable,
    consequence: fill(isActive ? w.disableConsequence : w.enableConsequence, { label }),
    run: sending('PATCH', `/v1/wallets/${encodeURIComponent(id)}`, () => ({
      status: isActive ? 'disabled' : 'active',
    })),
  }
}

/** A wallet: what it holds, and every movement with the balance after it. */
export const WalletPage = ({ id, session }: { readonly id: string; readonly session: Session }) => {
  const path = `/v1/wallets/${encodeURIComponent(id)}`
  const loaded = useLoaded(`wallet ${id}`, () => getJson<Wallet>(path))
  const { ask, dialog } = useActs(loaded.again)
  return (
    <>
      <Back to="/currency?show=wallets" text={w.wallets} />
      <Shown loaded={loaded}>
        {(wallet) => (
          <>
            <ThingHead title={wallet.label} status={wallet.status} id={wallet.address}>
              <Copy text={wallet.address} label={words.copy} />
              {may(session, 'wallets:manage') && wallet.status !== 'archived' && (
                <button type="button" onClick={() => ask(switchAct(wallet))}>
                  {wallet.status === 'active' ? w.disable : w.enable}
                </button>
              )}
            </ThingHead>
            {session.scopes.includes('drex:read') && <Holdings address={wallet.address} />}
            <PagedTable
              title={w.statement}
              name={`statement ${id}`}
              load={pageFrom<Movement>(`${path}/statement`, 'movements')}
              columns={columns}
              empty={w.noMovements}
              keyOf={({ movement_id: key }) => key}
            />
          </>
        )}
      </Shown>
      {dialog}
    </>
  )
}

const Holdings = ({ address }: { readonly address: string }) => {
  const path = `/v1/drex/balance/${encodeURIComponent(address)}` as const
  const loaded = useLoaded(path, (purpose) => getJson<Balance>(path, purpose), whenChanged(path))
  return (
    <section class="card pad" aria-label={w.balance}>
      <Shown loaded={loaded}>
        {({ balance, available, frozen, currency }) => (
          <Facts
            isWide
            facts={[
              { name: w.balance, value: tokens(balance, currency) },
              { name: w.available, value: tokens(available, currency) },
              { name: w.frozen, value: tokens(frozen, currency) },
            ]}
          />
        )}
      </Shown>
    </section>
  )
}
