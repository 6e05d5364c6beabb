import { useState } from 'preact/hooks'
import { type Act, may, useActs } from './act.tsx'
import { Refusal, type Session, send, type ThingProps, useAnswer } from './api.ts'
import type { Contract, Wallet } from './currency.tsx'
import { asTheyAre, type Field, Fields } from './fields.tsx'
import { Back, ThingHead } from './heads.tsx'
import { useLast } from './last.ts'
import { pageFrom } from './page-from.ts'
import { Code, CodeCard, Copy, Refused, Shown } from './parts.tsx'
import { railWords as w } from './rails-words.ts'
import { IdLink } from './router.tsx'
import { Badge } from './state.tsx'
import { More, usePages } from './table.tsx'
import { fill, words } from './words.ts'

type Input = {
  readonly name?: string
  readonly type: string
  /** The parts of a tuple, or of a list of tuples. */
  readonly components?: readonly Input[]
}

type Entry = {
  readonly type: string
  readonly name?: string
  readonly inputs?: readonly Input[]
  readonly stateMutability?: string
}

type Detail = Contract & { readonly abi: readonly Entry[] }

type Outcome = { readonly result?: unknown; readonly transaction_id?: string }

/** The type as a selector needs it: the parts of a tuple stand in its place. */
const canonicalOf = ({ type, components = [] }: Input): string =>
  type.startsWith('tuple') ? `(${typesOf(components)})${type.slice('tuple'.length)}` : type

const typesOf = (inputs: readonly Input[]): string => inputs.map(canonicalOf).join(',')

const signatureOf = ({ name = '', inputs = [] }: Entry): string => `${name}(${typesOf(inputs)})`

const isView = ({ stateMutability }: Entry): boolean =>
  stateMutability === 'view' || stateMutability === 'pure'

const isList = (type: string): boolean => type.endsWith(']') || type.startsWith('tuple')

/** The typed text as the API takes it. @throws SyntaxError for a list that is not JSON */
const argumentOf = ({ type }: Input, text: string): unknown => {
  if (isList(type)) return JSON.parse(text)
  return type === 'bool' ? text === 'true' : text
}

const argumentsOf = ({ inputs = [] }: Entry, form: FormData): readonly unknown[] =>
  inputs.map((input, at) => argumentOf(input, String(form.get(`argument-${at}`) ?? '')))

/** The typed values by the names of their arguments, and the signer. */
const namedArguments = (entry: Entry, form: FormData) => {
  const values = argumentsOf(entry, form)
  const named = (entry.inputs ?? []).map(({ name }, at) => [name || String(at + 1), values[at]])
  const signer = String(form.get('signer') ?? '')
  return { ...Object.fromEntries(named), [w.signer]: signer === '' ? w.ownWallet : signer }
}

type CallState = {
  readonly status: string
  readonly tx_hash: string | null
  readonly error: { readonly message?: string } | null
}

const callEveryMs = 2_000

/** Shows the state of a call that was sent. */
const Call = ({ path, id }: { readonly path: string; readonly id: string }) => {
  const loaded = useAnswer<CallState>(path, callEveryMs)
  return (
    <Shown loaded={loaded}>
      {({ status, tx_hash: hash, error }) => (
        <>
          <p>
            {fill(w.sent, { id })} <Badge status={status} />
          </p>
          {error?.message !== undefined && <p class="violation">{error.message}</p>}
          {hash !== null && (
            <IdLink to={`/tools?${new URLSearchParams({ find: hash })}`}>{hash}</IdLink>
          )}
        </>
      )}
    </Shown>
  )
}

/** A contract: a form made from its ABI reads and calls its functions. */
export const ContractPage = ({ id: address, query, session }: ThingProps) => {
  const network = query.get('network')
  const where = network === null ? '' : `?network=${encodeURIComponent(network)}`
  const path = `/v1/contracts/${encodeURIComponent(address)}`
  const loaded = useAnswer<Detail>(`${path}${where}`)
  return (
    <>
      <Back to="/currency?show=contracts" text={w.contracts} />
      <Shown loaded={loaded}>
        {(contract) => (
          <>
            <ThingHead
              title={contract.label}
              status={contract.status}
              id={`${address} · ${contract.network}`}
            >
              <Copy text={address} label={words.copy} />
            </ThingHead>
            {may(session, 'contracts:call') ? (
              <Functions contract={contract} path={path} session={session} />
            ) : (
              <CodeCard title={w.functions} text={functionsOf(contract).join('\n')} />
            )}
          </>
        )}
      </Shown>
    </>
  )
}

