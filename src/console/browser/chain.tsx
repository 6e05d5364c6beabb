import { useRef } from 'preact/hooks'
import type { Followed } from '../followed.ts'
import { every, getJson, type Purpose, useLoaded, type Wake } from './api.ts'
import { count } from './format.ts'
import { partsEveryMs, whenChanged } from './live.ts'
import { Card, Copy, type Fact, Facts, Shown } from './parts.tsx'
import { Badge } from './state.tsx'
import { type Column, column, Table } from './table.tsx'
import { toolWords } from './tools-words.ts'
import { fill, inWords, words } from './words.ts'

/** The texts about a transaction on a chain. */
const w = inWords({
  onChain: ['On the chain', 'Na cadeia'],
  proven: ['proven by its block', 'provada pelo bloco'],
  unproven: ['not proven by its block', 'não provada pelo bloco'],
  argument: ['Argument', 'Argumento'],
  from: ['Signed by', 'Assinada por'],
  to: ['To', 'Para'],
  deploys: ['deploys a contract', 'implanta um contrato'],
  unknown: ['of an unknown form', 'de forma desconhecida'],
  nonce: ['Nonce', 'Nonce'],
  block: ['Block', 'Bloco'],
  confirmations: ['Confirmations', 'Confirmações'],
  gas: ['Gas', 'Gas'],
  unknownCall: ['no known ABI explains this call', 'nenhuma ABI conhecida explica esta chamada'],
  unknownEvent: ['no known ABI explains this event', 'nenhuma ABI conhecida explica este evento'],
  more: ['Further events, not shown: {count}.', 'Outros eventos, não mostrados: {count}.'],
})

/** A transaction of a network, and what it is for. */
export type ChainPlace = { readonly network: string; readonly hash: string; readonly of: string }

type Arguments = Readonly<Record<string, unknown>>

type ChainLog = {
  readonly log_index: number
  readonly address: string
  readonly contract: { readonly label: string } | null
  readonly event: string | null
  readonly args: Arguments | null
  readonly topics: readonly string[]
  readonly data: string
}

type ChainTransaction = {
  readonly status: string
  readonly from: string | null
  readonly to: string | null
  readonly nonce: number
  readonly block_number: number | null
  readonly confirmations: number
  readonly gas_used: number | null
  readonly proven: boolean | null
  readonly contract: { readonly label: string } | null
  readonly function: string | null
  readonly args: Arguments | null
  readonly input: string
  readonly logs: readonly ChainLog[]
  readonly logs_count: number
}

type Argument = { readonly name: string; readonly value: unknown }

const columns: readonly Column<Argument>[] = [
  column(w.argument, ({ name }) => name),
  column(toolWords.value, ({ value }) => textOf(value), 'mono wide'),
]

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/**
 * A transaction on the chain, with its call and its events decoded. We ask by the clock until it has ended.
 *
 * @param follows the path of what the transaction is for: a change there may be a change here
 */
export const OnChain = ({
  network,
  hash,
  of,
  follows,
}: ChainPlace & { readonly follows?: Followed }) => {
  const path = `/v1/drex/transactions/${hash}?network=${encodeURIComponent(network)}`
  const hasEnded = useRef(false)
  const load = async (purpose: Purpose) => {
    const told = await getJson<ChainTransaction>(path, purpose)
    hasEnded.current = told.status === 'confirmed' || told.status === 'reverted'
    return told
  }
  const wake: Wake = (ask) => {
    const sleep = every(partsEveryMs)(() => hasEnded.current || ask())
    const leave = follows && whenChanged(follows)(ask)
    return () => {
      sleep()
      leave?.()
    }
  }
  const loaded = useLoaded(path, load, wake)
  return (
    <Card
      title={`${w.onChain} · ${of.replaceAll('_', ' ')}`}
      aside={
        <div class="actions">
          {loaded.value !== undefined && <Proof {...loaded.value} />}
          <Copy text={hash} label={words.transactionHash} />
        </div>
      }
    >
      <div class="pad">
        <Shown loaded={loaded}>{(transaction) => <Call {...transaction} />}</Shown>
      </div>
    </Card>
  )
}

const Proof = ({ status, proven }: ChainTransaction) => (
  <>
    <Badge status={status} />
    {proven !== null && (
      <Badge status={proven ? 'settled' : 'unknown'} label={proven ? w.proven : w.unproven} />
    )}
  </>
)

const Call = (transaction: ChainTransaction) => {
  const { contract, to, args, input, logs, logs_count: all } = transaction
  return (
    <>
      <Facts isWide facts={factsOf(transaction)} />
      <Decoded
        title={`${contract?.label ?? to ?? ''} · ${transaction.function ?? w.unknownCall}`}
        args={args}
        raw={[input]}
      />
      {logs.map(({ log_index: index, contract: of, address, event, args: told, topics, data }) => (
        <Decoded
          key={index}
          title={`${of?.label ?? address} · ${event ?? w.unknownEvent}`}
          args={told}
          raw={[...topics, data]}
        />
      ))}
      {all > logs.length && (
        <p class="quiet">{fill(w.more, { count: count(all - logs.length) })}</p>
      )}
    </>
  )
}

const factsOf = (of: ChainTransaction): readonly Fact[] => [
  { name: w.from, value: <code>{of.from ?? w.unknown}</code> },
  { name: w.to, value: <code>{of.to ?? w.deploys}</code> },
  { name: w.nonce, value: count(of.nonce) },
  ...(of.block_number === null
    ? []
    : [
        { name: w.block, value: count(of.block_number) },
        { name: w.confirmations, value: count(of.confirmations) },
      ]),
  ...(of.gas_used === null ? [] : [{ name: w.gas, value: count(of.gas_used) }]),
]

/** The decoded call or event; its bytes if no ABI is known. */
const Decoded = ({
  title,
  args,
  raw,
}: {
  readonly title: string
  readonly args: Arguments | null
  readonly raw: readonly string[]
}) => (
  <section class="said">
    <h3>{title}</h3>
    {args === null ? (
      <p class="mono quiet">{raw.join(' ')}</p>
    ) : (
      <Table
        columns={columns}
        rows={Object.entries(args).map(([name, value]) => ({ name, value }))}
        keyOf={({ name }) => name}
      />
    )}
  </section>
)
