import { type Act, ActButtons, may, useActs } from './act.tsx'
import {
  type Common,
  type Delivery,
  deliveryActs,
  type Lien,
  lienActs,
  type Step,
} from './agreement-acts.ts'
import { agreementWords as w } from './agreement-words.ts'
import type { ThingProps } from './api.ts'
import { dayOf } from './format.ts'
import { Back, ThingHead } from './heads.tsx'
import { useFollowed } from './live.ts'
import { pageFrom } from './page-from.ts'
import { Card, CodeCard, Copy, type Fact, Facts, Shown } from './parts.tsx'
import { railWords } from './rails-words.ts'
import { Badge } from './state.tsx'
import {
  type Column,
  column,
  ListTable,
  linkColumn,
  Moment,
  momentColumn,
  PagedTable,
  statusColumn,
} from './table.tsx'
import { words } from './words.ts'

type Told = {
  readonly event: string
  readonly tx_hash: string
  readonly block_number: number
  readonly mismatch: string | null
}

type Whole<T> = T & { readonly steps: readonly Step[]; readonly events: readonly Told[] }

const deliveryColumns: readonly Column<Delivery>[] = [
  linkColumn(
    ({ delivery_id: id }) => `/currency/deliveries/${encodeURIComponent(id)}`,
    ({ operation_id: number }) => number,
    w.operation,
  ),
  column(w.part, ({ part }) => w[partOf(part)]),
  column(w.bond, ({ bond }) => `${bond.acronym} ${bond.code}`, 'extra'),
  column(w.amount, ({ amount }) => amount, 'number extra'),
  column(w.price, ({ price }) => price, 'number'),
  statusColumn,
  momentColumn(({ created_at: at }) => at),
]

const lienColumns: readonly Column<Lien>[] = [
  linkColumn(
    ({ lien_id: id }) => `/currency/liens/${encodeURIComponent(id)}`,
    ({ lien_id: id }) => id,
  ),
  column(w.part, ({ part }) => w[partOf(part)]),
  column(w.pledged, ({ pledged }) => pledged, 'number'),
  column(w.expiry, ({ expiry }) => dayOf(expiry, true), 'extra'),
  statusColumn,
  momentColumn(({ created_at: at }) => at),
]

const parts = ['seller', 'buyer', 'owner', 'beneficiary'] as const
const partOf = (part: string): (typeof parts)[number] =>
  parts.find((one) => one === part) ?? 'owner'

export const Deliveries = () => (
  <PagedTable
    name="deliveries"
    load={pageFrom<Delivery>('/v1/drex/deliveries', 'deliveries')}
    columns={deliveryColumns}
    empty={w.noDeliveries}
    keyOf={({ delivery_id: id }) => id}
  />
)

export const Liens = () => (
  <PagedTable
    name="liens"
    load={pageFrom<Lien>('/v1/drex/liens', 'liens')}
    columns={lienColumns}
    empty={w.noLiens}
    keyOf={({ lien_id: id }) => id}
  />
)

const deliveryFacts = (one: Delivery): readonly Fact[] => [
  { name: w.part, value: w[partOf(one.part)] },
  { name: w.bond, value: `${one.bond.acronym} ${one.bond.code} · ${one.bond.maturity_date}` },
  { name: w.amount, value: one.amount },
  { name: w.unitPrice, value: one.unit_price },
  { name: w.price, value: one.price },
  { name: w.wallet, value: <code>{one.wallet}</code> },
  { name: railWords.counterparty, value: <code>{one.counterparty}</code> },
  { name: w.contract, value: <code>{one.contract}</code> },
]

const lienFacts = (one: Lien): readonly Fact[] => [
  { name: w.part, value: w[partOf(one.part)] },
  { name: w.pledged, value: one.pledged },
  { name: w.expiry, value: dayOf(one.expiry, true) },
  { name: w.owner, value: <code>{one.owner}</code> },
  { name: w.beneficiary, value: <code>{one.beneficiary}</code> },
  { name: w.contract, value: <code>{one.contract ?? '–'}</code> },
  { name: w.document, value: <code>{one.document_hash}</code> },
]