const functionsOf = ({ abi }: Detail): readonly string[] =>
  abi.filter(({ type }) => type === 'function').map(signatureOf)

const Functions = ({
  contract,
  path,
  session,
}: {
  readonly contract: Detail
  readonly path: string
  readonly session: Session
}) => {
  const functions = contract.abi.filter(({ type }) => type === 'function')
  const [chosen, setChosen] = useState(0)
  const [shown, askLast] = useLast<Outcome | undefined>()
  const { ask, dialog } = useActs(() => {})
  const entry = functions[chosen]
  const post = (given: Entry, form: FormData, sendBy: typeof send): Promise<Outcome> => {
    const signer = String(form.get('signer') ?? '')
    const body = {
      function: signatureOf(given),
      params: argumentsOf(given, form),
      network: contract.network,
      ...(signer === '' ? {} : { signer_wallet: signer }),
    }
    return sendBy<Outcome>('POST', `${path}/call`, body)
  }
  const call = (given: Entry, form: FormData): Act => ({
    title: `${w.call} ${given.name ?? ''}`,
    consequence: fill(w.callConsequence, {
      function: signatureOf(given),
      label: contract.label,
    }),
    verb: w.call,
    beside: <Code label={w.arguments}>{JSON.stringify(namedArguments(given, form), null, 2)}</Code>,
    run: async (_, sendOnce) => {
      const { transaction_id: id = '' } = await post(given, form, sendOnce)
      return <Call path={`${path}/calls/${encodeURIComponent(id)}`} id={id} />
    },
  })
  /** Reads a view at once; asks a person before it sends a call. Fails if an argument is not JSON. */
  const answerOf = async (given: Entry, form: FormData): Promise<Outcome | undefined> => {
    if (isView(given)) return await post(given, form, send)
    ask(call(given, form))
    return undefined
  }
  return (
    <div class="columns">
      <form
        class="card pad"
        onSubmit={(event) => {
          event.preventDefault()
          if (entry !== undefined) void askLast(answerOf(entry, new FormData(event.currentTarget)))
        }}
      >
        <label class="field">
          {w.function}
          <select
            onChange={(event) => {
              setChosen(Number(event.currentTarget.value))
              void askLast()
            }}
          >
            {functions.map((one, at) => (
              <option key={signatureOf(one)} value={at}>
                {signatureOf(one)}
              </option>
            ))}
          </select>
        </label>
        <Fields key={chosen} fields={(entry?.inputs ?? []).map(argumentField)} />
        {entry !== undefined && !isView(entry) && <Signer session={session} />}
        <button class="primary" type="submit">
          {entry === undefined || isView(entry) ? w.read : w.call}
        </button>
      </form>
      <div aria-live="polite">{shown !== undefined && <Result shown={shown} />}</div>
      {dialog}
    </div>
  )
}

const argumentField = (input: Input, at: number): Field => ({
  name: `argument-${at}`,
  label: input.name || String(at + 1),
  more: { spellcheck: false },
  ...(input.type === 'bool' ? { choices: asTheyAre(['true', 'false']) } : {}),
  hint: (
    <span class="mono">
      {input.type} {isList(input.type) && w.asJson}
    </span>
  ),
})

const walletsPage = 200
const loadWallets = pageFrom<Wallet>('/v1/wallets', 'wallets', { limit: String(walletsPage) })

const Signer = ({ session }: { readonly session: Session }) =>
  session.scopes.includes('wallets:read') ? <KnownSigner /> : <SignerChoice wallets={[]} />

const KnownSigner = () => {
  const { loaded, rows, ...onward } = usePages({
    name: 'signers',
    load: loadWallets,
    keyOf: ({ wallet_id: id }) => id,
  })
  return (
    <>
      <SignerChoice wallets={rows} />
      <Shown loaded={loaded}>{() => <More {...onward} />}</Shown>
    </>
  )
}

const SignerChoice = ({ wallets }: { readonly wallets: readonly Wallet[] }) => (
  <label class="field">
    {w.signer}
    <select name="signer">
      <option value="">{w.ownWallet}</option>
      {wallets
        .filter(({ status }) => status === 'active')
        .map(({ wallet_id: id, address, label }) => (
          <option key={id} value={address}>
            {label} · {address}
          </option>
        ))}
    </select>
  </label>
)

const Result = ({ shown }: { readonly shown: Outcome | Refusal }) => {
  if (shown instanceof Refusal) {
    return <Refused refusal={shown} isBox />
  }
  return <CodeCard title={w.result} text={JSON.stringify(shown.result, null, 2)} />
}
