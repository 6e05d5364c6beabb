import { type Act, may, sending, useActs } from './act.tsx'
import { type ThingProps, useAnswer } from './api.ts'
import type { Wallet } from './currency.tsx'
import { tokens } from './format.ts'
import { Back, ThingHead } from './heads.tsx'
import { useFollowed } from './live.ts'
import { pageFrom } from './page-from.ts'
import { Copy, Facts, Shown } from './parts.tsx'
import { placeOfPayment } from './rails.ts'
import { railWords as w } from './rails-words.ts'
import { Link } from './router.tsx'
import { type Column, column, momentColumn, PagedTable } from './table.tsx'
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
  column(
    w.movement,
    ({ transfer_id: id, tx_hash: hash }) =>
      id === null ? hash : <Link to={placeOfPayment('drex', id)}>{hash}</Link>,
    'wide mono',
  ),
  column(words.kind, ({ kind }) => kind, 'extra'),
  column(w.counterparty, ({ counterparty }) => counterparty ?? '–', 'mono extra'),
  column(
    words.amount,
    ({ direction, amount }) => `${direction === 'in' ? '+' : '−'}${tokens(amount, unit)}`,
    'number',
  ),
  column(w.after, ({ balance }) => tokens(balance, unit), 'number extra'),
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

/** A wallet: its balance, and every movement with the balance after it. */
export const WalletPage = ({ id, session }: ThingProps) => {
  const path = `/v1/wallets/${encodeURIComponent(id)}`
  const loaded = useAnswer<Wallet>(path)
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
  const loaded = useFollowed<Balance>(`/v1/drex/balance/${encodeURIComponent(address)}`)
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