export const DeliveryOfBonds = ({ id, session }: ThingProps) => (
  <AgreementPage<Delivery>
    {...{ id, session, list: 'deliveries', title: w.deliveries }}
    headOf={({ bond }) => `${bond.acronym} ${bond.code}`}
    factsOf={deliveryFacts}
    actsOf={deliveryActs}
  />
)

export const LienPage = ({ id, session }: ThingProps) => (
  <AgreementPage<Lien>
    {...{ id, session, list: 'liens', title: w.liens }}
    headOf={({ pledged }) => pledged}
    factsOf={lienFacts}
    actsOf={lienActs}
  />
)

const AgreementPage = <T extends Common>({
  id,
  session,
  list,
  title,
  headOf,
  factsOf,
  actsOf,
}: Pick<ThingProps, 'id' | 'session'> & {
  readonly list: 'deliveries' | 'liens'
  readonly title: string
  readonly headOf: (one: T) => string
  readonly factsOf: (one: T) => readonly Fact[]
  readonly actsOf: (one: Whole<T>) => readonly Act[]
}) => {
  const path = `/v1/drex/${list}/${encodeURIComponent(id)}` as const
  const loaded = useFollowed<Whole<T>>(path)
  const { ask, dialog } = useActs(loaded.again)
  return (
    <>
      <Back to={`/currency?show=${list}`} text={title} />
      <Shown loaded={loaded}>
        {(one) => (
          <>
            <ThingHead title={headOf(one)} status={one.status} id={id}>
              <Copy text={location.href} label={words.copyLink} />
              {may(session, 'drex:transfer') && <ActButtons acts={actsOf(one)} ask={ask} />}
            </ThingHead>
            <Terms one={one} facts={factsOf(one)} />
            <History {...one} />
            <CodeCard title="JSON" text={JSON.stringify(one, null, 2)} />
          </>
        )}
      </Shown>
      {dialog}
    </>
  )
}

const Terms = ({ one, facts }: { readonly one: Common; readonly facts: readonly Fact[] }) => (
  <Card title={w.terms} aside={<Moment at={one.updated_at} />}>
    {one.error !== null && <p role="alert">{one.error.message}</p>}
    <Facts
      facts={[
        ...facts,
        { name: railWords.network, value: one.network },
        ...(one.reference === null ? [] : [{ name: words.reference, value: one.reference }]),
      ]}
    />
  </Card>
)

const stepColumns: readonly Column<Step>[] = [
  column(w.step, ({ kind }) => kind.replaceAll('_', ' ')),
  statusColumn,
  column(words.transactionHash, ({ tx_hash: hash }) => hash ?? '–', 'mono wide'),
]

const toldColumns: readonly Column<Told>[] = [
  column(w.event, ({ event }) => event),
  column(words.status, ({ mismatch }) =>
    mismatch === null ? <Badge status="ok" /> : <Badge status="failed" label={mismatch} />,
  ),
  column(w.block, ({ block_number: block }) => block, 'number'),
  column(words.transactionHash, ({ tx_hash: hash }) => hash, 'mono wide'),
]

/** The steps that we had signed, and the events of the contract. */
const History = ({ steps, events }: Whole<Common>) => (
  <>
    <Card title={w.steps}>
      <ListTable
        columns={stepColumns}
        rows={steps}
        keyOf={({ kind, attempt, tx_hash: hash }) => `${kind} ${attempt} ${hash}`}
      />
    </Card>
    <Card title={w.told}>
      <ListTable
        columns={toldColumns}
        rows={events}
        keyOf={({ event, block_number: block, tx_hash: hash }) => `${event} ${block} ${hash}`}
      />
    </Card>
  </>
)
